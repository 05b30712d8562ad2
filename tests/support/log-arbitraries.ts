/** Logs for property tests: all markup of the allow-list, with text that line-based formats could misparse. */
import fc from 'fast-check';
import { addDays, day, dayLabel, type Day } from '#domain/day/day.ts';

const HOSTILE_WORDS = [
  ...[
    '1. one',
    '12) twelve',
    '-3. minus',
    '- dash',
    '-',
    '---',
    '----------------------------',
    '1.',
    '* star',
    '+ plus',
  ],
  ...[
    '# day',
    '## heading',
    '> quote',
    '=',
    '===',
    '\\',
    '\\\\',
    '\\1. x',
    '`code`',
    '```',
    '~~~',
    '~~x~~',
    '**bold**',
  ],
  ...['_it_', 'snake_case', '*', '***', '[link](javascript:alert(1))', '![x](y)', '<b>', '</li>', '<!-- -->', '<br>'],
  ...[
    '&amp;',
    '&#32;',
    '&nbsp;',
    '& ',
    'a & b',
    '1 < 2 > 0',
    '"',
    "'",
    '|',
    '\u00A0',
    '\u2028',
    '\u2029',
    '\u3000',
    '\uFEFF',
  ],
  ...[
    ' ',
    '  ',
    '\t',
    ' leading',
    'trailing ',
    '日本語のテキスト',
    'שלום עולם',
    'مرحبا',
    '👩‍👩‍👧',
    'e\u0301',
    '\u202E',
    'word',
  ],
  ...[dayLabel(day('2026-11-21')), dayLabel(day('2026-11-22')), `# ${dayLabel(day('2026-11-21'))}`, '{"format":1}'],
];

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\u00A0', '&nbsp;');

const words: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...HOSTILE_WORDS) },
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => escape(parts.join('').replaceAll('\0', '').toWellFormed()));

const marked: fc.Arbitrary<string> = fc
  .tuple(words, fc.subarray(['strong', 'em', 'u', 's', 'code']))
  .map(([text, marks]) => marks.reduce((inner, mark) => `<${mark}>${inner}</${mark}>`, text));

const inline: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 3, arbitrary: words }, { weight: 2, arbitrary: marked }, fc.constantFrom('<br>', '\n')), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));

const TEXT_BLOCKS = ['p', 'p', 'p', 'h1', 'h2', 'h3'];

/** `isEditorHtml`: as the editor writes it; otherwise as any client may send it and the server stores it unchanged. */
function blocks(isEditorHtml: boolean): fc.Arbitrary<string> {
  const { body } = fc.letrec<{ body: string; block: string; item: string; list: string }>((tie) => ({
    body: fc.array(tie('block'), { maxLength: 3 }).map((parts) => parts.join('')),
    block: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.tuple(fc.constantFrom(...TEXT_BLOCKS), inline).map(([tag, text]) => `<${tag}>${text}</${tag}>`),
      fc.array(words, { maxLength: 4 }).map((lines) => `<pre><code>${lines.join('\n')}</code></pre>`),
      tie('list'),
      // A user's text that looks like the day header of an export file.
      fc.constant(`<p>${dayLabel(day('2026-11-21'))}</p><p>----</p>`),
      tie('body').map((text) => `<blockquote>${text}</blockquote>`),
      ...(isEditorHtml ? [] : [inline, fc.constantFrom('\n', '\n  ', ' ')]),
    ),
    item: isEditorHtml
      ? fc.tuple(inline, tie('body')).map(([text, rest]) => `<li><p>${text}</p>${rest}</li>`)
      : tie('body').map((text) => `<li>${text}</li>`),
    list: fc
      .tuple(
        fc.constantFrom(
          '<ul>',
          '<ol>',
          '<ol>',
          '<ol start="0">',
          '<ol start="-3">',
          '<ol start="98">',
          '<ol start="9999999">',
        ),
        fc.oneof(
          fc.array(tie('item'), { minLength: 1, maxLength: 3 }),
          fc.array(
            words.map((text) => `<li><p>${text}</p></li>`),
            { minLength: 10, maxLength: 12 },
          ),
        ),
      )
      .map(([tag, items]) => `${tag}${items.join('')}</${tag.slice(1, 3)}>`),
  }));
  return body;
}

export const editorLogs = blocks(true);
export const anyLogs = blocks(false);

/** Distinct days, oldest first. */
export const days: fc.Arbitrary<Day[]> = fc
  .uniqueArray(fc.integer({ min: -738_000, max: 40_000 }), { minLength: 1, maxLength: 4 })
  .map((offsets) => [...offsets].sort((a, b) => a - b).map((offset) => addDays(day('2026-11-21'), offset)));
