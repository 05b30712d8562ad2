/** The presentation of the journal: themes, small screens, touch, reduced motion, print. */
import type { Page } from '@playwright/test';
import {
  dayLabel,
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  paste,
  readStoredLog,
  sessionOf,
  today,
} from '../support/journal.ts';
import { expect, test } from '../support/test.ts';

test('the journal, its toolbar and its calendar fit 320 pixels, and the arrows of the day bar have a fixed place', async ({
  page,
  signUp,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await signUp(page, { isCloser: true });
  await page.keyboard.insertText(`${'averyveryverylongword'.repeat(4)} and more`);
  await page.keyboard.press('Shift+Home');
  const toolbar = page.getByRole('toolbar');
  await expect(toolbar).toBeVisible();
  await toolbar.getByRole('button', { name: 'More formatting' }).click();
  const fits = () =>
    toolbar.evaluate((bar) => {
      const { left, right } = bar.getBoundingClientRect();
      return left >= 0 && right <= 320;
    });
  await expect.poll(fits).toBe(true);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await expect.poll(width).toBeLessThanOrEqual(320);
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(page.getByRole('region', { name: 'Quick options for this day:' })).toBeVisible();
  await expect.poll(width).toBeLessThanOrEqual(320);
  await dayLabel(page).click();
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
  await expect.poll(width).toBeLessThanOrEqual(320);
  await page.keyboard.press('Escape');

  await test.step('the place of the arrows is the same for every date', () => expectFixedArrows(page));
});

/** The number of lines that the date in the day bar takes, without the weekday before it. */
const linesOfDate = (page: Page): Promise<number> =>
  page.getByRole('heading', { level: 1 }).evaluate((heading) => {
    const texts = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
    let text = texts.nextNode()!;
    for (let next = texts.nextNode(); next; next = texts.nextNode()) text = next;
    const range = document.createRange();
    range.setStart(text, text.textContent!.search(/\w+ \d+, /));
    range.setEnd(text, text.textContent!.length);
    return range.getClientRects().length;
  });

async function expectFixedArrows(page: Page): Promise<void> {
  const arrow = async (name: string) => {
    const box = await page.getByRole('button', { name }).boundingBox();
    return [box!.x, box!.y];
  };
  const places = new Map<number, Set<string>>([320, 360, 390, 768, 1280].map((width) => [width, new Set()]));
  for (const [date, label] of [
    ['2026-05-04', 'Monday - May 4, 2026'],
    ['2025-11-23', 'Sunday - November 23, 2025'],
    ['2026-09-30', 'Wednesday - September 30, 2026'],
  ] as const) {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Find words or a date' }).fill(date);
    await page.keyboard.press('Enter');
    await expect(dayLabel(page)).toHaveText(label);
    for (const [width, seen] of places) {
      await page.setViewportSize({ width, height: 700 });
      await expect(page.getByRole('button', { name: label, exact: true })).toBeInViewport({ ratio: 1 });
      expect(await linesOfDate(page), `lines of the date in ${label}`).toBe(1);
      seen.add(JSON.stringify([await arrow('Previous day'), await arrow('Next day')]));
    }
  }
  for (const [width, seen] of places) expect([...seen], `at ${width} px`).toHaveLength(1);
}

test.describe('on a touch screen', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

  test.describe('of 360 by 620 pixels', () => {
    test.use({ viewport: { width: 360, height: 620 } });

    test('the menu shows theme and Logout without scrolling, and the actions of the day have a menu of their own', async ({
      page,
      signUp,
      expectAccessible,
    }) => {
      await signUp(page, { logs: { [today()]: log('words') } });
      await page.getByRole('button', { name: 'Open menu' }).tap();
      const menu = page.getByRole('dialog', { name: 'Menu' });
      for (const name of ['Upgrade to Closer', 'Dark mode', 'Logout'])
        await expect(menu.getByRole('button', { name })).toBeInViewport({ ratio: 1 });
      expect(await menu.evaluate((element) => element.scrollHeight - element.clientHeight)).toBe(0);
      await page.keyboard.press('Escape');

      const actions = page.getByRole('button', { name: 'Actions for this day' });
      await actions.tap();
      const entries = page.getByRole('menuitem');
      await expect(entries).toHaveText(['Move this log to another day…', 'Earlier versions…', 'Deleted days…']);
      for (const entry of await entries.all()) await expect(entry).toBeInViewport({ ratio: 1 });
      await expect(entries.first()).toBeFocused();
      await expectAccessible(page);
      await page.keyboard.press('ArrowUp');
      await expect(entries.last()).toBeFocused();
      await page.keyboard.press('Escape');
      await expect(entries).toHaveCount(0);
      await expect(actions).toBeFocused();

      await actions.tap();
      await entries.nth(1).tap();
      await expect(page.getByRole('dialog', { name: 'Earlier versions' })).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(actions).toBeFocused();
    });
  });

  test('the toolbar stays at the foot of the screen, and the header hides while the page scrolls down', async ({
    page,
    signUp,
  }) => {
    const lines = Array.from({ length: 40 }, (_, line) => `line ${line}`);
    await signUp(page, { logs: { [today()]: log(...lines) } });
    const toolbar = page.getByRole('toolbar', { name: 'Formatting' });
    await expect(toolbar).toBeHidden();
    await items(page).first().tap();
    await expect(toolbar).toBeVisible();
    const foot = () => toolbar.evaluate((bar) => Math.round(bar.getBoundingClientRect().bottom));
    await expect.poll(foot).toBe(760);
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    await toolbar.getByRole('button', { name: 'Bold' }).tap();
    await expect(editor(page).locator('strong')).toHaveText('line 0');
    await expect(editor(page)).toBeFocused();

    const button = (name: string) => toolbar.getByRole('button', { name, exact: true });
    await expect(button('Indent')).toHaveAttribute('aria-disabled', 'true');
    await button('Undo').tap();
    await expect(editor(page).locator('strong')).toHaveCount(0);
    await button('Redo').tap();
    await expect(editor(page).locator('strong')).toHaveText('line 0');
    await items(page).nth(1).tap();
    await button('Indent').tap();
    await expect(editor(page).locator('li li')).toHaveText(['line 1']);
    await button('Outdent').tap();
    await expect(editor(page).locator('li li')).toHaveCount(0);
    await expect(editor(page)).toBeFocused();

    await expect(toolbar).toHaveAttribute('data-more', 'after');
    await button('Code block').scrollIntoViewIfNeeded();
    await expect(toolbar).toHaveAttribute('data-more', 'before');
    await button('Indent').scrollIntoViewIfNeeded();
    await expect(toolbar).toHaveAttribute('data-more', 'after');

    await page.evaluate(() => scrollTo(0, 0));
    const header = page.getByRole('banner');
    await expect(header).toBeInViewport();
    await page.evaluate(() => scrollTo(0, 400));
    await expect(header).not.toBeInViewport();
    await page.evaluate(() => scrollTo(0, 200));
    await expect(header).toBeInViewport();
  });
});

test('a right-to-left item has its number on its own side, in the editor and in print', async ({ page, signUp }) => {
  const nested = '<li><p>שלום</p><ul><li><p>ילד</p></li></ul></li>';
  await signUp(page, {
    logs: { [today()]: `<ol><li><p>words</p></li>${nested}</ol><blockquote><p>ציטוט</p></blockquote>` },
  });
  /** The space for the number at the left and the right of each item, and the side of the quote's line. */
  const sides = () =>
    editor(page).evaluate((text) => [
      ...[...text.querySelectorAll('li')].map((item) => {
        const { marginLeft, marginRight, direction } = getComputedStyle(item);
        return [direction, parseFloat(marginLeft) > 0, parseFloat(marginRight) > 0];
      }),
      getComputedStyle(text.querySelector('blockquote')!).borderRightStyle,
    ]);
  const expected = [['ltr', true, false], ['rtl', false, true], ['rtl', false, true], 'solid'];
  await expect(items(page)).toHaveText(['words', /שלום/, 'ילד']);
  expect(await sides()).toEqual(expected);
  await page.emulateMedia({ media: 'print' });
  expect(await sides()).toEqual(expected);
  await page.emulateMedia({ media: 'screen' });
  // The direction is the page's and not the log's.
  await items(page).first().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' more');
  await expectSaved(page);
  await expect
    .poll(async () => readStoredLog(page.request, await sessionOf(page), today()))
    .toBe(`<ol><li><p>words more</p></li>${nested}</ol><blockquote><p>ציטוט</p></blockquote>`);

  // An item takes its direction as it is typed.
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('עברית');
  await expect.poll(async () => (await sides())[1]).toEqual(['rtl', false, true]);
});

test('an item is indented by its level, also below items of the other direction', async ({ page, signUp }) => {
  const nest = ([text, ...inner]: string[]): string =>
    text === undefined ? '' : `<ol><li><p>${text}</p>${nest(inner)}</li></ol>`;
  const chains = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [4, 2, 1].map((bit) => (bits & bit ? 'שלום' : 'words')));
  await signUp(page, { logs: { [today()]: chains.map(nest).join('<p>between</p>') } });
  await expect(items(page)).toHaveCount(24);
  /** For each item its level and the pixels between the edge of the log and its text, on the side where the text begins. */
  const indents = await editor(page).evaluate((text) =>
    [...text.querySelectorAll('li')].map((item) => {
      let level = 0;
      for (let outer: Element | null = item; outer !== text; outer = outer!.parentElement)
        if (outer!.localName === 'li') level += 1;
      const [edge, line] = [text.getBoundingClientRect(), item.firstElementChild!.getBoundingClientRect()];
      const isLtr = getComputedStyle(item).direction === 'ltr';
      return `${level}: ${Math.round(isLtr ? line.left - edge.left : edge.right - line.right)}`;
    }),
  );
  expect([...new Set(indents)].map((indent) => indent.slice(0, 2)).sort()).toEqual(['1:', '2:', '3:']);
});

test('the print of a day has its label and its words, and the print of a screen has no controls', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await signUp(page);
  await page.keyboard.type('on paper');
  await expectSaved(page);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(items(page)).toBeVisible();
  for (const name of ['Open menu', 'Previous day', 'Open feedback'])
    await expect(page.getByRole('button', { name })).toBeHidden();
  await expect(page.getByText(/^Saved/)).toBeHidden();
  await page.emulateMedia({ media: 'screen' });

  await paste(page, { 'text/html': '<pre><code>const dark = false;</code></pre><p>and <code>code</code></p>' });
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Find' })).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('Escape');
  // The print is dark on light: the colours of the dark theme would have no contrast on paper.
  await expectAccessible(page);

  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Profile' }).click();
  await expect(page.getByRole('button', { name: 'Update Profile' })).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('heading', { level: 1, name: 'Profile' })).toBeVisible();
  for (const name of ['Update Profile', 'Upgrade to Closer'])
    await expect(page.getByRole('button', { name })).toBeHidden();
  await expect(page.getByRole('link', { name: 'Back to Journal' })).toBeHidden();
});

test('a long day scrolls under the "Go to today" button, never through it', async ({ page, signUp }) => {
  const lines = Array.from({ length: 60 }, (_, line) => `line ${line} of a day that is longer than its window`);
  await signUp(page, { path: `/journal?date=${daysAgo(3)}`, logs: { [daysAgo(3)]: log(...lines) } });
  await expect(editor(page)).toBeVisible();
  const pill = page.getByRole('button', { name: 'Go to today' });
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 760 });
    // Scrolled and measured in one step: the day may still be sliding in, and the editor may still scroll to its caret.
    const gap = () =>
      pill.evaluate((button) => {
        scrollTo(0, 0);
        const text = document.querySelector('.ProseMirror')!;
        return text.getBoundingClientRect().top - button.getBoundingClientRect().bottom;
      });
    await expect.poll(gap).toBeGreaterThan(0);

    await page.mouse.move(width / 2, 500);
    await page.mouse.wheel(0, 900);
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(500);
    await page.mouse.wheel(0, -100);
    await expect(pill).toBeInViewport();
    // The header is as wide as the page, covers the whole button and is opaque.
    const header = page.getByRole('banner');
    await expect(header).toHaveCSS('opacity', '1');
    await expect(header).not.toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
    // Measured in one step: the header may still be sliding in.
    const [outer, inner] = await pill.evaluate((button) => {
      const boxOf = (element: Element) => element.getBoundingClientRect();
      return [boxOf(button.closest('header')!), boxOf(button)] as const;
    });
    expect(outer.width).toBeGreaterThanOrEqual(width - 20);
    expect(inner.top).toBeGreaterThanOrEqual(outer.top);
    expect(inner.bottom).toBeLessThanOrEqual(outer.bottom);
  }
});
