/** Find: words of open days and days by their names, by keyboard and mouse, on a narrow screen, and offline. */
import type { Page } from '@playwright/test';
import { addDays, dayLabel as labelOf } from '#domain/day/day.ts';
import { dayLabel, daysAgo, editor, items, log, today } from '../support/journal.ts';
import { dayAtOffset } from '../../support/local-days.ts';
import { inBothThemes, expect, test } from '../support/test.ts';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Find' });
/** The status of Find, which comes before the toasts. */
const outcome = (page: Page) => dialog(page).getByRole('status').first();
const box = (page: Page) => page.getByRole('combobox', { name: 'Find words or a date' });
const options = (page: Page) => dialog(page).getByRole('option');

async function openFind(page: Page): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await expect(box(page)).toBeFocused();
}

/** How many words are highlighted in the open log. */
const marks = (page: Page) => page.evaluate(() => CSS.highlights.get('found-words')?.size ?? 0);

/** Whether the rule below the field has the colour of the caret. Without it, only the caret shows the focus. */
const isFocusShown = (page: Page): Promise<boolean> =>
  box(page).evaluate((input) => {
    const { borderBlockEndWidth, borderBlockEndColor } = getComputedStyle(input.parentElement!.parentElement!);
    return borderBlockEndWidth === '1px' && borderBlockEndColor === getComputedStyle(input).caretColor;
  });

test('Find lists tags with their days, completes a typed one, and finds it alone', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page, {
    logs: {
      [daysAgo(1)]: log('Shipped #Billing and #billing-v2'),
      [daysAgo(2)]: log('Wrote about billing, fixed #42'),
      [daysAgo(3)]: log('Planned #billing with #größe'),
    },
  });
  await openFind(page);
  await expect(options(page)).toHaveText(['#Billing 2 days', '#billing-v2 1 day', '#größe 1 day']);
  await expect(dialog(page).getByRole('listbox', { name: 'Tags' })).toBeVisible();
  await expect(outcome(page)).toContainText('Search for words or a date');
  await inBothThemes(page, expectAccessible);

  await page.keyboard.type('#BIL');
  await expect(options(page)).toHaveText(['#Billing 2 days', '#billing-v2 1 day']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(box(page)).toHaveValue('#billing-v2');
  await expect(options(page).locator('mark')).toHaveText(['#billing-v2']);
  await expect(outcome(page)).toHaveText('1 day');

  await box(page).fill('#gro');
  await expect(options(page)).toHaveText(['#größe 1 day']);
  await options(page).click();
  await expect(box(page)).toBeFocused();
  await expect(box(page)).toHaveValue('#größe');
  await expect(options(page).locator('mark')).toHaveText(['#größe']);

  await box(page).fill('#billing');
  await expect(options(page).locator('mark')).toHaveText(['#Billing', '#billing']);
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
  await expect.poll(() => marks(page)).toBe(1);
});

test('Find says how a tag is made while there is none', async ({ page, signUp }) => {
  await signUp(page);
  await openFind(page);
  await page.keyboard.type('#');
  await expect(outcome(page)).toHaveText('No tags yet. “#billing” in a log makes one.');
  await expect(options(page)).toHaveCount(0);
});

test('Find shows words while they are typed, and opens a day with them highlighted', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page, {
    logs: {
      [daysAgo(1)]: log('needle'),
      [daysAgo(3)]: log('Die Straße war frei', 'Nothing else on this street'),
      [daysAgo(4)]: log('needlework'),
      [daysAgo(5)]: log('Strasse & &lt;b>more&lt;/b>'),
    },
  });
  await openFind(page);
  await expect.poll(() => isFocusShown(page)).toBe(true);
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
  await inBothThemes(page, expectAccessible);

  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(options(page).nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toBeHidden();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(3)));
  await expect(page).toHaveURL(new RegExp(`date=${daysAgo(3)}$`));
  await expect.poll(() => marks(page)).toBe(1);
  await expect(editor(page)).toBeFocused();
  await page.keyboard.type('n');
  await expect(items(page).first()).toHaveText('Die Straßen war frei');
  await expect.poll(() => marks(page)).toBe(0);

  await test.step('Enter right after the last key opens the result of the whole query', async () => {
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

  await test.step('a date, and a word of the open day, opened from the menu: the caret is in the log', async () => {
    for (const [query, text] of [
      [daysAgo(4), 'needlework!'],
      ['needle', 'needlework!!'],
    ] as const) {
      await page.getByRole('button', { name: 'Open menu' }).click();
      await page.getByRole('button', { name: 'Find', exact: true }).click();
      await box(page).fill(query);
      await options(page).last().click();
      await expect(dialog(page)).toBeHidden();
      await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(4)));
      await expect(editor(page)).toBeFocused();
      await page.keyboard.type('!');
      await expect(items(page)).toHaveText([text]);
    }
    for (let key = 0; key < 2; key += 1) await page.keyboard.press('End').then(() => page.keyboard.press('Backspace'));
    await expect(items(page)).toHaveText(['needlework']);
  });

  await test.step('no result, a query without letters, Escape', async () => {
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

  await test.step('the menu of a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await expect(page.getByRole('dialog')).toHaveCount(1);
    await box(page).fill('needlework');
    await options(page).first().click();
    await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(4)));
  });
});

test('Find opens no row that came under the pointer while the user clicked, and the next click opens it', async ({
  page,
  signUp,
}) => {
  await signUp(page, { logs: { [daysAgo(1)]: log('needle'), [daysAgo(2)]: log('needlework') } });
  await openFind(page);
  await page.keyboard.type('needle');
  await expect(options(page)).toHaveCount(2);
  await options(page).first().hover();
  // Clicks as soon as another row is in this place.
  await page.evaluate(() => {
    const first = document.querySelector('[role=option]')!;
    const { x, y, width, height } = first.getBoundingClientRect();
    const before = first.textContent;
    const list = first.parentElement!;
    const observer = new MutationObserver(() => {
      const under = document.elementFromPoint(x + width / 2, y + height / 2)?.closest('[role=option]');
      if (!under || under.textContent === before) return;
      observer.disconnect();
      for (const kind of ['pointerdown', 'pointerup', 'click'])
        under.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerType: 'mouse', detail: 1 }));
      document.body.dataset['clicked'] = under.textContent;
    });
    observer.observe(list, { childList: true, subtree: true, characterData: true });
  });
  await page.keyboard.type('work');
  await expect(options(page)).toHaveText([`${labelOf(daysAgo(2))}needlework`]);
  await expect(page.locator('body')).toHaveAttribute('data-clicked', /needlework/);
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await expect(dialog(page)).toBeVisible();
  await expect(async () => {
    // Not again, if the click before has closed the dialog late.
    if (await dialog(page).isVisible()) await options(page).first().click({ timeout: 1_000 });
    await expect(dialog(page)).toBeHidden({ timeout: 1_000 });
  }).toPass();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(2)));
});

test('Find opens a day by its name, and offers a free user the paid plan for an older day', async ({
  page,
  signUp,
  admin,
}) => {
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
  await page.keyboard.press('Escape');
  // The page asks for the plan again when the user comes back to it.
  const profile = page.waitForResponse('**/rest/v1/profiles*');
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await profile;
  await openFind(page);
  await page.keyboard.type(daysAgo(60));
  await expect(options(page)).toHaveText([`Go to ${labelOf(daysAgo(60))}`]);
  await expect(dialog(page)).not.toContainText('Closer');
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(60)));
});

test.describe('in the time zone furthest ahead', () => {
  test.use({ timezoneId: 'Pacific/Kiritimati' });

  test('Find leaves out a day that is locked here and still open in other time zones', async ({ page, signUp }) => {
    const here = dayAtOffset(new Date(), 14 * 60);
    const [oldest, before] = [addDays(here, -29), addDays(here, -30)];
    await signUp(page, {
      logs: { [oldest]: log('the needle of the oldest day'), [before]: log('the needle of the day before') },
    });
    await openFind(page);
    await page.keyboard.type('needle');
    await expect(options(page)).toHaveText([`${labelOf(oldest)}the needle of the oldest day`]);
    await expect(outcome(page)).toHaveText('1 day');
  });
});

test.describe('when requests fail', () => {
  test.use({ expectedErrors: /status of 503|net::ERR_(INTERNET_DISCONNECTED|FAILED)/ });

  test('Find lists the tags of unsent text, and without a server those of this device', async ({ page, signUp }) => {
    await signUp(page, { path: `/journal?date=${daysAgo(1)}`, logs: { [daysAgo(1)]: log('Shipped #Billing') } });
    await expect(items(page)).toHaveText(['Shipped #Billing']);
    await page.route('**/rest/v1/entries*', (route) => route.abort());
    await editor(page).press('ControlOrMeta+End');
    await page.keyboard.type(' #draft');
    await expect(items(page)).toHaveText(['Shipped #Billing #draft']);
    await openFind(page);
    await page.keyboard.type('#dr');
    await expect(options(page)).toHaveText(['#draft 1 day']);
    await page.route('**/functions/v1/find-entries', (route) => route.abort());
    await box(page).fill('#');
    await expect(options(page)).toHaveText(['#Billing 1 day', '#draft 1 day']);
    await expect(outcome(page)).toHaveText('Searched on this device only: 1 day');
    await box(page).fill('#zz');
    await expect(outcome(page)).toHaveText('Nothing foundSearched on this device only: 1 day');
  });

  test('Find says why, retries, searches this device offline, and aborts a request for an earlier query', async ({
    page,
    signUp,
    context,
  }) => {
    const FIND = '**/functions/v1/find-entries';
    await signUp(page, { path: `/journal?date=${daysAgo(2)}`, logs: { [daysAgo(2)]: log('another pencil') } });
    await expect(editor(page)).toHaveText('another pencil');
    await test.step('the server is busy', async () => {
      await page.route(FIND, (route) =>
        route.fulfill({ status: 503, json: { success: false, error: 'Too many searches at once. Please try again' } }),
      );
      await openFind(page);
      await page.keyboard.type('needle');
      await expect(outcome(page)).toHaveText('Too many searches at once. Please try again');
      await page.unroute(FIND);
      await dialog(page).getByRole('button', { name: 'Try again' }).click();
      await expect(outcome(page)).toHaveText('Nothing found');
    });

    await test.step('the query changes before the answer', async () => {
      const queries: string[] = [];
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route(FIND, async (route) => {
        const { query } = route.request().postDataJSON() as { query: string };
        queries.push(query);
        if (query === 'first') await released;
        await route.continue().catch(() => undefined);
      });
      const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('find-entries'));
      // `fill` enters the whole word at once: a pause between keys would send a request for a part of it.
      await box(page).fill('first');
      await expect.poll(() => queries).toEqual(['first']);
      await box(page).fill('second');
      expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED');
      await expect(outcome(page)).toHaveText('Nothing found');
      release();
      await page.unroute(FIND);
    });

    await test.step('offline', async () => {
      await page.keyboard.press('Escape');
      // Leaves by a button: a page load could unload the page before it has stored its copy of the day.
      await page.getByRole('button', { name: 'Go to today' }).click();
      await expect(editor(page)).toHaveAccessibleName(`Log for ${labelOf(today())}`);
      await context.setOffline(true);
      await editor(page).click();
      await page.keyboard.type('a pencil on paper');
      await openFind(page);
      await page.keyboard.type('pencil');
      await expect(options(page)).toHaveText([
        `${labelOf(today())}Not saved yeta pencil on paper`,
        `${labelOf(daysAgo(2))}another pencil`,
      ]);
      await expect(outcome(page)).toHaveText('2 daysSearched on this device only: 2 days');
      await expect(dialog(page).getByRole('button', { name: 'Try again' })).toBeVisible();
      await context.setOffline(false);
      await expect(outcome(page)).toHaveText('2 days');
    });
  });
});
