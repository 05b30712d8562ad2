// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { preventFileDrops } from './prevent-file-drops.ts';

function isPrevented(name: string, type: string): boolean {
  const event = new Event(name, { bubbles: true, cancelable: true });
  document.body.dispatchEvent(Object.assign(event, { dataTransfer: { types: [type] } }));
  return event.defaultPrevented;
}

test('a dropped file does not replace the page, and text is dropped as before', () => {
  const names = ['dragover', 'drop'];
  expect(names.map((name) => isPrevented(name, 'Files'))).toEqual([false, false]);
  preventFileDrops();
  expect(names.map((name) => isPrevented(name, 'Files'))).toEqual([true, true]);
  expect(names.map((name) => isPrevented(name, 'text/plain'))).toEqual([false, false]);
});
