/** SQL (`entry_text`) and the domain (`entryText`) convert HTML to plain text by the same rule. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { entryText } from '#domain/log/entry-text.ts';

import { unicodeText } from '../support/unicode-text.ts';
import { fuzzBudget } from '../support/fuzz-budget.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

const db = setUpTestDatabase();

async function textsInDatabase(contents: string[]): Promise<string[]> {
  const { rows } = await db.admin.query<{ text: string }>(
    'select public.entry_text(html) as text from unnest($1::text[]) with ordinality as sent (html, position) order by position',
    [contents],
  );
  return rows.map(({ text }) => text);
}

const ROWS = [
  '',
  '<p>Did nothing today</p>',
  '<h2 class="date-header">Saturday - November 21, 2026</h2><p>Shipped</p>',
  '<p>before</p><h2 class="date-header">not the first element</h2>',
  '<h2 class="date-header">two\nlines</h2><p>x</p>',
  '<ol><li><p>one</p></li><li><p>two</p></li></ol><p>end</p>',
  '<p>a<br>b<br></p>',
  '<p>&amp;lt; &lt;p&gt; &quot;&#39;&nbsp;&copy;</p>',
  '<p>a\r\n\r\n \n\tb</p>',
  '\t\n <p> a </p> \u00a0',
  '<<p>><a<b>c>',
  'a<</p></li><li><p>b>c',
  '<h2 class="date-header">a>b</h2>c<ol><li><p>d</p></li><li><p>e</p><p>f</p></li></ol><p>g</p>',
  '<p title="a>b">x</p>',
  '<P>upper</P>',
  'שלום e\u0301 👩‍👩‍👧 \u2028\u0085',
  '\\1 \\& $1 $& \\',
];

test('SQL and the domain return the same text for example logs', async () => {
  expect(await textsInDatabase(ROWS)).toEqual(ROWS.map(entryText));
});

/**
 * A token that the conversion to plain text handles, or a short random string. Excludes NUL and lone surrogates, which
 * PostgreSQL cannot store.
 */
const piece = fc.oneof(
  fc.constantFrom(
    '<h2 class="date-header">',
    '</h2>',
    '<p>',
    '</p>',
    '<br>',
    '<li>',
    '</li>',
    '</ol>',
    '</pre>',
    '</p></li><li><p>',
    '</p><p>',
    '<',
    '>',
  ),
  fc.constantFrom(
    '&lt;',
    '&gt;',
    '&amp;',
    '&quot;',
    '&#39;',
    '&nbsp;',
    '&',
    'lt;',
    ' ',
    '\n',
    '\r',
    '\t',
    '\u00a0',
    'é',
    '👍',
  ),
  unicodeText({ maxLength: 5 }).map((text) => text.replaceAll('\0', '')),
);
const pieces = fc.array(piece, { maxLength: 30 }).map((texts) => texts.join(''));
/** The usual form of a log, which the SQL function converts without a query, also with tags where it has none. */
const list = fc
  .tuple(fc.constantFrom('', 'A day', 'a>b', '<u>x'), pieces)
  .map(([day, items]) => `<h2 class="date-header">${day}</h2><ol><li><p>${items}</p></li></ol>`);
const log = fc.oneof(pieces, list);

test('SQL and the domain return the same text for random logs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(log, { minLength: 50, maxLength: 50 }), async (logs) => {
      expect(await textsInDatabase(logs)).toEqual(logs.map(entryText));
    }),
    { numRuns: fuzzBudget(40) },
  );
});

test('the database takes linear time on hostile logs', async () => {
  for (const html of ['<'.repeat(262_144), `${' '.repeat(262_143)}x`, '<p>'.repeat(87_000), '\n \n'.repeat(80_000)]) {
    // Quadratic time would exceed the statement timeout.
    expect(await textsInDatabase([html])).toEqual([entryText(html)]);
  }
});
