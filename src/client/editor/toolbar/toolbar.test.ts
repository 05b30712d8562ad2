import { expect, test } from 'vitest';
import { positionToolbar } from './toolbar.tsx';

const TOOLBAR = { width: 240, height: 44 };
const WINDOW = { width: 1000, height: 700 };
const TOP_BAR_PX = 68;

test.each([
  [
    'above the middle of the selection',
    { left: 400, right: 500, top: 300, bottom: 320 },
    WINDOW,
    { left: 330, top: 248 },
  ],
  ['below it under the bar', { left: 400, right: 500, top: 100, bottom: 120 }, WINDOW, { left: 330, top: 128 }],
  ['inside the left edge', { left: 10, right: 40, top: 300, bottom: 320 }, WINDOW, { left: 8, top: 248 }],
  ['inside the right edge', { left: 950, right: 990, top: 300, bottom: 320 }, WINDOW, { left: 752, top: 248 }],
  [
    'at the top when the selection fills the window',
    { left: 0, right: 900, top: -500, bottom: 2000 },
    WINDOW,
    { left: 330, top: 68 },
  ],
  [
    'within 320 pixels',
    { left: 200, right: 310, top: 300, bottom: 320 },
    { width: 320, height: 600 },
    { left: 72, top: 248 },
  ],
])('places the toolbar %s', (_name, selection, viewport, position) => {
  expect(positionToolbar(selection, TOOLBAR, viewport, TOP_BAR_PX)).toEqual(position);
});
