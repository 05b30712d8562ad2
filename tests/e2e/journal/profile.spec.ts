/** The journal, and what depends on the plan, while its owner's profile is late, missing or cannot be read. */
import type { Page } from '@playwright/test';
import {
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  openDay,
  sessionOf,
  storedLog,
  storeLog,
} from '../support/journal.ts';
import { expect, expectToast, test } from '../support/test.ts';

test('a profile that is late does not keep anybody from writing today', async ({ page, signUp }) => {
  await signUp(page);
  await page.keyboard.type('first');
  await page.keyboard.press('Alt+ArrowLeft');
  await page.keyboard.press('Alt+ArrowRight');
  await expect(items(page)).toHaveText(['first']);
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/rest/v1/profiles*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/journal');
  await expect(editor(page)).toBeVisible();
  await expect(items(page)).toHaveText(['first']);
  release();
});

test('a missing profile is said and can be read again; the page stays', async ({ page, signUp }) => {
  await signUp(page);
  await page.route('**/rest/v1/profiles*', (route) => route.fulfill({ json: [] }));
  await page.reload();
  await expect(page.getByText('Refreshing profile...')).toBeVisible();
  await expect(editor(page)).toBeVisible();
  await page.getByRole('button', { name: 'Refresh Profile' }).click();
  await expectToast(page, 'Failed to refresh profile. Please try again.');
  await page.unroute('**/rest/v1/profiles*');
  await page.getByRole('button', { name: 'Refresh Profile' }).click();
  await expectToast(page, 'Profile refreshed successfully!');
  await expect(page.getByText('Refreshing profile...')).toBeHidden();
});

test.describe('a plan that could not be read', () => {
  test.use({ expectedErrors: /status of 503/ });

  const PROFILE = '**/rest/v1/profiles*';
  const fail = (page: Page) => page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }));
  const UNREAD = "We couldn't load your plan. Your logs and your plan are safe.";
  const PITCH = /Upgrade|Dabbler|Premium Feature|Closers only|premium feature/;

  test('offers a Closer nothing to buy, on no screen', async ({ page, signUp, admin, expectAccessible }) => {
    const { email } = await signUp(page);
    await admin('plan:grant', email);
    await fail(page);
    for (const path of ['/settings', '/reviews', '/profile']) {
      await page.goto(path);
      await expect(page.getByRole('status').filter({ hasText: UNREAD })).toBeVisible();
      await expect(page.getByText(PITCH)).toHaveCount(0);
      await expectAccessible(page);
    }

    await page.goto('/reviews');
    await page.getByRole('button', { name: 'Refresh Profile' }).click();
    await expect(page.getByText('Failed to refresh profile. Please try again.')).toBeVisible();
    await page.unroute(PROFILE);
    await page.getByRole('button', { name: 'Refresh Profile' }).click();
    await expectToast(page, 'Profile refreshed successfully!');
    await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toBeVisible();
  });

  test('offers a Closer nothing to buy beside the journal', async ({ page, signUp, admin, expectAccessible }) => {
    const { email } = await signUp(page);
    await admin('plan:grant', email);
    await fail(page);
    await page.goto('/journal');
    for (const [button, dialog] of [
      ['Open menu', 'Menu'],
      ['Open feedback', 'HAI Feedback'],
    ] as const) {
      await page.getByRole('button', { name: button }).click();
      const sheet = page.getByRole('dialog', { name: dialog });
      await expect(sheet.getByText(UNREAD)).toBeVisible();
      await expect(sheet.getByText(PITCH)).toHaveCount(0);
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    }
  });

  test('keeps the free days writable and locks no old one', async ({ page, signUp, admin, request }) => {
    const { email } = await signUp(page);
    await admin('plan:grant', email);
    await storeLog(request, await sessionOf(page), daysAgo(40), log('long ago'));
    await fail(page);
    await openDay(page, daysAgo(29));
    await expect(page.getByText(UNREAD)).toBeVisible();
    await editor(page).click();
    await page.keyboard.type('kept');
    await expectSaved(page);
    expect(await storedLog(request, await sessionOf(page), daysAgo(29))).toBe(log('kept'));

    await page.goto(`/journal?date=${daysAgo(40)}`);
    await expect(page.getByText('This day opens as soon as your plan is known.')).toBeVisible();
    await expect(page.getByText('This log is locked.')).toHaveCount(0);
    await page.unroute(PROFILE);
    await page.getByRole('button', { name: 'Refresh Profile' }).click();
    await expect(items(page)).toHaveText(['long ago']);
  });

  test('is read again after two seconds, and one hitch is not worth a word', async ({ page, signUp }) => {
    await signUp(page);
    await page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await page.goto('/reviews');
    await expect(page.getByRole('status').filter({ hasText: 'Loading...' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
    await expect(page.getByText(UNREAD)).toHaveCount(0);
  });
});
