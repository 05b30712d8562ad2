/** A journal that is open while its plan changes: nothing typed is lost, and a locked day never looks like an empty one. */
import type { BrowserContext, Page } from '@playwright/test';
import {
  dayLabel,
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  openDay,
  sessionOf,
  status,
  storedLog,
  storeLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, expectToast, test } from '../support/test.ts';

const OLD = daysAgo(40);

const lockedView = (page: Page) => page.getByText('This log is locked. Upgrade to Closer to access historical logs.');
const kept = (page: Page) => page.getByRole('heading', { name: 'What you wrote is not saved yet.' });
const words = (page: Page) => page.getByRole('group', { name: 'What you wrote' });

/** Somebody comes back to the tab: what browsers tell a page then. */
async function lookAtPage(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    dispatchEvent(new Event('focus'));
  });
}

/** Every write of a day that leaves the page from now on. */
function writesOf(page: Page): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/rest/v1/entries') && request.method() !== 'GET') writes.push(request.method());
  });
  return writes;
}

type Closer = { email: string };

/** A Closer with an old log, open on it. */
async function closerOnOldDay(
  page: Page,
  signUp: (page: Page) => Promise<Closer>,
  admin: (...args: string[]) => Promise<string>,
): Promise<Closer> {
  const person = await signUp(page);
  await admin('plan:grant', person.email);
  await storeLog(page.request, await sessionOf(page), OLD, log('long ago'));
  await openDay(page, OLD);
  await expect(items(page)).toHaveText(['long ago']);
  return person;
}

test('a refund behind an open old day shows the locked view, never an empty page', async ({ page, signUp, admin }) => {
  const { email } = await closerOnOldDay(page, signUp, admin);
  await page.evaluate(() => {
    new MutationObserver(() => {
      const text = document.querySelector('.ProseMirror')?.textContent;
      if (text === '') document.documentElement.dataset['emptied'] = '';
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await admin('plan:revoke', email);
  await lookAtPage(page);
  await expect(lockedView(page)).toBeVisible();
  await expect(editor(page)).toHaveCount(0);
  await expect(page.getByText('long ago')).toHaveCount(0);
  await expect(page.locator('html[data-emptied]')).toHaveCount(0);

  // Nor do the arrows find a text that was read while the plan was there.
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(page.getByText('Nothing was logged on this day.')).toBeVisible();
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(lockedView(page)).toBeVisible();
  await expect(page.getByText('long ago')).toHaveCount(0);
});

test('the bar comes back when the plan closes the day under somebody who writes', async ({ page, signUp, admin }) => {
  await page.clock.install();
  const { email } = await closerOnOldDay(page, signUp, admin);
  await editor(page).click();
  for (let second = 0; second < 5; second += 1) {
    await page.keyboard.type('more ');
    await page.clock.runFor(1_000);
  }
  const bar = page.getByRole('banner').locator('> *').first();
  await expect(bar).toHaveCSS('opacity', '0.4');
  await admin('plan:revoke', email);
  await page.keyboard.type('and more');
  await page.clock.runFor(10_000);
  await expect(lockedView(page)).toBeVisible();
  await expect(bar).toHaveCSS('opacity', '1');
});

test('the server’s word is enough when the profile cannot be read again', async ({ page, signUp, admin }) => {
  const { email } = await closerOnOldDay(page, signUp, admin);
  await admin('plan:revoke', email);
  await page.route('**/rest/v1/profiles?select=*&*', (route) => route.fulfill({ status: 403, json: {} }));
  await lookAtPage(page);
  await expect(lockedView(page)).toBeVisible();
  await expect(editor(page)).toHaveCount(0);
});

test('words typed as the plan ended stay to be read and copied, and are sent when it is back', async ({
  page,
  context,
  signUp,
  admin,
  request,
  expectAccessible,
}) => {
  await page.clock.install();
  const { email } = await closerOnOldDay(page, signUp, admin);
  await admin('plan:revoke', email);
  const writes = writesOf(page);
  await editor(page).click();
  await page.keyboard.press('End');
  // In one go: the plan takes the editor away as soon as the first save is refused.
  await page.keyboard.insertText(', and today');
  await expect(kept(page)).toBeVisible();
  await expect(lockedView(page)).toBeVisible();
  await expect(words(page)).toHaveText('long ago, and today');
  await expect(editor(page)).toHaveCount(0);
  await expect(status(page, 'Not saved – your plan does not open this day')).toBeVisible();

  // It was tried once, and is not tried again and again.
  await page.clock.runFor(120_000);
  expect(writes).toEqual(['PATCH']);

  await allowClipboard(context);
  await page.getByRole('button', { name: 'Copy my words' }).click();
  await expectToast(page, 'Copied.');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('long ago, and today');
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  // Neither a reload nor another day loses them, and the other day says where they are.
  await page.goto('/journal');
  await page.getByRole('button', { name: /is not saved yet$/ }).click();
  await expect(words(page)).toHaveText('long ago, and today');

  await admin('plan:grant', email);
  await lookAtPage(page);
  await expect(items(page)).toHaveText(['long ago, and today']);
  await expectSaved(page);
  await expect(page.getByRole('button', { name: 'Keep both' })).toBeHidden();
  expect(await storedLog(request, await sessionOf(page), OLD)).toBe(log('long ago, and today'));
});

test('the offer is one click away from words that wait', async ({ page, signUp, admin }) => {
  const { email } = await closerOnOldDay(page, signUp, admin);
  await admin('plan:revoke', email);
  await editor(page).click();
  await page.keyboard.insertText('more ');
  await expect(kept(page)).toBeVisible();
  const line = kept(page).locator('..');
  await line.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(page.getByRole('dialog', { name: 'Premium Feature' })).toBeVisible();
});

test('an emptied day that was not saved says so, and is empty when the plan opens it', async ({
  page,
  signUp,
  admin,
  request,
}) => {
  const { email } = await closerOnOldDay(page, signUp, admin);
  await admin('plan:revoke', email);
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Backspace');
  await expect(kept(page)).toBeVisible();
  await expect(page.getByText('You had taken everything out of this day.')).toBeVisible();
  await admin('plan:grant', email);
  await lookAtPage(page);
  await expect(status(page, 'Nothing written yet')).toBeVisible();
  expect(await storedLog(request, await sessionOf(page), OLD)).toBe(null);
});

test.describe('a save refused because of the plan, while nothing can be read', () => {
  test.use({ expectedErrors: /status of 503/ });

  test('says why beside the text, and offers the upgrade', async ({ page, signUp, admin, expectAccessible }) => {
    const { email } = await signUp(page);
    await admin('plan:grant', email);
    await openDay(page, OLD);
    await admin('plan:revoke', email);
    await page.route('**/rest/v1/**', (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 503, json: {} }) : route.continue(),
    );
    const writes = writesOf(page);
    await editor(page).click();
    await page.keyboard.insertText('first words of this day');
    await expect(status(page, 'Not saved – your plan does not open this day')).toBeVisible();
    await page.keyboard.type(', and more');
    await expect(items(page)).toHaveText(['first words of this day, and more']);
    // The bars, faded while somebody writes, come back with the pointer.
    await page.mouse.move(300, 300, { steps: 2 });
    await inBothThemes(page, expectAccessible);
    expect(writes).toEqual(['POST']);
    await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toBeVisible();
    await page.unroute('**/rest/v1/**');
    await lookAtPage(page);
    await expect(words(page)).toHaveText('first words of this day, and more');
  });
});

test.describe('without the code of the locked view', () => {
  test.use({ expectedErrors: /Failed to load resource: net::/ });

  test('the words that wait are shown all the same', async ({ page, signUp, admin }) => {
    const { email } = await closerOnOldDay(page, signUp, admin);
    await page.route('**/assets/locked-day*.js', (route) => route.abort());
    await admin('plan:revoke', email);
    await editor(page).click();
    await page.keyboard.press('End');
    // In one go: the plan takes the editor away as soon as the first save is refused.
    await page.keyboard.insertText(', and today');
    await expect(words(page)).toHaveText('long ago, and today');
    await expect(page.getByText('This day is locked.', { exact: true })).toBeVisible();
  });
});

test('a plan paid for in another tab opens the locked day when one comes back', async ({ page, signUp, admin }) => {
  const { email } = await closerOnOldDay(page, signUp, admin);
  await admin('plan:revoke', email);
  await page.reload();
  await expect(lockedView(page)).toBeVisible();
  await admin('plan:grant', email);
  await lookAtPage(page);
  await expect(items(page)).toHaveText(['long ago']);
  // The days that the plan had hidden are marked again.
  await dayLabel(page).click();
  await expect(
    page
      .getByRole('dialog')
      .getByRole('button', { name: /has entry/ })
      .first(),
  ).toBeVisible();
});

test('a page left open past the last valid day is a Dabbler’s by itself', async ({ page, signUp, admin }) => {
  await page.clock.install();
  const { email } = await signUp(page);
  await admin('plan:grant', email, '--days', '1');
  await page.goto('/reviews');
  await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toBeVisible();
  // Its last day is tomorrow where it is latest on Earth, which may be the day after tomorrow here.
  await page.clock.pauseAt(new Date(Date.now() + 73 * 3_600_000));
  await page.clock.runFor(20_000);
  await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
});

test('locked neighbours are not asked for', async ({ page, signUp }) => {
  await signUp(page);
  const asked: string[] = [];
  page.on('request', (request) => {
    const date = /entries\?.*date=eq\.([\d-]+)/.exec(request.url())?.[1];
    if (date !== undefined) asked.push(date);
  });
  await openDay(page, daysAgo(29));
  await expect.poll(() => asked).toContain(daysAgo(28));
  await expect.poll(() => asked).toContain(today());
  expect(asked).not.toContain(daysAgo(30));
});

async function allowClipboard(context: BrowserContext): Promise<void> {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
}
