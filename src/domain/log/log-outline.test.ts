import { expect, test } from 'vitest';
import { firstDone, outlineText } from './log-outline.ts';

const list = '<ol><li><p>Shipped billing</p></li></ol>';

test.each([
  ['a heading', `<h2>Work</h2>${list}`, 'Shipped billing'],
  ['several headings', `<h1>Week 47</h1><h3>Work</h3>${list}<p>Slept</p>`, 'Shipped billing'],
  ['a paragraph that announces the list', `<p>Morning:</p>${list}`, 'Shipped billing'],
  [
    'the date header of the stored log',
    `<h2 class="date-header">Friday - November 20, 2026</h2>${list}`,
    'Shipped billing',
  ],
  ['an item with a colon, which is an item', '<ol><li><p>Fixed:</p><ul><li><p>a bug</p></li></ul></li></ol>', 'Fixed:'],
  ['nothing but a heading, which is all there is', '<h2>Shipped billing</h2>', 'Shipped billing'],
  ['an announcement of nothing', '<p>Morning:</p>', 'Morning:'],
  ['blank lines', `<h2> </h2><p> </p>${list}`, 'Shipped billing'],
  ['no text', '<ol><li><p></p></li></ol>', null],
])('the first thing done stands after %s', (_what, html, expected) => {
  expect(firstDone(html)).toBe(expected);
});

test('headings are marked in the text of a log', () => {
  expect(outlineText(`<h2>Work</h2>${list}<p> </p><p>Slept &amp; ate</p>`)).toBe(
    '# Work\nShipped billing\nSlept & ate',
  );
});
