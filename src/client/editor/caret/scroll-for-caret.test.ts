/** The caret's line keeps a margin from whatever covers the page, and the page moves only when it has to. */
import { expect, test } from 'vitest';
import { scrollForCaret } from './scroll-for-caret.ts';

const DESKTOP = { top: 68, bottom: 800 };
const PHONE_WITH_KEYBOARD = { top: 68, bottom: 346 };
const PHONE_ON_ITS_SIDE = { top: 68, bottom: 128 };
const NO_ROOM = { top: 68, bottom: 80 };

const lineAt = (top: number) => ({ top, bottom: top + 26 });

test.each([
  ['stays where it is in the middle of the window', lineAt(400), DESKTOP, 0],
  ['stays where it is at the lower margin', lineAt(694), DESKTOP, 0],
  ['moves a line out of the lower margin', lineAt(700), DESKTOP, 6],
  ['moves a line from below the window to the lower margin', lineAt(900), DESKTOP, 206],
  ['stays where it is at the upper margin', lineAt(148), DESKTOP, 0],
  ['moves a line out of the upper margin', lineAt(140), DESKTOP, -8],
  ['moves a line from above the window to the upper margin', lineAt(-300), DESKTOP, -448],
  ['keeps a smaller margin above a keyboard', lineAt(320), PHONE_WITH_KEYBOARD, 42],
  ['moves nothing once that margin is there', lineAt(278), PHONE_WITH_KEYBOARD, 0],
  ['keeps a margin where two lines are visible', lineAt(110), PHONE_ON_ITS_SIDE, 14],
  ['shows the foot of a line that does not fit', lineAt(60), NO_ROOM, 6],
  ['moves nothing once that foot is shown', lineAt(54), NO_ROOM, 0],
])('%s', (_name, line, visible, pixels) => {
  expect(scrollForCaret(line, visible)).toBe(pixels);
});

test('a line that was moved is not moved again', () => {
  for (let height = 10; height < 900; height += 7) {
    const visible = { top: 68, bottom: 68 + height };
    for (let top = -500; top < 1500; top += 13) {
      const moved = top - scrollForCaret(lineAt(top), visible);
      expect(Math.abs(scrollForCaret(lineAt(moved), visible)), `${top} in ${height}`).toBeLessThanOrEqual(1);
    }
  }
});
