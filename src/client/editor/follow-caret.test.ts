import { expect, test } from 'vitest';
import { scrollForCaret } from './follow-caret.ts';

const DESKTOP = { top: 68, bottom: 800 };
const PHONE_WITH_KEYBOARD = { top: 68, bottom: 346 };
const PHONE_ON_ITS_SIDE = { top: 68, bottom: 128 };
const NO_ROOM = { top: 68, bottom: 80 };

const lineAt = (top: number) => ({ top, bottom: top + 26 });

test.each([
  ['does not scroll for a line in the middle of the window', lineAt(400), DESKTOP, 0],
  ['does not scroll for a line at the lower margin', lineAt(694), DESKTOP, 0],
  ['moves a line out of the lower margin', lineAt(700), DESKTOP, 6],
  ['moves a line from below the window to the lower margin', lineAt(900), DESKTOP, 206],
  ['does not scroll for a line at the upper margin', lineAt(148), DESKTOP, 0],
  ['moves a line out of the upper margin', lineAt(140), DESKTOP, -8],
  ['moves a line from above the window to the upper margin', lineAt(-300), DESKTOP, -448],
  ['keeps a smaller margin above a keyboard', lineAt(320), PHONE_WITH_KEYBOARD, 42],
  ['does not scroll for a line at the smaller margin', lineAt(278), PHONE_WITH_KEYBOARD, 0],
  ['keeps a margin where two lines are visible', lineAt(110), PHONE_ON_ITS_SIDE, 14],
  ['shows the bottom of a line that does not fit', lineAt(60), NO_ROOM, 6],
  ['does not scroll once that bottom is visible', lineAt(54), NO_ROOM, 0],
])('%s', (_name, line, visible, pixels) => {
  expect(scrollForCaret(line, visible)).toBe(pixels);
});

test('does not scroll again after scrolling', () => {
  for (let height = 10; height < 900; height += 7) {
    const visible = { top: 68, bottom: 68 + height };
    for (let top = -500; top < 1500; top += 13) {
      const moved = top - scrollForCaret(lineAt(top), visible);
      expect(Math.abs(scrollForCaret(lineAt(moved), visible)), `${top} in ${height}`).toBeLessThanOrEqual(1);
    }
  }
});
