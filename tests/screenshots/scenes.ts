/** All scenes. A commit that adds a screen or a state adds its scene here. */
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { ACCOUNT_SCENES, PROFILE_SCENES } from './account-scenes.ts';
import { BILLING_SCENES } from './billing-scenes.ts';
import { COACH_SCENES } from './coach-scenes.ts';
import { endJournalSession, signInAsNewAccount, waitForEditor, type Scene } from './scene.ts';
import { OFFLINE_SCENES } from './offline-scenes.ts';
import { TWO_DEVICES_SCENES } from './two-devices-scenes.ts';
import { VERSIONS_SCENES } from './versions-scenes.ts';
import { log, sessionOf, storeLog } from '../e2e/support/journal.ts';
import { openSections } from '../e2e/support/settings.ts';
import { waitForMailedLink } from '../e2e/support/sign-in.ts';
import { signUp } from './accounts.ts';
import type { Product } from '../support/product.ts';

const clickButton = (name: string | RegExp) => async (page: Page) => page.getByRole('button', { name }).first().click();
const openMenu = async (page: Page) => {
  await clickButton('Open menu')(page);
  await page.getByRole('dialog').waitFor();
};
const openFeedback = async (page: Page) => {
  await waitForEditor(page);
  await clickButton('Open feedback')(page);
  await page.getByRole('dialog').waitFor();
};

const findWords = (words: string, outcome?: RegExp) => async (page: Page) => {
  await waitForEditor(page);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox').fill(words);
  if (outcome) await page.getByRole('dialog').getByRole('status').filter({ hasText: outcome }).waitFor();
};

async function signInWithWrongPassword(page: Page): Promise<void> {
  await page.getByLabel('Email address').fill('pat@example.com');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'incorrect' }).waitFor();
}

/** An export that overlaps with existing logs and contains an invalid date. */
function createImportFile() {
  const today = dayOf(new Date());
  const dates = [...[2, 3, 40, 41, 42].map((back) => addDays(today, -back)), '2026-02-30'];
  const entries = dates.map((date) => ({ date, content: '<p>Written on the old laptop</p>' }));
  const text = JSON.stringify({ format: 'hustle-forge/1', entries });
  return { name: 'hustle-forge-2026-11-20.json', mimeType: 'application/json', buffer: Buffer.from(text) };
}

const importOf = (...entries: { date: string; body: string }[]) => ({
  name: 'journal.json',
  mimeType: 'application/json',
  buffer: Buffer.from(
    JSON.stringify({ tags: {}, entries: entries.map((entry) => ({ title: '', time: '08:00', ...entry })) }),
  ),
});

/** Opens the settings of a new account, which has a log of two days ago, and chooses another journal's file. */
async function chooseImport(page: Page, server: Product): Promise<void> {
  await signInAsNewAccount(page, server);
  const today = dayOf(new Date());
  await storeLog(page.request, await sessionOf(page), addDays(today, -2), log('Closed the books of October'));
  await page.goto(ROUTES.settings.path);
  const days = [1, 2, 3, 5, 40, 41, 400].map((back) => addDays(today, -back));
  await page
    .getByLabel('File to import')
    .setInputFiles(
      importOf(...days.map((date) => ({ date, body: 'Called Ann about the offer' })), {
        date: '2023-02-30',
        body: 'x',
      }),
    );
  await page.getByText('Nothing has been imported yet.').waitFor();
}

async function importDays(page: Page, server: Product): Promise<void> {
  await chooseImport(page, server);
  await clickButton(/^Import \d+ Days$/)(page);
  await page.getByText(/^Imported \d+ days\./).waitFor();
}

/** Signs up a new account for each call, because the mailbox of a known address may contain older links. */
async function requestRecoveryLink(server: Product, page: Page): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  await signUp(server, 'Lee Example', email);
  await page.goto(ROUTES.forgotPassword.path);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send Reset Link' }).click();
  await page.getByText('Password reset email sent! Check your inbox.').waitFor();
  return waitForMailedLink(page, email, 'recovery');
}

export const SCENES: readonly Scene[] = [
  { name: 'landing', as: 'guest', path: ROUTES.landing.path },
  { name: 'landing-whole', as: 'guest', path: ROUTES.landing.path, fullPage: true },
  {
    name: 'landing-typed',
    as: 'guest',
    path: ROUTES.landing.path,
    prepare: (page) => page.getByLabel('What have you done today?').fill('Shipped the thing I kept putting off'),
  },
  { name: 'login', as: 'guest', path: ROUTES.login.path, prepare: (page) => page.getByLabel('Password').waitFor() },
  { name: 'login-refused', as: 'guest', path: ROUTES.login.path, prepare: signInWithWrongPassword },
  {
    name: 'login-confirm-link',
    as: 'guest',
    path: `${ROUTES.login.path}?token_hash=0&type=signup`,
    prepare: (page) => page.getByRole('button', { name: 'Confirm' }).waitFor(),
  },
  { name: 'signup', as: 'guest', path: ROUTES.signup.path, prepare: (page) => page.getByLabel('Full name').waitFor() },
  {
    name: 'signup-refused',
    as: 'guest',
    path: ROUTES.signup.path,
    prepare: async (page) => {
      await page.getByLabel('Full name').fill('Pat Example');
      await page.getByLabel('Email address').fill('pat@example.com');
      await page.getByLabel('Password').fill('12345');
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByText('Password must be at least 6 characters long').waitFor();
    },
  },
  {
    name: 'forgot-password',
    as: 'guest',
    path: ROUTES.forgotPassword.path,
    prepare: (page) => page.getByLabel('Email address').waitFor(),
  },
  {
    name: 'forgot-password-sent',
    as: 'guest',
    path: ROUTES.forgotPassword.path,
    prepare: async (page) => {
      await page.getByLabel('Email address').fill('pat@example.com');
      await page.getByRole('button', { name: 'Send Reset Link' }).click();
      await page.getByText('Password reset email sent! Check your inbox.').waitFor();
    },
  },
  {
    name: 'reset-password-click',
    as: 'guest',
    path: `${ROUTES.resetPassword.path}?token_hash=0&type=recovery`,
    prepare: (page) => page.getByRole('button', { name: 'Continue' }).waitFor(),
  },
  {
    name: 'reset-password-invalid',
    as: 'guest',
    path: ROUTES.resetPassword.path,
    prepare: (page) => page.getByText('Invalid or expired reset link').waitFor(),
  },
  {
    name: 'reset-password',
    as: 'guest',
    path: ROUTES.forgotPassword.path,
    prepare: async (page, server) => {
      await page.goto(await requestRecoveryLink(server, page));
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Confirm new password').waitFor();
    },
  },
  { name: 'terms', as: 'guest', path: ROUTES.terms.path, fullPage: true },
  { name: 'privacy', as: 'guest', path: ROUTES.privacy.path, fullPage: true },
  { name: 'journal-empty', as: 'newcomer', path: ROUTES.journal.path, prepare: waitForEditor },
  { name: 'journal', as: 'free', path: ROUTES.journal.path, prepare: waitForEditor },
  {
    name: 'journal-quick-options',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.getByRole('button', { name: 'Previous day' }).click();
      await page.getByText('Quick options for this day:').waitFor();
    },
  },
  {
    name: 'journal-toolbar',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.locator('.ProseMirror li').nth(1).dblclick();
      await page.getByRole('toolbar').waitFor();
    },
  },
  {
    name: 'calendar',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.keyboard.press('Alt+c');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'calendar-months',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.keyboard.press('Alt+c');
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^[A-Z][a-z]+ \d{4}$/ })
        .click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^January \d{4}/ })
        .waitFor();
    },
  },
  {
    name: 'picture-pasted',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.locator('.ProseMirror').evaluate((target) => {
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File(['x'], 'picture.png', { type: 'image/png' }));
        target.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      });
      await page.getByText('Logs hold text only.').waitFor();
    },
  },
  { name: 'find', as: 'premium', path: ROUTES.journal.path, prepare: findWords('') },
  { name: 'find-words', as: 'premium', path: ROUTES.journal.path, prepare: findWords('failing tes', /days$/) },
  { name: 'find-day', as: 'premium', path: ROUTES.journal.path, prepare: findWords('last friday') },
  { name: 'find-nothing', as: 'premium', path: ROUTES.journal.path, prepare: findWords('xylophone', /Nothing found/) },
  { name: 'find-dabbler', as: 'free', path: ROUTES.journal.path, prepare: findWords('billing', /days$/) },
  { name: 'find-locked-day', as: 'free', path: ROUTES.journal.path, prepare: findWords('2024-02-29') },
  {
    name: 'find-offline',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await findWords('')(page);
      await page.keyboard.press('Escape');
      await page.context().setOffline(true);
      await page.locator('.ProseMirror').press('End');
      await page.keyboard.type(', and billing on paper');
      await findWords('billing', /Searched on this device only/)(page);
    },
  },
  {
    name: 'find-failed',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route('**/functions/v1/find-entries', (route) => route.fulfill({ status: 500, json: {} }));
      await findWords('billing', /Couldn't search your logs/)(page);
    },
  },
  {
    name: 'find-opened',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await findWords('billing', /days$/)(page);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => CSS.highlights.has('found-words'));
    },
  },
  { name: 'session-ended', as: 'free', path: ROUTES.journal.path, prepare: endJournalSession },
  { name: 'menu', as: 'free', path: ROUTES.journal.path, prepare: openMenu },
  {
    name: 'menu-toast',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route('**/rest/v1/profiles*', (route) => route.fulfill({ status: 503, json: {} }));
      await page.reload();
      await openMenu(page);
      const refresh = page.getByRole('dialog').getByRole('button', { name: 'Refresh Profile' });
      await refresh.waitFor();
      await page.unroute('**/rest/v1/profiles*');
      await refresh.click();
      await page.getByText('Profile refreshed successfully!').waitFor();
    },
  },
  {
    name: 'menu-shortcuts',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openMenu(page);
      await page.keyboard.press('?');
    },
  },
  {
    name: 'upgrade',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openMenu(page);
      await clickButton('Upgrade to Closer')(page);
      await page.getByRole('button', { name: 'Maybe Later' }).waitFor();
    },
  },
  ...ACCOUNT_SCENES,
  ...PROFILE_SCENES,
  ...BILLING_SCENES,
  { name: 'feedback-pitch', as: 'free', path: ROUTES.journal.path, prepare: openFeedback },
  ...COACH_SCENES,
  ...TWO_DEVICES_SCENES,
  ...OFFLINE_SCENES,
  ...VERSIONS_SCENES,
  {
    name: 'settings-free',
    as: 'free',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: (page) => page.getByRole('button', { name: 'Upgrade to Closer' }).first().waitFor(),
  },
  {
    name: 'settings-premium',
    as: 'premium',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: (page) => page.getByRole('radio', { name: /^Serif/ }).check(),
  },
  {
    name: 'settings-reminder',
    as: 'free',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: async (page) => {
      await openSections(page, 'Reminder');
      await page.getByRole('checkbox', { name: /^Remind me by mail/ }).check();
      await page.getByRole('group', { name: 'On these days' }).waitFor();
    },
  },
  {
    name: 'settings-day',
    as: 'premium',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: async (page) => {
      await openSections(page, 'Day', 'Time off', 'Prompts', 'Weekly digest', 'Links');
      await page.getByLabel('First day').fill(addDays(dayOf(new Date()), 20));
      await page.getByLabel('Last day').fill(addDays(dayOf(new Date()), 27));
      await clickButton('Add time off')(page);
      await page.getByText(/^Added /).waitFor();
    },
  },
  {
    name: 'settings-exported',
    as: 'premium',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: async (page) => {
      await clickButton('Export All Entries')(page);
      await page.getByText('saved as').waitFor();
    },
  },
  {
    name: 'settings-import',
    as: 'premium',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: async (page) => {
      await page.getByLabel('File to import').setInputFiles(createImportFile());
      await page.getByText('Nothing has been imported yet.').waitFor();
    },
  },
  { name: 'import-preview', as: 'guest', path: ROUTES.login.path, fullPage: true, prepare: chooseImport },
  {
    name: 'import-progress',
    as: 'guest',
    path: ROUTES.login.path,
    fullPage: true,
    prepare: async (page, server) => {
      await chooseImport(page, server);
      await page.route('**/functions/v1/import-entries', () => undefined);
      await clickButton(/^Import \d+ Days$/)(page);
      await page.getByText(/^0 of \d+ days$/).waitFor();
    },
  },
  { name: 'import-done', as: 'guest', path: ROUTES.login.path, fullPage: true, prepare: importDays },
  {
    name: 'import-undo',
    as: 'guest',
    path: ROUTES.login.path,
    fullPage: true,
    prepare: async (page, server) => {
      await importDays(page, server);
      await clickButton('Undo Import')(page);
      await page.getByRole('button', { name: /^Undo \d+ Days$/ }).waitFor();
    },
  },
  {
    name: 'import-refused',
    as: 'free',
    path: ROUTES.settings.path,
    fullPage: true,
    prepare: async (page) => {
      const file = { name: 'diary.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') };
      await page.getByLabel('File to import').setInputFiles(file);
      await page.getByText('A PDF holds pages, not days.').waitFor();
    },
  },
  {
    name: 'profile-free',
    as: 'free',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: (page) => page.getByText('Subscription Details').waitFor(),
  },
  {
    name: 'profile-premium',
    as: 'premium',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: (page) => page.getByRole('link', { name: /^Receipt of/ }).waitFor(),
  },
  {
    name: 'profile-refused',
    as: 'free',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: async (page) => {
      await page.getByText('Subscription Details').waitFor();
      await clickButton('Update Profile')(page);
      await page.getByText('No changes to save').waitFor();
    },
  },
  {
    name: 'reviews-free',
    as: 'free',
    path: ROUTES.reviews.path,
    prepare: (page) => page.getByRole('heading', { name: 'Premium Feature' }).waitFor(),
  },
  {
    name: 'reviews-premium',
    as: 'premium',
    path: ROUTES.reviews.path,
    prepare: (page) => page.getByText('5 entries').first().waitFor(),
  },
  {
    name: 'wins-free',
    as: 'free',
    path: ROUTES.wins.path,
    prepare: (page) => page.getByRole('heading', { name: 'Premium Feature' }).waitFor(),
  },
  {
    name: 'wins-document',
    as: 'premium',
    path: ROUTES.wins.path,
    prepare: async (page) => {
      await clickButton('Collect my wins')(page);
      await page.getByText('Saved', { exact: true }).waitFor();
    },
  },
];
