/** Paying, in all its states: the offer, the way back from PayPal, the profile's part of it, the receipt. */
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '../../src/domain/day.ts';
import { ROUTES } from '../../src/domain/routes.ts';
import { MESSAGES } from '../../src/domain/messages.ts';
import type { Scene } from './scenes.ts';

const CAPTURE = '**/functions/v1/paypal-capture-order';
const RETURN = `${ROUTES.journal.path}?payment=success&token=5O190127TN364715T&PayerID=ABCDEFGHIJKLM`;
const LOCKED = `${ROUTES.journal.path}?date=${addDays(dayOf(new Date()), -50)}`;

async function openOffer(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^(Upgrade to Closer|Renew for another year)$/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Maybe Later' }).waitFor();
}

/** Comes back from PayPal to a server that answers like this. */
const returning = (answer: (page: Page) => Promise<unknown>, heading: string) => async (page: Page) => {
  await answer(page);
  await page.goto(RETURN);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
};

/** PayPal has the payment and not the money yet. */
const pending = async (page: Page): Promise<void> => {
  await page.route('**/rest/v1/payments*', (route) => route.fulfill({ json: [{ id: 'p', status: 'pending' }] }));
  await page.reload();
};
const waits = (page: Page) => page.getByText(MESSAGES.paymentPending).first().waitFor();

export const BILLING_SCENES: readonly Scene[] = [
  {
    name: 'pending-menu',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await pending(page);
      await page.getByRole('button', { name: 'Open menu' }).click();
      await waits(page);
    },
  },
  {
    name: 'pending-locked-day',
    as: 'free',
    path: LOCKED,
    prepare: async (page) => {
      await pending(page);
      await waits(page);
    },
  },
  {
    name: 'pending-settings',
    as: 'free',
    path: ROUTES.settings.path,
    whole: true,
    prepare: async (page) => {
      await pending(page);
      await waits(page);
    },
  },
  {
    name: 'pending-offer',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await pending(page);
      await page.locator('.ProseMirror[contenteditable=true]').waitFor();
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
      await waits(page);
    },
  },
  { name: 'upgrade-locked-day', as: 'free', path: LOCKED, prepare: openOffer },
  {
    name: 'upgrade-blocked',
    as: 'free',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await openOffer(page);
      await page.getByLabel('Country').selectOption('KP');
    },
  },
  {
    name: 'upgrade-refused',
    as: 'free',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await page.route('**/functions/v1/paypal-create-order', (route) => route.abort());
      await openOffer(page);
      await page.getByLabel('Country').selectOption('DE');
      await page.getByRole('button', { name: 'Upgrade with PayPal' }).click();
      await page.getByRole('dialog').getByRole('alert').waitFor();
    },
  },
  {
    name: 'upgrade-renewal',
    as: 'ending',
    path: ROUTES.profile.path,
    prepare: openOffer,
  },
  {
    name: 'payment-processing',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: returning((page) => page.route(CAPTURE, () => undefined), 'Processing your payment...'),
  },
  {
    name: 'payment-declined',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: returning(
      (page) => page.route(CAPTURE, (route) => route.fulfill({ json: { success: false, approval_url: '/' } })),
      'PayPal could not take this payment.',
    ),
  },
  {
    name: 'payment-unknown',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: returning((page) => page.route(CAPTURE, (route) => route.abort()), 'No word about your payment yet.'),
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
      await page.route(CAPTURE, (route) => route.fulfill({ json: { success: true } }));
      await page.goto(RETURN);
      await page.getByText("You're a Closer now.").waitFor();
    },
  },
  {
    name: 'profile-ending',
    as: 'ending',
    path: ROUTES.profile.path,
    whole: true,
    prepare: (page) => page.getByRole('button', { name: 'Renew for another year' }).waitFor(),
  },
  {
    name: 'profile-ended',
    as: 'ended',
    path: ROUTES.profile.path,
    whole: true,
    prepare: (page) => page.getByText('Nothing was deleted.').waitFor(),
  },
  {
    name: 'receipt',
    as: 'premium',
    path: ROUTES.profile.path,
    whole: true,
    prepare: async (page) => {
      await page.getByRole('link', { name: /^Receipt of/ }).click();
      await page.getByRole('article').waitFor();
    },
  },
  {
    name: 'receipt-on-paper',
    as: 'premium',
    path: ROUTES.profile.path,
    whole: true,
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
    prepare: (page) => page.getByRole('heading', { level: 1 }).waitFor(),
  },
];
