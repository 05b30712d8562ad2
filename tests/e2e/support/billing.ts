/** Helpers for tests of payments: to PayPal's approval page and back, and PayPal's own records. */
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import { MESSAGES } from '#domain/messages.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { headersOf, sessionOf, type Session } from './journal.ts';
import { expect, expectToast } from './test.ts';

export const offer = (page: Page): Locator => page.getByRole('dialog', { name: 'Premium Feature' });
export const toast = (page: Page, text: string): Locator => page.getByText(text, { exact: true });
export const payNow = (page: Page): Locator => page.getByRole('button', { name: 'Pay now' });

/** Goes from the open offer to PayPal's approval page and returns the order's id. */
export async function goToPaypal(page: Page, country = 'DE'): Promise<string> {
  await page.getByLabel('Country').selectOption(country);
  await page.getByRole('button', { name: /^(Upgrade|Renew) with PayPal$/ }).click();
  await expect(payNow(page)).toBeVisible();
  return new URL(page.url()).searchParams.get('token')!;
}

/** Creates an order as the offer does, and returns the address of its approval page. */
export async function createOrder(request: APIRequestContext, { session }: { session: Session }): Promise<string> {
  const { amount, currency } = PREMIUM_PRICE;
  const answer = await request.post('/functions/v1/paypal-create-order', {
    headers: headersOf(session),
    data: { amount, currency, user_id: session.user.id },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return ((await answer.json()) as { approval_url: string }).approval_url;
}

/** Creates an order and decides it as the payer would on its approval page, without that page. */
export async function decideOrder(
  request: APIRequestContext,
  account: { session: Session },
  command: 'approve' | 'decline' | 'echeck' = 'approve',
): Promise<{ orderId: string; returnPath: string }> {
  const orderId = new URL(await createOrder(request, account)).searchParams.get('token')!;
  const answer = await request.post(`/sandbox/__simulator/orders/${orderId}/${command}`);
  expect(answer.ok(), await answer.text()).toBe(true);
  return { orderId, returnPath: `/journal?payment=success&token=${orderId}&PayerID=ABCDEFGHIJKLM` };
}

/** Pays for a year without a page, and returns the order's id. */
export async function payForYear(request: APIRequestContext, account: { session: Session }): Promise<string> {
  const { orderId } = await decideOrder(request, account);
  const answer = await request.post('/functions/v1/paypal-capture-order', {
    headers: headersOf(account.session),
    data: { order_id: orderId, user_id: account.session.user.id },
  });
  expect(await answer.json()).toEqual({ success: true });
  return orderId;
}

/** Opens the offer from the journal's menu. */
export async function openOffer(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(offer(page)).toBeVisible();
}

/** Waits until the page has shown that the payment is complete, and reads the paid plan, Closer. */
export async function expectBooked(page: Page): Promise<void> {
  await expectToast(page, MESSAGES.paymentDone);
  await expect.poll(() => readPlan(page)).toBe('premium');
}

/** Waits for the completed payment, and for the page to reload itself after it. */
export async function expectPaid(page: Page): Promise<void> {
  await expectBooked(page);
  await expectReload(page);
}

/** Waits until the page has reloaded itself. */
async function expectReload(page: Page): Promise<void> {
  await expect(async () => {
    const types = await page.evaluate(() =>
      performance.getEntriesByType('navigation').map((entry) => (entry as PerformanceNavigationTiming).type),
    );
    expect(types).toEqual(['reload']);
  }).toPass({ timeout: 20_000 });
}

type ListedPayment = { orderId: string; status: string; customId: string | null };

/** An order in PayPal's records. */
export async function readPaypalOrder(request: APIRequestContext, orderId: string): Promise<ListedPayment> {
  const answer = await request.get('/sandbox/payments');
  return ((await answer.json()) as ListedPayment[]).find((payment) => payment.orderId === orderId)!;
}

/** Changes the state of a capture at PayPal after the payment. */
export async function changeCaptureAtPaypal(
  request: APIRequestContext,
  orderId: string,
  command: 'complete' | 'deny' | 'refund' | 'reverse',
): Promise<void> {
  const { customId } = await readPaypalOrder(request, orderId);
  const state = await request.get('/sandbox/__simulator/state');
  const { captures } = (await state.json()) as { captures: { id: string; custom_id?: string }[] };
  const { id } = captures.find((capture) => capture.custom_id === customId)!;
  const answer = await request.post(`/sandbox/__simulator/captures/${id}/${command}`);
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** The stored plan of the page's user. */
export async function readPlan(page: Page): Promise<string> {
  const [profile] = await readOwnRows<{ subscription_plan: string }>(page, 'profiles');
  return profile!.subscription_plan;
}

/** Waits until the server has this status for the user's only payment. */
export const expectPaymentStatus = (page: Page, status: string): Promise<void> =>
  expect
    .poll(async () => (await readOwnRows<{ status: string }>(page, 'payments')).map((payment) => payment.status), {
      timeout: 30_000,
    })
    .toEqual([status]);

/** The user's own rows, in no particular order, as the data API returns them to the page. */
export async function readOwnRows<Row>(page: Page, table: 'payments' | 'profiles' | 'plan_changes'): Promise<Row[]> {
  const answer = await page.request.get(`/rest/v1/${table}?select=*`, { headers: headersOf(await sessionOf(page)) });
  return (await answer.json()) as Row[];
}
