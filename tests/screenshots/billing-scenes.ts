/** Scenes of billing: the upgrade dialog, the return from PayPal, the plan in the profile, the receipt. */
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { MESSAGES } from '#domain/messages.ts';
import { waitForEditor, type Scene } from './scene.ts';

const CAPTURE_ROUTE = '**/functions/v1/paypal-capture-order';
const RETURN_URL = `${ROUTES.journal.path}?payment=success&token=5O190127TN364715T&PayerID=ABCDEFGHIJKLM`;
const LOCKED_DAY_URL = `${ROUTES.journal.path}?date=${addDays(dayOf(new Date()), -50)}`;

async function openUpgradeDialog(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^(Upgrade to Closer|Renew for another year)$/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Maybe Later' }).waitFor();
}

/** Returns from PayPal with the capture request intercepted by `intercept`. */
const returnFromPaypal = (intercept: (page: Page) => Promise<unknown>, heading: string) => async (page: Page) => {
  await intercept(page);
  await page.goto(RETURN_URL);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
};

/** Reloads the page with a payment whose funds have not arrived at PayPal yet. */
const reloadWithPendingPayment = async (page: Page): Promise<void> => {
  await page.route('**/rest/v1/payments*', (route) => route.fulfill({ json: [{ id: 'p', status: 'pending' }] }));
  await page.reload();
};
const waitForPendingMessage = (page: Page) => page.getByText(MESSAGES.paymentPending).first().waitFor();

export const BILLING_SCENES: readonly Scene[] = [
  {
    name: 'pending-menu',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await reloadWithPendingPayment(page);
      await page.getByRole('button', { name: 'Open menu' }).click();
      await waitForPendingMessage(page);
    },
  },
  {
    name: 'pending-locked-day',
    as: 'free',
    path: LOCKED_DAY_URL,
    prepare: async (page) => {
      await reloadWithPendingPayment(page);
      await waitForPendingMessage(page);
    },
  },
  {
    name: 'pending-settings',
    as: 'free',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: async (page) => {
      await reloadWithPendingPayment(page);
      await waitForPendingMessage(page);
    },
  },
  {
    name: 'pending-offer',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await reloadWithPendingPayment(page);
      await waitForEditor(page);
      await page.keyboard.press('Alt+c');
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /previous/i })
        .click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /previous/i })
        .click();
      await page.getByRole('gridcell').getByRole('button').first().click();
      await waitForPendingMessage(page);
    },
  },
  { name: 'upgrade-locked-day', as: 'free', path: LOCKED_DAY_URL, prepare: openUpgradeDialog },
  {
    name: 'upgrade-blocked',
    as: 'free',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await openUpgradeDialog(page);
      await page.getByLabel('Country').selectOption('KP');
    },
  },
  {
    name: 'upgrade-refused',
    as: 'free',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await page.route('**/functions/v1/paypal-create-order', (route) => route.abort());
      await openUpgradeDialog(page);
      await page.getByLabel('Country').selectOption('DE');
      await page.getByRole('button', { name: 'Upgrade with PayPal' }).click();
      await page.getByRole('dialog').getByRole('alert').filter({ hasText: /./ }).waitFor();
    },
  },
  { name: 'upgrade-renewal', as: 'ending', path: ROUTES.profile.path, prepare: openUpgradeDialog },
  {
    name: 'payment-processing',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: returnFromPaypal((page) => page.route(CAPTURE_ROUTE, () => undefined), 'Processing your payment...'),
  },
  {
    name: 'payment-declined',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: returnFromPaypal(
      (page) => page.route(CAPTURE_ROUTE, (route) => route.fulfill({ json: { success: false, approval_url: '/' } })),
      'PayPal declined this payment.',
    ),
  },
  {
    name: 'payment-unknown',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: returnFromPaypal(
      (page) => page.route(CAPTURE_ROUTE, (route) => route.abort()),
      "Couldn't check your payment.",
    ),
  },
  {
    name: 'payment-cancelled',
    as: 'free',
    path: `${ROUTES.journal.path}?payment=cancelled&token=5O190127TN364715T`,
    prepare: (page) => page.getByText('Payment was cancelled.').waitFor(),
  },
  {
    name: 'payment-done',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route(CAPTURE_ROUTE, (route) => route.fulfill({ json: { success: true } }));
      await page.goto(RETURN_URL);
      await page.getByText("You're a Closer now.").waitFor();
    },
  },
  {
    name: 'profile-ending',
    as: 'ending',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: (page) => page.getByRole('button', { name: 'Renew for another year' }).waitFor(),
  },
  {
    name: 'profile-ended',
    as: 'ended',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: (page) => page.getByText('Nothing was deleted.').waitFor(),
  },
  {
    name: 'receipt',
    as: 'premium',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: async (page) => {
      await page.getByRole('link', { name: /^Receipt of/ }).click();
      await page.getByRole('article').waitFor();
    },
  },
  {
    name: 'receipt-on-paper',
    as: 'premium',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: async (page) => {
      await page.getByRole('link', { name: /^Receipt of/ }).click();
      await page.getByRole('article').waitFor();
      await page.emulateMedia({ media: 'print' });
    },
  },
  {
    name: 'receipt-missing',
    as: 'free',
    path: ROUTES.receipt.path,
    prepare: (page) => page.getByRole('heading', { name: 'Receipt not found' }).waitFor(),
  },
];
