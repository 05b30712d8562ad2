/** The line about the same day a month or some years ago, under the empty page of today. */
import type { Page } from '@playwright/test';
import { addYears, type Day } from '#domain/day/day.ts';
import { editor, log, openDay, today } from '../support/journal.ts';
import { expect, inBothThemes, loadedFonts, readShift, test } from '../support/test.ts';

const YEAR_AGO: Day = addYears(today(), -1);
const line = (page: Page) => page.getByRole('link', { name: /ago: / });

test('names what was done a year ago until the page has text, moves nothing, and opens that day', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const logs = { [YEAR_AGO]: log('Shipped the billing migration', 'Called Anna', 'Slept') };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/assets/earlier-day*', async (route) => {
    await released;
    await route.continue();
  });
  await signUp(page, { path: `/journal?date=${today()}`, isCloser: true, logs });
  await expect(editor(page)).toBeVisible();
  await expect(line(page)).toHaveCount(0);
  // The serif font comes after the screen, and its letters are a hair wider than those of the fallback.
  await expect.poll(() => loadedFonts(page)).toContain('Newsreader');
  const shift = await readShift(page);
  release();
  await expect(line(page)).toHaveText('A year ago: Shipped the billing migration and 2 more');
  expect(await readShift(page)).toBe(shift);
  await inBothThemes(page, expectAccessible);

  await editor(page).focus();
  await page.keyboard.type('S');
  await expect(line(page)).toHaveCount(0);
  await page.keyboard.press('Backspace');
  await expect(line(page)).toBeVisible();
  await line(page).click();
  await expect(page).toHaveURL(`/journal?date=${YEAR_AGO}`);
  await expect(editor(page)).toContainText('Called Anna');
});

test('says of a locked day only that it has a log, and asks for no text of it', async ({ page, signUp }) => {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/rest/v1/entries?')) asked.push(request.url());
  });
  await signUp(page, { logs: { [YEAR_AGO]: log('A secret') } });
  await expect(line(page)).toHaveText('A year ago: you kept a log');
  expect(asked.filter((url) => url.includes(YEAR_AGO))).toEqual([]);
  await expect(page.getByText('A secret')).toHaveCount(0);
  await line(page).click();
  await expect(page.getByText('This log is locked.')).toBeVisible();
});

test.describe('without a server', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_FAILED/ });

  test('shows what this device has kept, and isolates right-to-left text', async ({ page, signUp }) => {
    await signUp(page, {
      path: `/journal?date=${today()}`,
      isCloser: true,
      logs: { [YEAR_AGO]: log('שלחתי את החשבונית', 'Slept') },
    });
    await expect(line(page)).toHaveText('A year ago: שלחתי את החשבונית and 1 more');
    await page.route('**/rest/v1/**', (route) => route.abort());
    await openDay(page, today());
    await expect(line(page)).toHaveText('A year ago: שלחתי את החשבונית and 1 more');
    const direction = (selector: string) =>
      line(page)
        .locator(selector)
        .first()
        .evaluate((element) => [getComputedStyle(element).direction, getComputedStyle(element).unicodeBidi]);
    expect(await direction('bdi')).toEqual([expect.anything(), 'isolate']);
    const [label, text, more] = await Promise.all(
      ['span:first-child', 'bdi', 'span:last-child'].map(
        async (selector) => (await line(page).locator(selector).boundingBox())!.x,
      ),
    );
    expect([label, text, more]).toEqual([label, text, more].toSorted((a, b) => a! - b!));
  });
});
