/** The return from PayPal: cancelled, declined, pending, paid, and interrupted. */
import type { Page } from '@playwright/test';
import { addYears, daysBetween } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import {
  changeCaptureAtPaypal,
  expectPaid,
  expectPlan,
  expectReload,
  goToPaypal,
  offer,
  openOffer,
  readOwnRows,
  payNow,
  toast,
} from '../support/billing.ts';
import { daysAgo, editor, headersOf, items, log, sessionOf, readStoredLog, today } from '../support/journal.ts';
import { inBothThemes } from '../support/themes.ts';
import { expect, expectToast, test } from '../support/test.ts';

const CAPTURE = '**/functions/v1/paypal-capture-order';
const ENTRIES = '**/rest/v1/entries*';

/** Opens the approval page of a new order and returns the order's id. */
async function toApproval(page: Page): Promise<string> {
  await openOffer(page);
  return goToPaypal(page);
}

const refuseSaves = (page: Page): Promise<unknown> =>
  page.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.continue() : route.abort()));

test('an invalid, unknown or cancelled order is reported once and leaves the plan as it was', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await test.step('an order id in an invalid format is not sent', async () => {
    const captures: string[] = [];
    page.on('request', (request) => void (request.url().endsWith('/paypal-capture-order') && captures.push('sent')));
    await signUp(page, { path: '/journal?payment=success&token=5o190127tn364715t' });
    await expectToast(page, MESSAGES.paymentTokenInvalid);
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeVisible();
    expect(captures).toEqual([]);
  });

  await test.step('an unknown order is refused', async () => {
    await page.goto('/journal?payment=success&token=5O190127TN364715T&PayerID=ABCDEFGHIJKLM');
    await expectToast(page, MESSAGES.paymentFailed);
    await expect(page).toHaveURL('/journal');
  });

  await test.step('the payer cancels', async () => {
    await toApproval(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expectToast(page, MESSAGES.paymentCancelled);
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.reload();
    await expect(editor(page)).toBeVisible();
    await expect(toast(page, MESSAGES.paymentCancelled)).toHaveCount(0);
    await expectPlan(page, 'Dabbler');
  });
});

test('a declined payment is retried at PayPal with the same order', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.getByRole('button', { name: 'Pay, the bank will decline' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('PayPal declined this payment.');
  expect(await toast(page, MESSAGES.paymentFailed).count(), 'the page itself says it').toBe(0);
  await expect(page).toHaveURL('/journal');
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Try again at PayPal' }).click();
  await expect(payNow(page)).toBeVisible();
  expect(new URL(page.url()).searchParams.get('token')).toBe(orderId);
  await payNow(page).click();
  await expectPaid(page);
});

/** Each place that offers a free user the paid plan shows the pending payment instead. A closed menu loads no payment. */
async function expectNoSecondPayment(page: Page, expectAccessible: (page: Page) => Promise<void>): Promise<void> {
  const upgrade = page.getByRole('button', { name: 'Upgrade to Closer' });
  const pending = page.getByText(MESSAGES.paymentPending);
  const requests: string[] = [];
  page.on('request', (request) => void (request.url().includes('/rest/v1/payments') && requests.push(request.url())));
  await page.goto('/journal');
  await expect(editor(page)).toBeVisible();
  await page.getByRole('button', { name: 'Open menu' }).focus();
  expect(requests, 'before the menu is open').toEqual([]);
  await page.keyboard.press('Enter');
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu.getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(upgrade).toHaveCount(0);
  await inBothThemes(page, expectAccessible);

  await page.goto(`/journal?date=${daysAgo(40)}`);
  await expect(page.getByText('Nothing was logged on this day.')).toBeVisible();
  await expect(pending).toBeVisible();
  await expect(upgrade).toHaveCount(0);
  await page.getByRole('button', { name: 'Open feedback' }).click();
  await expect(page.getByRole('dialog', { name: 'HAI Feedback' }).getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(upgrade).toHaveCount(0);

  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Find' })).toContainText(MESSAGES.paymentPending);
  await expect(upgrade).toHaveCount(0);

  // A click on a locked day of the calendar opens the offer without a further button.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+c');
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await calendar.getByRole('button', { name: /previous/i }).click();
  await calendar.getByRole('gridcell').getByRole('button').first().click();
  await expect(offer(page).getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(offer(page).getByRole('button', { name: 'Upgrade with PayPal' })).toHaveCount(0);
  await expect(offer(page).getByRole('listitem')).toHaveCount(0);
  await inBothThemes(page, expectAccessible);

  for (const path of ['/reviews', '/settings']) {
    await page.goto(path);
    await expect(pending.first()).toBeVisible();
    await expect(upgrade).toHaveCount(0);
  }
}

test('an eCheck is pending until PayPal has the money, and no screen offers a second payment meanwhile', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.getByRole('button', { name: 'Pay with eCheck (pending)' }).click();
  await expectToast(page, MESSAGES.paymentPending);
  expect(await page.getByLabel('Done:').count(), 'not yet').toBe(0);
  await expect(page).toHaveURL('/journal');
  await expectNoSecondPayment(page, expectAccessible);

  await expectPlan(page, 'Dabbler');
  await expect(page.getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toHaveCount(0);
  await expect(page.getByRole('cell', { name: 'Under review at PayPal' })).toBeVisible();

  await changeCaptureAtPaypal(request, orderId, 'complete');
  await expect(async () => {
    await page.reload();
    await expect(page.getByText("You're a Closer.")).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 30_000 });
  await expect(page.getByRole('cell', { name: 'Paid' })).toBeVisible();
});

test('a payment is captured after the password when another device ended the session', async ({ page, signUp }) => {
  const { password } = await signUp(page);
  const session = await sessionOf(page);
  await toApproval(page);
  const ended = await page.request.post('/auth/v1/logout?scope=global', { headers: headersOf(session) });
  expect(ended.status()).toBe(204);
  await payNow(page).click();
  const overlay = page.getByRole('dialog', { name: 'Sign in again' });
  await overlay.getByLabel('Password').fill(password);
  await overlay.getByRole('button', { name: 'Sign in' }).click();
  await expectPaid(page);
});

test('two tabs with the same return buy one year', async ({ page, signUp, context }) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.request.post(`/sandbox/__simulator/orders/${orderId}/approve`);
  const back = `/journal?payment=success&token=${orderId}&PayerID=ABCDEFGHIJKLM`;
  const other = await context.newPage();
  await Promise.all([page.goto(back), other.goto(back)]);
  // Only a page that knows of the payment reloads. The reload follows its toast after two seconds, so this loop may
  // miss the toast.
  for (const tab of [page, other]) await expectReload(tab);
  await other.close();
  await expectPlan(page, 'Closer');
  const changes = await readOwnRows<{ reason: string }>(page, 'plan_changes');
  expect(changes.map(({ reason }) => reason)).toEqual(['payment']);
  const [profile] = await readOwnRows<{ access_valid_until: Day }>(page, 'profiles');
  // The server counts from the latest day on Earth, which may be tomorrow here.
  expect(daysBetween(addYears(today(), 1), profile!.access_valid_until)).toBeLessThanOrEqual(1);
});

test.describe('without a network', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('a payment survives a lost session and a lost answer, and a retry captures it once', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    const { email, password } = await signUp(page);
    await toApproval(page);
    await page.evaluate(() => localStorage.clear());
    const answered = Promise.withResolvers<void>();
    await page.route(CAPTURE, async (route) => {
      // The server captures the payment; its answer is lost.
      await route.fetch();
      await answered.promise;
      await route.abort();
    });
    await payNow(page).click();
    await expect(page).toHaveURL('/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();

    const heading = page.getByRole('heading', { level: 1 });
    await expect(heading).toHaveText('Processing your payment...');
    await expect(heading).toBeFocused();
    await inBothThemes(page, expectAccessible);
    answered.resolve();
    await expect(heading).toHaveText("Couldn't check your payment.");
    await expect(heading).toBeFocused();
    await expect(page).toHaveURL('/journal');
    await inBothThemes(page, expectAccessible);
    await page.unroute(CAPTURE);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expectPaid(page);
    expect(await readOwnRows(page, 'plan_changes')).toHaveLength(1);
  });

  test('unsaved text is sent before the money is taken, and the page reloads only after later text is saved', async ({
    page,
    signUp,
    request,
  }) => {
    await signUp(page);
    await refuseSaves(page);
    await page.keyboard.type('written before paying');
    await toApproval(page);
    await page.unroute(ENTRIES);
    const session = await sessionOf(page);
    // The log on the server when the capture is requested. The page may already have saved it when it left for PayPal.
    const atCapture: (string | null)[] = [];
    await page.route(CAPTURE, async (route) => {
      atCapture.push(await readStoredLog(request, session, today()));
      await refuseSaves(page);
      await route.continue();
    });
    await payNow(page).click();
    await expect(editor(page)).toBeVisible();
    expect(atCapture).toEqual([log('written before paying')]);

    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(', and after it');
    await page.evaluate(() => (document.documentElement.dataset['before'] = ''));
    // The toast disappears after five seconds; without unsaved words the page would have reloaded after two.
    await expect(toast(page, MESSAGES.paymentDone)).toHaveCount(0);
    await expect(page.locator('html[data-before]')).toBeAttached();
    await expect(items(page)).toHaveText(['written before paying, and after it']);
    await page.unroute(ENTRIES);
    const reloaded = expect(page.locator('html:not([data-before])')).toBeAttached();
    // The automatic retry may save first, which removes the button.
    await Promise.race([page.getByRole('button', { name: 'Try now' }).click({ timeout: 10_000 }), reloaded]);
    await reloaded;
    await expect(items(page)).toHaveText(['written before paying, and after it']);
    expect(await readStoredLog(request, session, today())).toBe(log('written before paying, and after it'));
  });
});
