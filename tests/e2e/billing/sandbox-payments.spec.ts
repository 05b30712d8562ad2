/** The sandbox's PayPal as a visitor sees it: the approval page and the list of payments. */
import type { Page } from '@playwright/test';
import { createOrder, readPaypalOrder } from '../support/billing.ts';
import { expect, test, expectNoHorizontalScroll } from '../support/test.ts';

const tokenIn = (address: string): string => new URL(address).searchParams.get('token')!;

/** Presses a button of the approval page, and returns the address that PayPal redirects to without opening it. */
async function decide(page: Page, button: string): Promise<URL> {
  const approval = '**/checkoutnow*';
  let location = '';
  // A route cannot stop a redirect that the browser follows, so the browser gets a page instead of the redirect.
  await page.route(approval, async (route) => {
    location = (await route.fetch({ maxRedirects: 0 })).headers()['location'] ?? '';
    await route.fulfill({ contentType: 'text/html', body: '<title>Redirected</title>' });
  });
  await page.getByRole('button', { name: button }).click();
  await expect(page).toHaveTitle('Redirected');
  await page.unroute(approval);
  return new URL(location, page.url());
}

test('an order is cancelled, then paid with an eCheck on the approval page, and completed in the list of payments', async ({
  page,
  request,
  accounts,
  baseURL,
  expectAccessible,
}) => {
  const expectAccessibleInBothSchemes = async (): Promise<void> => {
    await page.emulateMedia({ colorScheme: 'light' });
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'contrast');
  };
  const address = await createOrder(request, await accounts.create());
  const token = tokenIn(address);
  const status = async () => (await readPaypalOrder(request, token)).status;
  expect(new URL(address).origin).toBe(baseURL);
  await page.goto(address);
  await expect(page.getByRole('heading', { level: 1, name: 'Pay Hustle Forge' })).toBeVisible();
  await expect(page.getByText('PayPal sandbox: no money moves')).toBeVisible();
  await expect(page.getByText('$24.00 USD')).toBeVisible();
  await expectAccessibleInBothSchemes();
  await expectNoHorizontalScroll(page);

  const cancelled = await decide(page, 'Cancel');
  expect(cancelled.pathname).toBe('/journal');
  expect(tokenIn(cancelled.href)).toBe(token);
  expect(cancelled.searchParams.get('payment')).toBe('cancelled');
  expect(cancelled.href).not.toContain('PayerID');
  await expect.poll(status).toBe('PAYER_ACTION_REQUIRED');

  await page.goto(address);
  const approved = await decide(page, 'Pay with eCheck (pending)');
  expect(approved.href).toMatch(/\/journal\?payment=success&token=[A-Z0-9]{17}.*PayerID=[A-Z0-9]{13}/);
  expect(tokenIn(approved.href)).toBe(token);
  // The payer did not return to the journal: the webhook alone makes the server capture the payment.
  await expect.poll(status).toBe('PENDING');

  await page.goto('/sandbox/');
  await page.getByRole('link', { name: 'Payments' }).click();
  await expect(page.getByRole('button', { name: `The money arrives for order ${token}` })).toBeVisible();
  await expectAccessibleInBothSchemes();
  await page.getByRole('button', { name: `The money arrives for order ${token}` }).click();
  await expect(page.getByRole('button', { name: `Refund for order ${token}` })).toBeVisible();
  await expect.poll(status).toBe('COMPLETED');
  await expectNoHorizontalScroll(page);
});

test('the approval page shows an error for an unknown order', async ({ page, expectAccessible }) => {
  const answer = await page.request.get('/sandbox/paypal/checkoutnow?token=5O190127TN364715T');
  expect(answer.status()).toBe(404);
  await page.route('**/checkoutnow*', async (route) => route.fulfill({ response: await route.fetch(), status: 200 }));
  await page.goto('/sandbox/paypal/checkoutnow?token=5O190127TN364715T');
  await expect(page.getByRole('heading', { name: 'Nothing to pay here' })).toBeVisible();
  await expectAccessible(page);
});
