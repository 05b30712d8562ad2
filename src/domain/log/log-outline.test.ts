import { expect, test } from 'vitest';
import { firstReportedLine, outlineText, summarizeLog } from './log-outline.ts';

const list = '<ol><li><p>Shipped billing</p></li></ol>';

test.each([
  ['a heading', `<h2>Work</h2>${list}`, 'Shipped billing'],
  ['several headings', `<h1>Week 47</h1><h3>Work</h3>${list}<p>Slept</p>`, 'Shipped billing'],
  ['a lead-in', `<p>Morning:</p>${list}`, 'Shipped billing'],
  [
    'the date header of the stored log',
    `<h2 class="date-header">Friday - November 20, 2026</h2>${list}`,
    'Shipped billing',
  ],
  [
    'no lead-in, because an item may end in a colon',
    '<ol><li><p>Fixed:</p><ul><li><p>a bug</p></li></ul></li></ol>',
    'Fixed:',
  ],
  ['nothing, in a log of a heading only', '<h2>Shipped billing</h2>', 'Shipped billing'],
  ['nothing, if no line follows the lead-in', '<p>Morning:</p>', 'Morning:'],
  ['blank lines', `<h2> </h2><p> </p>${list}`, 'Shipped billing'],
  ['no text', '<ol><li><p></p></li></ol>', null],
])('the first reported line comes after %s', (_what, html, expected) => {
  expect(firstReportedLine(html)).toBe(expected);
});

test('outlineText marks headings with #', () => {
  expect(outlineText(`<h2>Work</h2>${list}<p> </p><p>Slept &amp; ate</p>`)).toBe(
    '# Work\nShipped billing\nSlept & ate',
  );
});

test.each([
  ['one item', list, { first: 'Shipped billing', more: 0 }],
  [
    'headings, lead-ins and items within items',
    '<h2>Work</h2><p>Morning:</p><ol><li><p>Shipped billing</p><ul><li><p>all of it</p></li></ul></li><li><p>Slept</p></li></ol><p>Ate</p>',
    { first: 'Shipped billing', more: 2 },
  ],
  ['a heading alone', '<h2>Shipped billing</h2>', { first: 'Shipped billing', more: 0 }],
  ['no text', '<p> </p>', null],
])('summarizeLog counts the further lines of a log with %s', (_what, html, expected) => {
  expect(summarizeLog(html)).toEqual(expected);
});
