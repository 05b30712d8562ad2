/** Helpers for tests of payments: to PayPal's approval page and back, and PayPal's own records. */
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import { MESSAGES } from '#domain/messages.ts';
import { headersOf, sessionOf } from './journal.ts';
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

/** Opens the offer from the journal's menu. */
export async function openOffer(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(offer(page)).toBeVisible();
}

/** Waits for the toast and the reload, and checks that the page shows the paid plan, Closer. */
export async function expectPaid(page: Page): Promise<void> {
  await expectToast(page, MESSAGES.paymentDone);
  await expectReload(page);
  await expectPlan(page, 'Closer');
}

/** Waits until the page has reloaded itself. */
export async function expectReload(page: Page): Promise<void> {
  await expect(async () => {
    const types = await page.evaluate(() =>
      performance.getEntriesByType('navigation').map((entry) => (entry as PerformanceNavigationTiming).type),
    );
    expect(types).toEqual(['reload']);
  }).toPass({ timeout: 20_000 });
}

export async function expectPlan(page: Page, plan: 'Closer' | 'Dabbler'): Promise<void> {
  await page.goto('/profile');
  await expect(page.getByRole('definition').getByText(plan, { exact: true })).toBeVisible();
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

/** The user's own rows, in no particular order, as the data API returns them to the page. */
export async function readOwnRows<Row>(page: Page, table: 'payments' | 'profiles' | 'plan_changes'): Promise<Row[]> {
  const answer = await page.request.get(`/rest/v1/${table}?select=*`, { headers: headersOf(await sessionOf(page)) });
  return (await answer.json()) as Row[];
}
