/** The journal while the plan changes: no typed word is lost, and a locked day never looks like an empty one. */
import type { Page } from '@playwright/test';
import {
  dayLabel,
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  sessionOf,
  status,
  readStoredLog,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, test } from '../support/test.ts';

const OLD = daysAgo(40);

const lockedView = (page: Page) => page.getByText('This log is locked. Upgrade to Closer to access historical logs.');
const unsaved = (page: Page) => page.getByRole('heading', { name: 'What you wrote is not saved yet.' });
const words = (page: Page) => page.getByRole('group', { name: 'What you wrote' });

/** Dispatches the events of a tab that the user comes back to. */
async function focusTab(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    dispatchEvent(new Event('focus'));
  });
}

/** Collects the methods of all writes of entries from now on. */
function collectWrites(page: Page): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/rest/v1/entries') && request.method() !== 'GET') writes.push(request.method());
  });
  return writes;
}

/** A user of the paid plan (Closer) on a day that the free plan would lock. */
const OLD_DAY_OF_CLOSER = { path: `/journal?date=${OLD}`, isCloser: true, logs: { [OLD]: log('long ago') } };

test('a plan that ends locks an open old day without showing it empty, and a plan that starts opens it', async ({
  page,
  signUp,
  admin,
}) => {
  const { email } = await signUp(page, OLD_DAY_OF_CLOSER);
  await expect(items(page)).toHaveText(['long ago']);
  await page.evaluate(() => {
    new MutationObserver(() => {
      const text = document.querySelector('.ProseMirror')?.textContent;
      if (text === '') document.documentElement.dataset['emptied'] = '';
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await admin('plan:revoke', email);
  await focusTab(page);
  await expect(lockedView(page)).toBeVisible();
  await expect(editor(page)).toHaveCount(0);
  await expect(page.getByText('long ago')).toHaveCount(0);
  await expect(page.locator('html[data-emptied]')).toHaveCount(0);

  // The entry cache has no text of the locked day either.
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(page.getByText('Nothing was logged on this day.')).toBeVisible();
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(lockedView(page)).toBeVisible();
  await expect(page.getByText('long ago')).toHaveCount(0);

  await test.step('the plan was paid for in another tab', async () => {
    await admin('plan:grant', email);
    await focusTab(page);
    await expect(items(page)).toHaveText(['long ago']);
    // The calendar again marks the days that were hidden without the plan.
    await dayLabel(page).click();
    const calendar = page.getByRole('dialog', { name: 'Select Date' });
    await expect(calendar.getByRole('button', { name: /has entry/ }).first()).toBeVisible();
    await page.keyboard.press('Escape');
  });

  await test.step('the plan ends again while the profile cannot be loaded', async () => {
    await admin('plan:revoke', email);
    await page.route('**/rest/v1/profiles?select=*&*', (route) =>
      route.fulfill({ status: 403, json: { code: '42501', message: 'permission denied' } }),
    );
    await focusTab(page);
    await expect(lockedView(page)).toBeVisible();
    await expect(editor(page)).toHaveCount(0);
  });
});

test('the bars fade after three seconds of writing, and return with the pointer or when the plan locks the day', async ({
  page,
  signUp,
  admin,
}) => {
  await page.clock.install();
  const { email } = await signUp(page, OLD_DAY_OF_CLOSER);
  await editor(page).click();
  const bar = page.getByRole('banner').locator('> *').first();
  const writeUntilFaded = async (): Promise<void> => {
    for (let second = 0; second < 5; second += 1) {
      await page.keyboard.insertText('more ');
      await page.clock.runFor(1_000);
    }
    await expect(bar).toHaveCSS('opacity', '0.4');
  };
  await writeUntilFaded();
  await page.mouse.move(200, 200);
  await page.mouse.move(210, 210);
  await expect(bar).toHaveCSS('opacity', '1');
  await writeUntilFaded();
  await admin('plan:revoke', email);
  await page.keyboard.type('and more');
  await page.clock.runFor(10_000);
  await expect(lockedView(page)).toBeVisible();
  await expect(bar).toHaveCSS('opacity', '1');
});

test('text typed when the plan ends can be read and copied, and is sent when the plan is back', async ({
  page,
  context,
  signUp,
  admin,
  request,
  expectAccessible,
}) => {
  await page.clock.install();
  const { email } = await signUp(page, OLD_DAY_OF_CLOSER);
  await expect(items(page)).toHaveText(['long ago']);
  const writes = collectWrites(page);
  await editor(page).click();
  await page.keyboard.press('End');
  await admin('plan:revoke', email);
  // In one step: the locked view replaces the editor after the first rejected save.
  await page.keyboard.insertText(', and today');
  await expect(unsaved(page)).toBeVisible();
  await expect(lockedView(page)).toBeVisible();
  await expect(words(page)).toHaveText('long ago, and today');
  await expect(editor(page)).toHaveCount(0);
  await expect(status(page, "Not saved – your plan doesn't include this day")).toBeVisible();

  // The page sends the rejected save once, without retries.
  await page.clock.runFor(120_000);
  expect(writes).toEqual(['PATCH']);

  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy my words' }).click();
  await expectToast(page, 'Copied.');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('long ago, and today');
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await unsaved(page).locator('..').getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(page.getByRole('dialog', { name: 'Premium Feature' })).toBeVisible();

  // The unsaved text survives a reload, and other days link to it.
  await page.goto('/journal');
  await page.getByRole('button', { name: /is not saved yet$/ }).click();
  await expect(words(page)).toHaveText('long ago, and today');

  await admin('plan:grant', email);
  await focusTab(page);
  await expect(items(page)).toHaveText(['long ago, and today']);
  await expectSaved(page);
  await expect(page.getByRole('button', { name: 'Keep both' })).toBeHidden();
  await expect.poll(async () => readStoredLog(request, await sessionOf(page), OLD)).toBe(log('long ago, and today'));

  await test.step('a day that was emptied when the plan ended is empty when the plan is back', async () => {
    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+A');
    await admin('plan:revoke', email);
    await page.keyboard.press('Backspace');
    await expect(unsaved(page)).toBeVisible();
    await expect(page.getByText('You deleted all text of this day.')).toBeVisible();
    await admin('plan:grant', email);
    await focusTab(page);
    await expect(status(page, 'Nothing written yet')).toBeVisible();
    await expect.poll(async () => readStoredLog(request, await sessionOf(page), OLD)).toBe(null);
  });
});

test.describe('a save that the plan rejects while no request succeeds', () => {
  test.use({ expectedErrors: /status of 503/ });

  test('shows the reason beside the text and offers the upgrade', async ({ page, signUp, admin, expectAccessible }) => {
    const { email } = await signUp(page, { path: `/journal?date=${OLD}`, isCloser: true });
    await expect(editor(page)).toBeVisible();
    await admin('plan:revoke', email);
    await page.route('**/rest/v1/**', (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 503, json: {} }) : route.continue(),
    );
    const writes = collectWrites(page);
    await editor(page).click();
    await page.keyboard.insertText('first words of this day');
    await expect(status(page, "Not saved – your plan doesn't include this day")).toBeVisible();
    await page.keyboard.type(', and more');
    await expect(items(page)).toHaveText(['first words of this day, and more']);
    // The bars fade while the user writes and return with the pointer.
    await page.mouse.move(300, 300, { steps: 2 });
    await inBothThemes(page, expectAccessible);
    expect(writes).toEqual(['POST']);
    await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toBeVisible();
    await page.unroute('**/rest/v1/**');
    await focusTab(page);
    await expect(words(page)).toHaveText('first words of this day, and more');
  });
});

test.describe('without the chunk of the locked view', () => {
  test.use({ expectedErrors: /Failed to load resource: net::/ });

  test('unsaved text is shown', async ({ page, signUp, admin }) => {
    const { email } = await signUp(page, OLD_DAY_OF_CLOSER);
    await expect(items(page)).toHaveText(['long ago']);
    await page.route('**/assets/locked-day*.js', (route) => route.abort());
    await editor(page).click();
    await page.keyboard.press('End');
    await admin('plan:revoke', email);
    // In one step: the locked view replaces the editor after the first rejected save.
    await page.keyboard.insertText(', and today');
    await expect(words(page)).toHaveText('long ago, and today');
    await expect(page.getByText('This day is locked.', { exact: true })).toBeVisible();
  });
});

test('a page that stays open past the last valid day locks itself', async ({ page, accounts, openAs, admin }) => {
  await page.clock.install();
  const account = await accounts.create();
  await admin('plan:grant', account.person.email, '--days', '1');
  await openAs(page, account, '/reviews');
  await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toBeVisible();
  // The plan's last day is the day after the latest date on Earth: here it may be the day after tomorrow.
  await page.clock.pauseAt(new Date(Date.now() + 73 * 3_600_000));
  // Again, if the page has not yet set its timer for the end of the plan.
  await expect(async () => {
    await page.clock.runFor(20_000);
    await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible({ timeout: 5_000 });
  }).toPass();
});
