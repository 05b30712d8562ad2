/** The line with the caret stays visible: above the formatting bar and the keyboard, away from the window's edges. */
import type { Page } from '@playwright/test';
import { daysAgo, editor, items, log, today } from '../support/journal.ts';
import { expect, test } from '../support/test.ts';

const LINES = Array.from({ length: 40 }, (_, line) => `line ${line}`);

/** Free pixels above the caret's line, up to the day bar, and below it, down to the formatting bar or the window's edge. */
const roomAround = (page: Page) =>
  page.evaluate(() => {
    const { focusNode, focusOffset } = getSelection()!;
    if (focusNode === null) return { above: -Infinity, below: -Infinity };
    const at = new Range();
    at.setStart(focusNode, focusOffset);
    const element = focusNode instanceof Element ? focusNode : focusNode.parentElement!;
    const { top, bottom } = at.getClientRects()[0] ?? element.getBoundingClientRect();
    const { offsetTop, height } = visualViewport!;
    const foot = document.querySelector('[role=toolbar]')?.getBoundingClientRect().top ?? Infinity;
    return { above: top - 68, below: Math.min(foot, offsetTop + height) - bottom };
  });

const expectRoom = async (page: Page, pixels: number): Promise<void> => {
  const room = async () => Math.min(...Object.values(await roomAround(page)));
  await expect.poll(room, 'free pixels around the caret').toBeGreaterThanOrEqual(pixels);
};

const scrollTop = (page: Page) => page.evaluate(() => Math.round(scrollY));

/**
 * Scrolls down by touch, and waits for the end of the scroll. The events are a second apart by their timestamps, so no
 * fling follows, whose length would depend on the machine's speed.
 */
async function drag(page: Page, pixels: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  let timestamp = Date.now() / 1000;
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints, timestamp: timestamp++ });
  await touch('touchStart', { x: 200, y: 400 });
  for (let moved = 20; moved <= pixels; moved += 20) await touch('touchMove', { x: 200, y: 400 - moved });
  const scroll = await page.evaluateHandle(() => ({
    end: new Promise((resolve) => addEventListener('scrollend', resolve, { once: true })),
  }));
  await touch('touchEnd');
  await scroll.evaluate(({ end }) => end);
}

/**
 * Replaces `visualViewport` to simulate a keyboard that overlays the page, as on iOS: the visual viewport shrinks and
 * the window keeps its size. Desktop browsers have no such keyboard.
 */
function simulateKeyboard(): void {
  class Viewport extends EventTarget {
    offsetTop = 0;
    offsetLeft = 0;
    scale = 1;
    keyboard = 0;
    get width(): number {
      return innerWidth;
    }
    get height(): number {
      return innerHeight - this.keyboard;
    }
  }
  const value = new Viewport();
  Object.defineProperty(window, 'visualViewport', { value });
  addEventListener('resize', () => value.dispatchEvent(new Event('resize')));
}

const openKeyboard = (page: Page, height: number): Promise<void> =>
  page.evaluate((pixels) => {
    Object.assign(visualViewport!, { keyboard: pixels });
    visualViewport!.dispatchEvent(new Event('resize'));
  }, height);

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

  test('the line with the caret stays above the formatting bar when the keyboard resizes the window', async ({
    page,
    signUp,
  }) => {
    await signUp(page);
    await editor(page).tap();
    for (const [height, lines] of [
      [470, 11],
      [400, 3],
      [700, 4],
    ] as const) {
      await page.setViewportSize({ width: 390, height });
      await expectRoom(page, 30);
      for (const line of LINES.slice(0, lines)) {
        await page.keyboard.insertText(line);
        await page.keyboard.press('Enter');
        await expect.poll(async () => (await roomAround(page)).below, `at ${height} px`).toBeGreaterThanOrEqual(30);
      }
    }
    for (let line = 0; line < 18; line++) {
      await page.keyboard.press('ArrowUp');
      await expectRoom(page, 0);
    }
  });

  test('the line with the caret stays above an overlaid keyboard, after rotation and until the user scrolls away', async ({
    page,
    signUp,
  }) => {
    await page.addInitScript(simulateKeyboard);
    await signUp(page, { logs: { [today()]: log(...LINES) } });

    await items(page).nth(13).tap();
    // A keyboard opens once the editor has the focus, which a busy browser gives it after the tap.
    await expect(editor(page)).toBeFocused();
    await openKeyboard(page, 330);
    await expectRoom(page, 30);
    await page.keyboard.press('ControlOrMeta+End');
    await expectRoom(page, 30);
    await page.keyboard.press('Enter');
    await page.keyboard.insertText('last');
    await expectRoom(page, 30);

    await page.setViewportSize({ width: 760, height: 390 });
    await openKeyboard(page, 170);
    await expectRoom(page, 3);
    await page.setViewportSize({ width: 390, height: 760 });
    await openKeyboard(page, 330);
    await expectRoom(page, 30);

    await test.step('the user scrolls away from the caret', async () => {
      await page.keyboard.press('ControlOrMeta+Home');
      await expectRoom(page, 30);
      await openKeyboard(page, 0);
      await items(page).nth(4).tap();
      await openKeyboard(page, 330);
      await expectRoom(page, 30);
      await drag(page, 320);
      const place = await scrollTop(page);
      expect(place).toBeGreaterThan(250);
      // The browser's own bar shrinks the visual viewport further, then the keyboard closes. Neither resize may scroll.
      await openKeyboard(page, 380);
      await openKeyboard(page, 0);
      expect(await scrollTop(page)).toBe(place);

      await page.keyboard.insertText('more ');
      await expectRoom(page, 30);
      await expect.poll(() => scrollTop(page)).toBeLessThan(place);
    });
  });

  test('a tap on the empty part of the page focuses the editor, a touch scroll and a quick option do not', async ({
    page,
    signUp,
  }) => {
    await page.setViewportSize({ width: 390, height: 500 });
    await signUp(page, { path: `/journal?date=${daysAgo(1)}` });
    await expect(editor(page)).toBeVisible();
    await drag(page, 320);
    await page.getByRole('button', { name: 'Had a lazy day' }).tap();
    await expect(items(page)).toHaveText(['Had a lazy day']);
    await expect(editor(page)).not.toBeFocused();

    await page
      .getByRole('main')
      .tap({ position: { x: 200, y: (await page.getByRole('main').boundingBox())!.height - 20 } });
    await expect(editor(page)).toBeFocused();
    await page.keyboard.insertText(' in bed');
    await expect(items(page)).toHaveText(['Had a lazy day in bed']);
  });
});

test('the line with the caret keeps its distance from the edges of a desktop window', async ({ page, signUp }) => {
  await page.setViewportSize({ width: 1280, height: 600 });
  await signUp(page, { logs: { [today()]: log(...LINES.slice(0, 20)) } });
  await page.keyboard.press('ControlOrMeta+End');
  for (const line of LINES.slice(20, 25)) {
    await page.keyboard.press('Enter');
    await page.keyboard.insertText(line);
  }
  await expectRoom(page, 60);
  // The page does not scroll while the line has enough room.
  const place = await scrollTop(page);
  await page.keyboard.type('words on one line');
  await page.keyboard.press('ArrowUp');
  expect(await scrollTop(page)).toBe(place);
  await page.keyboard.press('ControlOrMeta+Home');
  await expectRoom(page, 0);
});
