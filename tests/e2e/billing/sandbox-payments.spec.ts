/** The sandbox's PayPal, as whoever tries the product meets it: the approval page and the list of payments. */
import type { Page } from '@playwright/test';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { headersOf, sessionOf } from '../support/journal.ts';
import { expect, test } from '../support/test.ts';
import { expectNoHorizontalScroll } from '../support/themes.ts';

/** Asks the product for an order as its own upgrade dialog does; answers the address that the browser is sent to. */
async function askForOrder(page: Page): Promise<string> {
  const session = await sessionOf(page);
  const answer = await page.request.post('/functions/v1/paypal-create-order', {
    headers: headersOf(session),
    data: { amount: PREMIUM_PRICE.amount, currency: PREMIUM_PRICE.currency, user_id: session.user.id },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return ((await answer.json()) as { approval_url: string }).approval_url;
}

const tokenIn = (address: string): string => new URL(address).searchParams.get('token')!;

/** Answers where PayPal sends the payer, who stays on its side: the journal's own story begins where they come back. */
async function decide(page: Page, button: string): Promise<URL> {
  const approval = '**/checkoutnow*';
  let back = '';
  // A redirect cannot be stopped on its way, so the answer that holds it never reaches the browser.
  await page.route(approval, async (route) => {
    back = (await route.fetch({ maxRedirects: 0 })).headers()['location'] ?? '';
    await route.fulfill({ contentType: 'text/html', body: '<title>Back</title>' });
  });
  await page.getByRole('button', { name: button }).click();
  await expect(page).toHaveTitle('Back');
  await page.unroute(approval);
  return new URL(back, page.url());
}

type Listed = { orderId: string; status: string };

const statusOf = async (page: Page, token: string): Promise<string | undefined> => {
  const answer = await page.request.get('/sandbox/payments', { headers: { accept: 'application/json' } });
  return ((await answer.json()) as Listed[]).find(({ orderId }) => orderId === token)?.status;
};

test('says what is paid and that no money moves, and leads back approved', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page);
  const address = await askForOrder(page);
  expect(new URL(address).origin).toBe(new URL(page.url()).origin);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(address);
    await expect(page.getByRole('heading', { level: 1, name: 'Pay Hustle Forge' })).toBeVisible();
    await expect(page.getByText('PayPal sandbox: no money moves')).toBeVisible();
    await expect(page.getByText('$24.00 USD')).toBeVisible();
    await expectAccessible(page);
  }
  await expectNoHorizontalScroll(page);
  const back = await decide(page, 'Pay now');
  expect(back.href).toMatch(/\/journal\?.*token=[A-Z0-9]{17}.*PayerID=[A-Z0-9]{13}/);
  expect(tokenIn(back.href)).toBe(tokenIn(address));
});

test('cancelling leads back, and the order can still be paid', async ({ page, signUp }) => {
  await signUp(page);
  const address = await askForOrder(page);
  await page.goto(address);
  const back = await decide(page, 'Cancel');
  expect(back.pathname).toBe('/journal');
  expect(tokenIn(back.href)).toBe(tokenIn(address));
  expect(back.href).not.toContain('PayerID');
  expect(await statusOf(page, tokenIn(address))).toBe('PAYER_ACTION_REQUIRED');
});

test('a pending payment arrives when somebody says so in the list', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  const address = await askForOrder(page);
  const token = tokenIn(address);
  await page.goto(address);
  expect((await decide(page, 'Pay with eCheck (pending)')).href).toContain('PayerID=');
  // Nobody came back to the journal: the webhook alone makes it take the money.
  await expect.poll(() => statusOf(page, token)).toBe('PENDING');

  await page.goto('/sandbox');
  await page.getByRole('link', { name: 'Payments' }).click();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await page.getByRole('button', { name: `The money arrives for order ${token}` }).click();
  await expect(page.getByRole('button', { name: `Refund for order ${token}` })).toBeVisible();
  expect(await statusOf(page, token)).toBe('COMPLETED');
  await expectNoHorizontalScroll(page);
});

test('an order that is none is said to be none', async ({ page, expectAccessible }) => {
  const answer = await page.request.get('/sandbox/paypal/checkoutnow?token=5O190127TN364715T');
  expect(answer.status()).toBe(404);
  await page.route('**/checkoutnow*', async (route) => route.fulfill({ response: await route.fetch(), status: 200 }));
  await page.goto('/sandbox/paypal/checkoutnow?token=5O190127TN364715T');
  await expect(page.getByRole('heading', { name: 'Nothing to pay here' })).toBeVisible();
  await expectAccessible(page);
});
