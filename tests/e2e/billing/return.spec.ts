/** The way back from PayPal, however it goes. */
import type { Page } from '@playwright/test';
import { addYears, daysBetween } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import {
  atPaypal,
  expectPaid,
  expectPlan,
  expectReload,
  goToPaypal,
  offer,
  openOffer,
  ownRows,
  payNow,
  toast,
} from '../support/billing.ts';
import { daysAgo, editor, headersOf, items, log, sessionOf, storedLog, today } from '../support/journal.ts';
import { inBothThemes } from '../support/themes.ts';
import { expect, expectToast, test } from '../support/test.ts';

const CAPTURE = '**/functions/v1/paypal-capture-order';

/** Signs in nobody: only leads to the approval page. */
async function toApproval(page: Page): Promise<string> {
  await openOffer(page);
  return goToPaypal(page);
}

for (const [what, token] of [
  ['16 characters', '5O190127TN364715'],
  ['18 characters', '5O190127TN364715TX'],
  ['small letters', '5o190127tn364715t'],
  ['nothing', ''],
] as const) {
  test(`an order's name of ${what} is refused where it is`, async ({ page, signUp }) => {
    await signUp(page);
    const asked: string[] = [];
    page.on('request', (request) => void (request.url().includes('paypal-capture-order') && asked.push(request.url())));
    await page.goto(`/journal?payment=success&token=${token}`);
    await expectToast(page, MESSAGES.paymentTokenInvalid);
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeVisible();
    expect(asked).toEqual([]);
  });
}

test('who cancels is told so, once', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
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

test('a declined payment is tried again at PayPal', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.getByRole('button', { name: 'Pay, the bank will decline' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('PayPal declined this payment.');
  expect(await toast(page, MESSAGES.paymentFailed).count(), 'the page says it').toBe(0);
  await expect(page).toHaveURL('/journal');
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Try again at PayPal' }).click();
  await expect(payNow(page)).toBeVisible();
  expect(new URL(page.url()).searchParams.get('token')).toBe(orderId);
  await payNow(page).click();
  await expectPaid(page);
});

/** Wherever a Dabbler is otherwise asked to pay, and without a request before they look. */
async function expectNoSecondPayment(page: Page, expectAccessible: (page: Page) => Promise<void>): Promise<void> {
  const upgrade = page.getByRole('button', { name: 'Upgrade to Closer' });
  const pending = page.getByText(MESSAGES.paymentPending);
  const asked: string[] = [];
  page.on('request', (request) => void (request.url().includes('/rest/v1/payments') && asked.push(request.url())));
  await page.goto('/journal');
  await expect(editor(page)).toBeVisible();
  await page.getByRole('button', { name: 'Open menu' }).focus();
  expect(asked, 'before anybody looks').toEqual([]);
  await page.keyboard.press('Enter');
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu.getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(upgrade).toHaveCount(0);
  await inBothThemes(page, expectAccessible);

  await page.goto(`/journal?date=${daysAgo(40)}`);
  await expect(page.getByText('Nothing was logged on this day.')).toBeVisible();
  await expect(pending).toBeVisible();
  await expect(upgrade).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Open feedback' }).click();
  await expect(page.getByRole('dialog', { name: 'HAI Feedback' }).getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(upgrade).toHaveCount(0);

  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Find' })).toContainText(MESSAGES.paymentPending);
  await expect(upgrade).toHaveCount(0);

  for (const path of ['/reviews', '/settings']) {
    await page.goto(path);
    await expect(pending.first()).toBeVisible();
    await expect(upgrade).toHaveCount(0);
    await inBothThemes(page, expectAccessible);
  }

  // The calendar opens the offer itself.
  await page.goto('/journal');
  await page.keyboard.press('Alt+c');
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await calendar.getByRole('button', { name: /previous/i }).click();
  await calendar.getByRole('button', { name: /previous/i }).click();
  await calendar.getByRole('gridcell').getByRole('button').first().click();
  await expect(offer(page).getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(offer(page).getByRole('button', { name: 'Upgrade with PayPal' })).toHaveCount(0);
  await expect(offer(page).getByRole('listitem')).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await page.goto('/profile');
}

test('an eCheck is pending until PayPal has the money', async ({ page, signUp, request, expectAccessible }) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.getByRole('button', { name: 'Pay with eCheck (pending)' }).click();
  await expectToast(page, MESSAGES.paymentPending);
  expect(await page.getByLabel('Done:').count(), 'not yet').toBe(0);
  await expect(page).toHaveURL('/journal');
  await expectPlan(page, 'Dabbler');
  // Nobody is asked to pay twice.
  await expect(page.getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toHaveCount(0);
  await expect(page.getByRole('cell', { name: 'Under review at PayPal' })).toBeVisible();
  await expectNoSecondPayment(page, expectAccessible);

  await atPaypal(request, orderId, 'complete');
  await expect(async () => {
    await page.reload();
    await expect(page.getByText("You're a Closer.")).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 30_000 });
  await expect(page.getByRole('cell', { name: 'Paid' })).toBeVisible();
});

test('another user’s order opens nothing', async ({ page, signUp }) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.request.post(`/sandbox/__simulator/orders/${orderId}/approve`);
  await signUp(page);
  await page.goto(`/journal?payment=success&token=${orderId}&PayerID=ABCDEFGHIJKLM`);
  await expectToast(page, MESSAGES.paymentFailed);
  await expect(page).toHaveURL('/journal');
  await expectPlan(page, 'Dabbler');
  expect(await ownRows(page, 'payments')).toEqual([]);
});

test('a session that ended on the way: the payment waits for the password', async ({ page, signUp }) => {
  const { email, password } = await signUp(page);
  await toApproval(page);
  await page.evaluate(() => localStorage.clear());
  await payNow(page).click();
  await expect(page).toHaveURL('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expectPaid(page);
});

test('a session that was ended elsewhere meanwhile: the payment goes on after the password', async ({
  page,
  signUp,
}) => {
  const { password } = await signUp(page);
  const session = await sessionOf(page);
  await toApproval(page);
  const ended = await page.request.post('/auth/v1/logout?scope=global', { headers: headersOf(session) });
  expect(ended.status()).toBe(204);
  await payNow(page).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Password').fill(password);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await expectPaid(page);
});

test('two tabs with the same return buy one year', async ({ page, signUp, context }) => {
  await signUp(page);
  const orderId = await toApproval(page);
  await page.request.post(`/sandbox/__simulator/orders/${orderId}/approve`);
  const back = `/journal?payment=success&token=${orderId}&PayerID=ABCDEFGHIJKLM`;
  const other = await context.newPage();
  await Promise.all([page.goto(back), other.goto(back)]);
  // Only a page that was told of the payment does so; its words about it go two seconds later, seen or not.
  for (const tab of [page, other]) await expectReload(tab);
  await other.close();
  await expectPlan(page, 'Closer');
  const changes = await ownRows<{ reason: string }>(page, 'plan_changes');
  expect(changes.map(({ reason }) => reason)).toEqual(['payment']);
  const [profile] = await ownRows<{ access_valid_until: Day }>(page, 'profiles');
  // The server counts from the latest day on Earth, which may be tomorrow here.
  expect(daysBetween(addYears(today(), 1), profile!.access_valid_until)).toBeLessThanOrEqual(1);
});

test.describe('without a network', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('nothing is lost, and trying again is harmless', async ({ page, signUp, expectAccessible }) => {
    await signUp(page);
    await toApproval(page);
    let lose = (): void => {};
    const seen = new Promise<void>((resolve) => (lose = resolve));
    await page.route(CAPTURE, async (route) => {
      // The server does the work; its answer is lost.
      await route.fetch();
      await seen;
      await route.abort();
    });
    await payNow(page).click();
    const heading = page.getByRole('heading', { level: 1 });
    await expect(heading).toHaveText('Processing your payment...');
    await expect(heading).toBeFocused();
    await inBothThemes(page, expectAccessible);
    lose();
    await expect(heading).toHaveText("Couldn't check your payment.");
    await expect(heading).toBeFocused();
    await expect(page).toHaveURL('/journal');
    await inBothThemes(page, expectAccessible);
    await page.unroute(CAPTURE);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expectPaid(page);
    expect(await ownRows(page, 'plan_changes')).toHaveLength(1);
  });

  test('what was written before paying is sent before the money is taken', async ({ page, signUp, request }) => {
    await signUp(page);
    const ENTRIES = '**/rest/v1/entries*';
    await page.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.continue() : route.abort()));
    await page.keyboard.type('written before paying');
    await toApproval(page);
    await page.unroute(ENTRIES);
    const session = await sessionOf(page);
    // What the server has when the money is asked for. A page on its way out may have got it there unseen.
    const atCapture: (string | null)[] = [];
    await page.route(CAPTURE, async (route) => {
      atCapture.push(await storedLog(request, session, today()));
      await route.continue();
    });
    await payNow(page).click();
    await expectReload(page);
    expect(atCapture).toEqual([log('written before paying')]);
    await expect(items(page)).toHaveText(['written before paying']);
  });

  test('the page does not load again while somebody’s words are unsaved', async ({ page, signUp, request }) => {
    await signUp(page);
    await toApproval(page);
    await payNow(page).click();
    await expect(editor(page)).toBeVisible();
    const ENTRIES = '**/rest/v1/entries*';
    await page.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.continue() : route.abort()));
    await editor(page).click();
    await page.keyboard.type('first words of a Closer');
    await page.evaluate(() => (document.documentElement.dataset['before'] = ''));
    // A toast stays for five seconds, more than the two after which the page would have gone.
    await expect(toast(page, MESSAGES.paymentDone)).toHaveCount(0);
    await expect(page.locator('html[data-before]')).toBeAttached();
    await expect(items(page)).toHaveText(['first words of a Closer']);
    await page.unroute(ENTRIES);
    await page.getByRole('button', { name: 'Try now' }).click();
    await expect(page.locator('html:not([data-before])')).toBeAttached();
    await expect(items(page)).toHaveText(['first words of a Closer']);
    expect(await storedLog(request, await sessionOf(page), today())).toBe(log('first words of a Closer'));
  });
});
