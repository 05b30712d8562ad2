/** The return from PayPal: cancelled, declined, pending, paid, and interrupted. */
import type { Page } from '@playwright/test';
import { MESSAGES } from '#domain/messages.ts';
import {
  changeCaptureAtPaypal,
  createOrder,
  decideOrder,
  expectBooked,
  expectPaymentStatus,
  offer,
  payNow,
  readOwnRows,
  readPlan,
  toast,
} from '../support/billing.ts';
import { daysAgo, editor, headersOf, items, log, sessionOf, readStoredLog, today } from '../support/journal.ts';
import { inBothThemes, expect, expectToast, test } from '../support/test.ts';
import { signInOverlay } from '../support/sign-in.ts';

const CAPTURE = '**/functions/v1/paypal-capture-order';
const ENTRIES = '**/rest/v1/entries*';

const refuseSaves = (page: Page): Promise<unknown> =>
  page.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.continue() : route.abort()));

test('an invalid, unknown or cancelled order is reported once and leaves the plan as it was', async ({
  page,
  signUp,
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
    await page.goto('/journal?payment=cancelled&token=5O190127TN364715T');
    await expectToast(page, MESSAGES.paymentCancelled);
    // Without its parameters in the address, a reload reports the order no second time.
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeVisible();
    await expect.poll(() => readPlan(page)).toBe('free');
  });
});

test('a declined payment is retried at PayPal with the same order', async ({ page, accounts, openAs, request }) => {
  const account = await accounts.create();
  const { orderId, returnPath } = await decideOrder(request, account, 'decline');
  await openAs(page, account, returnPath);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('PayPal declined this payment.');
  expect(await toast(page, MESSAGES.paymentFailed).count(), 'the page itself says it').toBe(0);
  await expect(page).toHaveURL('/journal');
  await page.getByRole('button', { name: 'Try again at PayPal' }).click();
  await expect(payNow(page)).toBeVisible();
  expect(new URL(page.url()).searchParams.get('token')).toBe(orderId);
  await payNow(page).click();
  await expectBooked(page);
});

/** Each place that offers a free user the paid plan shows the pending payment instead. */
async function expectNoSecondPayment(page: Page, expectAccessible: (page: Page) => Promise<void>): Promise<void> {
  const upgrade = page.getByRole('button', { name: 'Upgrade to Closer' });
  const pending = page.getByText(MESSAGES.paymentPending);
  await page.getByRole('button', { name: 'Open menu' }).click();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  // The toast has the same text, and is in the menu too while it lasts.
  const outsideToasts = page.locator(':not([popover] *)');
  await expect(menu.getByText(MESSAGES.paymentPending).and(outsideToasts)).toBeVisible();
  await expect(upgrade).toHaveCount(0);

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

  for (const path of ['/reviews', '/settings', '/profile']) {
    await page.goto(path);
    await expect(pending.first()).toBeVisible();
    await expect(upgrade).toHaveCount(0);
  }
  await expect(page.getByText("You're a Dabbler.")).not.toContainText('Upgrade');
}

test('an eCheck is pending until PayPal has the money, and no screen offers a second payment meanwhile', async ({
  page,
  accounts,
  openAs,
  request,
  expectAccessible,
}) => {
  const requests: string[] = [];
  page.on('request', (sent) => void (sent.url().includes('/rest/v1/payments') && requests.push(sent.url())));
  const account = await accounts.create();
  const { orderId, returnPath } = await decideOrder(request, account, 'echeck');
  await openAs(page, account, returnPath);
  await expectToast(page, MESSAGES.paymentPending);
  expect(await page.getByLabel('Done:').count(), 'not yet').toBe(0);
  await expect(page).toHaveURL('/journal');
  await expect(editor(page)).toBeVisible();
  expect(requests, 'before the menu is open').toEqual([]);
  await expectNoSecondPayment(page, expectAccessible);

  await page.goto('/profile');
  await expect(page.getByRole('definition').getByText('Dabbler', { exact: true })).toBeVisible();
  await expect(page.getByText(MESSAGES.paymentPending)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toHaveCount(0);
  await expect(page.getByRole('cell', { name: 'Under review at PayPal' })).toBeVisible();

  await changeCaptureAtPaypal(request, orderId, 'complete');
  await expectPaymentStatus(page, 'completed');
  await page.reload();
  await expect(page.getByText("You're a Closer.")).toBeVisible();
  await expect(page.getByRole('cell', { name: 'Paid' })).toBeVisible();
});

test('a payment is captured after the password when another device ended the session', async ({
  page,
  accounts,
  openAs,
  request,
}) => {
  const account = await accounts.create();
  const { returnPath } = await decideOrder(request, account);
  const ended = await request.post('/auth/v1/logout?scope=global', { headers: headersOf(account.session) });
  expect(ended.status()).toBe(204);
  await openAs(page, account, returnPath);
  const overlay = signInOverlay(page);
  await overlay.getByLabel('Password').fill(account.person.password);
  await overlay.getByRole('button', { name: 'Sign in' }).click();
  await expectBooked(page);
});

test.describe('without a network', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('a payment survives a lost session and a lost answer, and a retry captures it once', async ({
    page,
    accounts,
    request,
    expectAccessible,
  }) => {
    const account = await accounts.create();
    const { email, password } = account.person;
    const { returnPath } = await decideOrder(request, account);
    const answered = Promise.withResolvers<void>();
    await page.route(CAPTURE, async (route) => {
      // The server captures the payment; its answer is lost.
      await route.fetch();
      await answered.promise;
      await route.abort();
    });
    await page.goto(returnPath);
    await expect(page).toHaveURL('/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();

    const heading = page.getByRole('heading', { level: 1 });
    await expect(heading).toHaveText('Processing your payment...');
    await expect(heading).toBeFocused();
    answered.resolve();
    await expect(heading).toHaveText("Couldn't check your payment.");
    await expect(heading).toBeFocused();
    await expect(page).toHaveURL('/journal');
    await inBothThemes(page, expectAccessible);
    await page.unroute(CAPTURE);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expectBooked(page);
    expect(await readOwnRows(page, 'plan_changes')).toHaveLength(1);
  });

  test('unsaved text is sent before the money is taken, and the page reloads only after later text is saved', async ({
    page,
    signUp,
    request,
  }) => {
    await page.clock.install();
    await signUp(page);
    await refuseSaves(page);
    await page.keyboard.type('written before paying');
    const session = await sessionOf(page);
    await page.goto(await createOrder(request, { session }));
    await page.unroute(ENTRIES);
    // The log on the server when the capture is requested. The page may already have saved it when it left for PayPal.
    const atCapture: (string | null)[] = [];
    await page.route(CAPTURE, async (route) => {
      atCapture.push(await readStoredLog(request, session, today()));
      await refuseSaves(page);
      // On a busy machine the page would reload, two seconds after the payment, before the test has typed.
      await page.clock.pauseAt(Date.now() + 10_000);
      await route.continue();
    });
    await payNow(page).click();
    await expect.poll(() => atCapture).toEqual([log('written before paying')]);
    await expect(async () => {
      await page.clock.runFor(50);
      await expect(editor(page)).toBeVisible({ timeout: 1_000 });
    }).toPass();

    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(', and after it');
    await page.evaluate(() => (document.documentElement.dataset['before'] = ''));
    await page.clock.resume();
    // The toast disappears after five seconds; without unsaved words the page would have reloaded after two.
    await expectToast(page, MESSAGES.paymentDone);
    await expect(toast(page, MESSAGES.paymentDone)).toHaveCount(0);
    await expect(page.locator('html[data-before]')).toBeAttached();
    await expect(items(page)).toHaveText(['written before paying, and after it']);
    await page.unroute(ENTRIES);
    const reloaded = expect(page.locator('html:not([data-before])')).toBeAttached();
    // The automatic retry may save first, which removes the button.
    await Promise.race([page.getByRole('button', { name: 'Try now' }).click(), reloaded]);
    await reloaded;
    await expect(items(page)).toHaveText(['written before paying, and after it']);
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log('written before paying, and after it'));
  });
});
