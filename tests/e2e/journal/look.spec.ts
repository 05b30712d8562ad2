/** The presentation of the journal: themes, small screens, touch, reduced motion, print. */
import type { Page } from '@playwright/test';
import { day } from '#domain/day/day.ts';
import { daysAgo, editor, expectSaved, items, log, openDay, paste, sessionOf, storeLog } from '../support/journal.ts';
import { inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

test('the journal is accessible in both themes, and a new day has no animation with reduced motion', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await signUp(page);
  await page.keyboard.type('words to select');
  await page.keyboard.press('Shift+Home');
  await expect(page.getByRole('toolbar')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(items(page)).toHaveText(['']);
  const animation = await page.getByRole('article').evaluate((element) => getComputedStyle(element).animationName);
  expect(animation).toBe('none');
  await inBothThemes(page, expectAccessible);
});

test('the journal, its toolbar and its calendar fit 320 pixels', async ({ page, signUp }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await signUp(page);
  await page.keyboard.type(`${'averyveryverylongword'.repeat(4)} and more`);
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
  await openDay(page, daysAgo(1));
  await expect.poll(width).toBeLessThanOrEqual(320);
  await page.getByRole('heading', { level: 1 }).getByRole('button').click();
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
  await expect.poll(width).toBeLessThanOrEqual(320);
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

test('the arrows of the day bar have the same place for every date', async ({ page, signUp, admin }) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  const arrow = async (name: string) => {
    const box = await page.getByRole('button', { name }).boundingBox();
    return [box!.x, box!.y];
  };
  const places = new Map<number, Set<string>>([320, 360, 390].map((width) => [width, new Set()]));
  for (const [date, label] of [
    ['2026-05-04', 'Monday - May 4, 2026'],
    ['2025-11-23', 'Sunday - November 23, 2025'],
    ['2026-09-30', 'Wednesday - September 30, 2026'],
  ] as const) {
    await openDay(page, day(date));
    for (const [width, seen] of places) {
      await page.setViewportSize({ width, height: 700 });
      await expect(page.getByRole('button', { name: label, exact: true })).toBeInViewport({ ratio: 1 });
      expect(await linesOfDate(page), `lines of the date in ${label}`).toBe(1);
      seen.add(JSON.stringify([await arrow('Previous day'), await arrow('Next day')]));
    }
  }
  for (const [width, seen] of places) expect([...seen], `at ${width} px`).toHaveLength(1);
});

test.describe('on a touch screen', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

  test('the toolbar stays at the foot of the screen, and the header hides while the page scrolls down', async ({
    page,
    signUp,
  }) => {
    await signUp(page);
    const toolbar = page.getByRole('toolbar', { name: 'Formatting' });
    await expect(toolbar).toBeHidden();
    await editor(page).tap();
    await expect(toolbar).toBeVisible();
    const foot = () => toolbar.evaluate((bar) => Math.round(bar.getBoundingClientRect().bottom));
    await expect.poll(foot).toBe(760);
    await page.keyboard.type('bold');
    await page.keyboard.press('ControlOrMeta+a');
    await toolbar.getByRole('button', { name: 'Bold' }).tap();
    await expect(editor(page).locator('strong')).toHaveText('bold');
    await expect(editor(page)).toBeFocused();

    await page.keyboard.press('End');
    await page.keyboard.type('\nline'.repeat(40));
    await page.evaluate(() => scrollTo(0, 0));
    const header = page.getByRole('banner');
    await expect(header).toBeInViewport();
    await page.evaluate(() => scrollTo(0, 400));
    await expect(header).not.toBeInViewport();
    await page.evaluate(() => scrollTo(0, 200));
    await expect(header).toBeInViewport();
  });
});

test('the bars fade after three seconds of writing and return with the pointer', async ({ page, signUp }) => {
  await page.clock.install();
  await signUp(page);
  const opacity = () => page.getByRole('banner').evaluate((bar) => getComputedStyle(bar.firstElementChild!).opacity);
  for (const word of ['one ', 'two ', 'three ', 'four ', 'five ']) {
    await page.keyboard.type(word);
    await page.clock.runFor(1_000);
  }
  await expect.poll(opacity).toBe('0.4');
  await page.mouse.move(200, 200);
  await page.mouse.move(210, 210);
  await expect.poll(opacity).toBe('1');
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

  await openDay(page, daysAgo(1));
  await editor(page).click();
  await paste(page, { 'text/html': '<pre><code>const dark = false;</code></pre><p>and <code>code</code></p>' });
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Find' })).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('Escape');
  // The print is dark on light: the colours of the dark theme would have no contrast on paper.
  await expectAccessible(page);

  await page.emulateMedia({ media: 'screen' });
  await page.goto('/profile');
  await expect(page.getByRole('button', { name: 'Update Profile' })).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('heading', { level: 1, name: 'Profile' })).toBeVisible();
  for (const name of ['Update Profile', 'Upgrade to Closer'])
    await expect(page.getByRole('button', { name })).toBeHidden();
  await expect(page.getByRole('link', { name: 'Back to Journal' })).toBeHidden();
});

test('a long day scrolls under the "Go to today" button, never through it', async ({ page, signUp, request }) => {
  const lines = Array.from({ length: 60 }, (_, line) => `line ${line} of a day that is longer than its window`);
  await signUp(page);
  await storeLog(request, await sessionOf(page), daysAgo(3), log(...lines));
  await openDay(page, daysAgo(3));
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
