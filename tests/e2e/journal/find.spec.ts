/** Find: words in open days, days by their names, by keyboard and by touch, with and without a connection. */
import type { Page } from '@playwright/test';
import { addDays, dayLabel as labelOf } from '#domain/day/day.ts';
import { dayLabel, daysAgo, editor, log, openDay, sessionOf, storeLog, today } from '../support/journal.ts';
import { dayAtOffset } from '../../support/local-days.ts';
import { expect, test } from '../support/test.ts';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Find' });
/** What Find says, before whatever the page may have to say. */
const outcome = (page: Page) => dialog(page).getByRole('status').first();
const box = (page: Page) => page.getByRole('combobox', { name: 'Find words or a date' });
const options = (page: Page) => dialog(page).getByRole('option');

async function openFind(page: Page): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await expect(box(page)).toBeFocused();
}

/** How many words are marked in the log that is open. */
const marks = (page: Page) => page.evaluate(() => CSS.highlights.get('found-words')?.size ?? 0);

test('words are found while they are typed, and a day is opened with them marked', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  await signUp(page);
  const session = await sessionOf(page);
  await storeLog(request, session, daysAgo(3), log('Die Straße war frei', 'Nothing else on this street'));
  await storeLog(request, session, daysAgo(5), log('Strasse & <b>more</b>'.replaceAll('<', '&lt;')));
  await openFind(page);
  await expectAccessible(page);

  await page.keyboard.type('stras');
  await expect(options(page)).toHaveText([
    `${labelOf(daysAgo(3))}Die Straße war frei · Nothing else on this street`,
    `${labelOf(daysAgo(5))}Strasse & <b>more</b>`,
  ]);
  await expect(options(page).locator('mark')).toHaveText(['Straße', 'Strasse']);
  await expect(outcome(page)).toHaveText('2 days');
  await expect(options(page).first()).toHaveAttribute('aria-selected', 'true');
  await expect(box(page)).toHaveAttribute('aria-activedescendant', (await options(page).first().getAttribute('id'))!);
  await expectAccessible(page);

  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(options(page).nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toBeHidden();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(3)));
  await expect(page).toHaveURL(new RegExp(`date=${daysAgo(3)}$`));
  await expect.poll(() => marks(page)).toBe(1);

  await editor(page).click();
  await page.keyboard.type('x');
  await expect.poll(() => marks(page)).toBe(0);
});

test('Enter right after the last key opens what that search finds', async ({ page, signUp, request }) => {
  await signUp(page);
  const session = await sessionOf(page);
  await storeLog(request, session, daysAgo(1), log('needle'));
  await storeLog(request, session, daysAgo(4), log('needlework'));
  await openFind(page);
  await page.keyboard.type('needle');
  await expect(options(page)).toHaveCount(2);
  await page.keyboard.type('work');
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(4)));

  await openFind(page);
  await page.keyboard.type('needle');
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
});

test('nothing found, no words, and Escape', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  await openFind(page);
  await page.keyboard.type('xylophone');
  await expect(outcome(page)).toHaveText('Nothing found');
  await expect(box(page)).toHaveAttribute('aria-expanded', 'false');
  await expectAccessible(page);
  await box(page).fill('&|!:*');
  await expect(outcome(page)).toContainText('Search for words or a date');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  await expect(editor(page)).toBeFocused();
});

test('a day is opened by its name; a Dabbler is offered the plan for an older one', async ({ page, signUp, admin }) => {
  const { email } = await signUp(page);
  await openFind(page);
  await page.keyboard.type('3 days ago');
  await expect(options(page).first()).toHaveText(`Go to ${labelOf(daysAgo(3))}`);
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(3)));

  await openFind(page);
  await expect(dialog(page)).toContainText('Find searches the last 30 days. Closers can search every day.');
  await page.keyboard.type(daysAgo(60));
  await expect(options(page)).toHaveText([`Go to ${labelOf(daysAgo(60))} Closer only`]);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Premium Feature' })).toBeVisible();
  await expect(dialog(page)).toBeHidden();

  await admin('plan:grant', email);
  await page.goto('/journal');
  await expect(editor(page)).toBeVisible();
  await openFind(page);
  await page.keyboard.type(daysAgo(60));
  await expect(options(page)).toHaveText([`Go to ${labelOf(daysAgo(60))}`]);
  await expect(dialog(page)).not.toContainText('Closer');
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(60)));
});

test('while nobody knows the plan, nothing is said about plans', async ({ page, signUp }) => {
  await signUp(page);
  await page.route('**/rest/v1/profiles*', (route) => route.fulfill({ status: 403, json: {} }));
  await page.goto('/journal');
  await expect(editor(page)).toBeVisible();
  await openFind(page);
  await page.keyboard.type(daysAgo(60));
  await expect(options(page)).toHaveText([`Go to ${labelOf(daysAgo(60))}`]);
  await expect(dialog(page)).not.toContainText('Closer');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+c');
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await calendar.getByRole('button', { name: 'Previous' }).click();
  await calendar.getByRole('button', { name: 'Previous' }).click();
  await expect(calendar.getByRole('gridcell').first()).toBeVisible();
  await expect(calendar).not.toContainText('Closer');
  await expect(calendar.getByRole('button', { name: /locked/ })).toHaveCount(0);
});

test.describe('where it is tomorrow already', () => {
  test.use({ timezoneId: 'Pacific/Kiritimati' });

  test('a day that is still open on the other side of the Earth is locked here', async ({ page, signUp, request }) => {
    await signUp(page);
    const session = await sessionOf(page);
    const here = dayAtOffset(new Date(), 14 * 60);
    await storeLog(request, session, addDays(here, -29), log('the needle of the oldest day'));
    await storeLog(request, session, addDays(here, -30), log('the needle of the day before'));
    await openFind(page);
    await page.keyboard.type('needle');
    await expect(options(page)).toHaveText([`${labelOf(addDays(here, -29))}the needle of the oldest day`]);
    await expect(outcome(page)).toHaveText('1 day');
  });
});

test('the menu opens it, and a tap opens a day', async ({ page, signUp, request }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signUp(page);
  await storeLog(request, await sessionOf(page), daysAgo(2), log('needle'));
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await expect(page.getByRole('dialog')).toHaveCount(1);
  await box(page).fill('needle');
  await options(page).first().click();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(2)));
});

test.describe('without a connection', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_INTERNET_DISCONNECTED/ });

  test('what is not saved yet is found here, the rest says why it is not', async ({ page, signUp, context }) => {
    await signUp(page);
    await openDay(page, today());
    await openFind(page);
    await page.keyboard.press('Escape');
    await context.setOffline(true);
    await editor(page).click();
    await page.keyboard.type('a needle on paper');
    await openFind(page);
    await page.keyboard.type('needle');
    await expect(options(page)).toHaveText([`${labelOf(today())}Not saved yeta needle on paper`]);
    await expect(outcome(page)).toContainText('You are offline.');
    await expect(dialog(page).getByRole('button', { name: 'Try again' })).toBeVisible();
    await context.setOffline(false);
    await expect(outcome(page)).toHaveText('1 day');
  });
});

test.describe('when the server fails', () => {
  test.use({ expectedErrors: /status of 503/ });

  test('it says so, and tries again', async ({ page, signUp }) => {
    await signUp(page);
    await page.route('**/functions/v1/find-entries', (route) =>
      route.fulfill({ status: 503, json: { success: false, error: 'Too many searches at once. Please try again' } }),
    );
    await openFind(page);
    await page.keyboard.type('needle');
    await expect(outcome(page)).toHaveText('Too many searches at once. Please try again');
    await page.unroute('**/functions/v1/find-entries');
    await dialog(page).getByRole('button', { name: 'Try again' }).click();
    await expect(outcome(page)).toHaveText('Nothing found');
  });
});

test('a question that was typed over is given up', async ({ page, signUp }) => {
  await signUp(page);
  const asked: string[] = [];
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  await page.route('**/functions/v1/find-entries', async (route) => {
    const { query } = route.request().postDataJSON() as { query: string };
    asked.push(query);
    if (query === 'first') await letGo;
    await route.continue().catch(() => undefined);
  });
  const givenUp = page.waitForEvent('requestfailed', (request) => request.url().endsWith('find-entries'));
  await openFind(page);
  // In one go: a pause between keys would be a question of its own.
  await box(page).fill('first');
  await expect.poll(() => asked).toEqual(['first']);
  await box(page).fill('second');
  expect((await givenUp).failure()?.errorText).toBe('net::ERR_ABORTED');
  await expect(outcome(page)).toHaveText('Nothing found');
  resolve();
});

test('the list of keys names Find and the calendar, and Alt+C opens that', async ({ page, signUp }) => {
  await signUp(page);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Keyboard shortcuts (?)' }).click();
  const keys = page.getByRole('region', { name: 'Keyboard shortcuts' });
  await expect(keys.locator('div').filter({ hasText: 'Find' })).toContainText('K');
  await expect(keys.locator('div').filter({ hasText: 'Calendar' })).toContainText('C');
  await expect(keys.locator('div').filter({ hasText: 'Bold' })).toContainText('B');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+c');
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
});
