/** The reviews and the calendar on paper, with forced colours, in both themes, and the year map on a phone. */
import type { Locator, Page } from '@playwright/test';
import { analyseElsewhere, GOOD_DAY, test } from '../support/coach.ts';
import { dayLabel, daysAgo, editor, log, storeLog, today } from '../support/journal.ts';
import { expect } from '../support/test.ts';

const map = (page: Page): Locator => page.getByRole('grid', { name: /^Logs of the last twelve months/ });
const cell = (page: Page, shade: string): Locator => map(page).locator(`[data-shade=${shade}]`).last();

/** The luminance (WCAG 2) of a colour that is not forced. */
const luminanceOf = (element: Locator, property: 'backgroundColor' | 'boxShadow') =>
  element
    .evaluate((node, name) => {
      const [color = 'white'] = /^\w+\([^)]*\)/.exec(getComputedStyle(node)[name]) ?? [];
      const context = new OffscreenCanvas(1, 1).getContext('2d')!;
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data];
    }, property)
    .then(toLuminance);

/** The luminance of the pixel in the middle of an element. Computed styles do not say which colours are forced. */
async function paintedLuminance(element: Locator): Promise<number> {
  const png = [...(await element.screenshot())];
  const pixel = await element.page().evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
    context.drawImage(image, 0, 0);
    return [...context.getImageData(image.width >> 1, image.height >> 1, 1, 1).data];
  }, png);
  return toLuminance(pixel);
}

function toLuminance(pixel: readonly number[]): number {
  const [red, green, blue] = pixel.map((byte) => {
    const part = byte / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

test('a printed review fits the paper, keeps the shades of its year, and has no controls', async ({
  page,
  seedCloser,
  openAs,
  request,
}) => {
  const account = await seedCloser(log(...GOOD_DAY));
  await storeLog(request, account.session, daysAgo(1), log(...GOOD_DAY));
  await analyseElsewhere(request, account.session, today());
  await openAs(page, account, '/reviews');
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeEnabled();
  await page.emulateMedia({ media: 'print' });
  // The narrowest paper: A4 with margins of 20 mm.
  await page.setViewportSize({ width: 642, height: 900 });
  await expect
    .poll(() => map(page).evaluate(({ parentElement: box }) => box!.scrollWidth - box!.clientWidth))
    .toBeLessThanOrEqual(0);
  // A browser lays out the pages with the width that the plot was measured with on the screen.
  const plot = page.getByRole('group', { name: /^HustleScores by day/ });
  await plot.evaluate((svg) => svg.setAttribute('width', '1200'));
  await expect.poll(async () => (await plot.boundingBox())!.width).toBeLessThanOrEqual(642);
  await expect(cell(page, 'log')).toHaveCSS('print-color-adjust', 'exact');
  for (const part of await page.locator('section:has(> div > h2, > h2)').all())
    if ((await part.getAttribute('aria-labelledby')) !== null) await expect(part).toHaveCSS('break-inside', 'avoid');
  for (const role of ['button', 'radio'] as const) await expect(page.getByRole(role)).toHaveCount(0);
  await expect(page.getByRole('link', { name: /^Wins:|on one page$/ })).toHaveCount(0);
  await expect(page.getByText('Last 7 Days')).toBeVisible();
  await expect(page.getByText('Last 30 Days')).toBeHidden();
  await expect(page.getByText('Kept reviews')).toBeHidden();
  await expect(page.locator('body')).toHaveCSS('caret-color', 'rgba(0, 0, 0, 0)');
});

test('forced colours show the shades of the year, the dots of the calendar and the selected day', async ({
  page,
  seedCloser,
  openAs,
  request,
}) => {
  const account = await seedCloser(log(...GOOD_DAY));
  await storeLog(request, account.session, daysAgo(1), log(...GOOD_DAY));
  await analyseElsewhere(request, account.session, today());
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'active', colorScheme, reducedMotion: 'reduce' });
    await openAs(page, account, '/reviews');
    const paintedContrast = async (one: Locator, other: Locator): Promise<number> =>
      contrast(await paintedLuminance(one), await paintedLuminance(other));
    await expect.poll(() => paintedContrast(cell(page, 'none'), cell(page, 'log'))).toBeGreaterThan(1.9);
    const scored = map(page).locator('[data-today]');
    await expect.poll(() => paintedContrast(cell(page, 'log'), scored)).toBeGreaterThan(1.3);
    const empty = await paintedLuminance(cell(page, 'none'));
    await page.goto('/journal');
    await expect(editor(page)).toBeVisible();
    await dayLabel(page).click();
    const selected = page.getByRole('gridcell', { selected: true }).getByRole('button');
    const dot = selected.locator('span > span:empty');
    await expect.poll(async () => contrast(empty, await paintedLuminance(dot))).toBeGreaterThan(4.5);
    await page.getByRole('gridcell', { selected: false }).getByRole('button').first().focus();
    await expect(selected).toHaveCSS('outline-style', 'solid');
  }
});

test('the year tells logged days from empty ones in both themes, and cuts no name of a month on a phone', async ({
  page,
  seedCloser,
  openAs,
}) => {
  const account = await seedCloser(log(...GOOD_DAY));
  await page.setViewportSize({ width: 360, height: 620 });
  await openAs(page, account, '/reviews');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme);
    const borderContrast = async (): Promise<number> =>
      contrast(
        await luminanceOf(cell(page, 'none'), 'boxShadow'),
        await luminanceOf(cell(page, 'log'), 'backgroundColor'),
      );
    await expect.poll(borderContrast).toBeGreaterThan(1.35);
  }
  /** The visible names that an edge of the box, or the column of weekdays, cuts. */
  const cutNames = (scrollLeft: number) =>
    map(page).evaluate(async (grid, left) => {
      const box = grid.parentElement!;
      box.scrollLeft = left;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const range = document.createRange();
      const start = grid.querySelector('[role=rowheader]')!.getBoundingClientRect().right;
      const end = box.getBoundingClientRect().right;
      const names = [...box.firstElementChild!.querySelectorAll('span')].filter(
        (name) =>
          name.childElementCount === 0 && name.textContent !== '' && name.checkVisibility({ visibilityProperty: true }),
      );
      return names.flatMap((name) => {
        range.selectNodeContents(name);
        const { left: from, right: to } = range.getBoundingClientRect();
        return (from < start - 1 && to > start) || (from < end && to > end + 1) ? [name.textContent] : [];
      });
    }, scrollLeft);
  for (let left = 0; left <= 320; left += 8) await expect.poll(() => cutNames(left), `scrolled to ${left}`).toEqual([]);
});
