import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { parseCoachText, type CoachBlock, type CoachSpan } from './coach-text.ts';

const spanText = (span: CoachSpan): string => ('spans' in span ? span.spans.map(spanText).join('') : span.text);
const linesOf = (block: CoachBlock): string[] =>
  (block.kind === 'paragraph' ? [block.spans] : block.items).map((spans) => spans.map(spanText).join(''));
const textOf = (blocks: CoachBlock[]): string => blocks.flatMap(linesOf).join('\n');
/** Serializes spans with their emphasis and citations. */
const shown = (spans: CoachSpan[]): string =>
  spans
    .map((span) =>
      span.kind === 'citation'
        ? `<${span.text}>`
        : span.kind === 'text'
          ? span.text
          : `<${span.kind}>${shown(span.spans)}</${span.kind}>`,
    )
    .join('');
const refs = new Set(['1', '2', '3', '3.2', '4', '5', 'Called Ann']);
const first = (text: string, isPartial = false): string => {
  const [block] = parseCoachText(text, { isPartial, refs });
  return block?.kind === 'paragraph' ? shown(block.spans) : '';
};

test('parses paragraphs, lists and headings', () => {
  expect(parseCoachText('One.\nStill one.\n\n- a\n- b\n\n1. x\n2) y\n## Next\nTwo.').map(({ kind }) => kind)).toEqual([
    'paragraph',
    'list',
    'numbers',
    'paragraph',
    'paragraph',
  ]);
  expect(textOf(parseCoachText('One.\nStill one.\n\n- a\n- b\n\n1. x\n2) y\n## Next\nTwo.'))).toBe(
    'One.\nStill one.\na\nb\nx\ny\nNext\nTwo.',
  );
});

test('keeps numbers that do not count from 1 as text', () => {
  expect(textOf(parseCoachText('3. c\n4. d'))).toBe('3. c\n4. d');
  expect(textOf(parseCoachText('1. a\n7. g'))).toBe('a\n7. g');
});

test.each([
  ['a **bold** word', 'a <strong>bold</strong> word'],
  ['an *em* and _em_', 'an <em>em</em> and <em>em</em>'],
  ['**bold with *em* inside**', '<strong>bold with <em>em</em> inside</strong>'],
  ['2 * 3 * 4 and snake_case_name', '2 * 3 * 4 and snake_case_name'],
  ['**never closed', '**never closed'],
  ['Item 3 ends it', 'Item <3> ends it'],
  ['items 2, 4 and 5 repeat', 'items <2>, <4> and <5> repeat'],
  ['[2] and [1, 3] count', '<[2]> and <[1]>, <[3]> count'],
  ['[3.2] and [Called Ann, 9]', '<[3.2]> and <[Called Ann]>, [9]'],
  ['Item 3.2. Items 3.3 and 9', 'Item <3.2>. Items 3.3 and 9'],
  ['[sic], [called ann] and [2026]', '[sic], [called ann] and [2026]'],
  ['3 items, 10 hours', '3 items, 10 hours'],
  ['On **2026-11-20** and 2026-11-19.', 'On <strong>November 20, 2026</strong> and November 19, 2026.'],
  ['<a href="x">no</a> ![no](http://x) [no](javascript:x)', '<a href="x">no</a> no no'],
  ['[**the** guide](https://x.example/a_(b) "A title"), really', '<strong>the</strong> guide, really'],
  ['Item [2](https://x.example) and [3](good)', 'Item <[2]> and <[3]>(good)'],
  ['run `npm test`, ``now``, not ~~later~~', 'run npm test, now, not later'],
  ['> quoted\n> > twice\n>90 % done', 'quoted\ntwice\n>90 % done'],
  ['| Day | Done |\n|:---|---:|\n| Mon | 3 of 4 |', 'Day · Done\nMon · 3 of 4'],
  ['```js\nconst done = true;\n```', 'const done = true;'],
  ['> ## Wins', '<strong>Wins</strong>'],
])('parses the spans of %j', (text, expected) => {
  expect(first(text)).toBe(expected);
});

test('treats rules and fences as paragraph breaks', () => {
  expect(textOf(parseCoachText('Wins\n====\nOne.\n\n---\n***\n~~~\nTwo.\n~~~\n| a | b |\n| - | - |\n| c | d |'))).toBe(
    'Wins\nOne.\nTwo.\na · b\nc · d',
  );
  expect(parseCoachText('- a\n    - b')).toMatchObject([{ kind: 'list', items: [{}, {}] }]);
});

test.each([
  ['See [the gui', 'See'],
  ['See [the guide](https://x.exa', 'See'],
  ['See [the guide](https://x.example "Tit', 'See'],
  ['See ![', 'See'],
  ['```j', ''],
  ['a **bo', 'a <strong>bo</strong>'],
  ['a **', 'a '],
  ['a *', 'a '],
  ['2 * 3', '2 * 3'],
  ['So [1,', 'So'],
  ['On 2026', 'On '],
  ['On 2026-11-2', 'On '],
  ['On 2026-11-20', 'On '],
  ['On 2026-11-20 you', 'On November 20, 2026 you'],
])('holds back incomplete markup of %j while streaming', (text, expected) => {
  expect(first(text, true)).toBe(expected);
});

/** Words, Markdown syntax and attempts at HTML injection. */
const piece = fc.constantFrom(
  ...[
    '**',
    '*',
    '_',
    '#',
    '- ',
    '1. ',
    '\n',
    '\n\n',
    ' ',
    'item 3',
    '[Called Ann]',
    '[2]',
    '[1, 3]',
    '[',
    '<a href="//x">',
    '<img src=x>',
  ],
  ...[
    '[x](javascript:1)',
    '![x](//y)',
    '&lt;',
    '"',
    'word',
    '`code`',
    '> ',
    '| ',
    '---',
    '~~',
    '<script>',
    'http://x.example',
    ' onload=x',
  ],
);
const output = fc.oneof(
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc.string(),
);

test('returns only the closed set of node types and loses no word', () => {
  const kinds = new Set(['text', 'citation', 'strong', 'em']);
  const keys = (span: CoachSpan): boolean =>
    kinds.has(span.kind) && ('spans' in span ? span.spans.every(keys) : typeof span.text === 'string');
  fc.assert(
    fc.property(output, fc.boolean(), (text, isPartial) => {
      const blocks = parseCoachText(text, { isPartial, refs });
      for (const block of blocks) {
        expect(['paragraph', 'list', 'numbers']).toContain(block.kind);
        const spans = block.kind === 'paragraph' ? block.spans : block.items.flat();
        expect(spans.every(keys)).toBe(true);
      }
      // A link is reduced to its label; incomplete links are held back while streaming.
      const words = (from: string): string => (from.match(/[\p{L}]+/gu) ?? []).join('');
      const all = words(text.replaceAll(/!?\[x\]\((?:javascript:1|\/\/y)\)/g, 'x'));
      if (isPartial) expect(all.startsWith(words(textOf(blocks)))).toBe(true);
      else expect(words(textOf(blocks))).toBe(all);
    }),
    { numRuns: 2_000, examples: [['~~~~word', false]] },
  );
});

test('never retracts displayed words while streaming', () => {
  // Emphasis may change; words are append-only.
  const words = (text: string): string => textOf(parseCoachText(text, { isPartial: true })).replace(/[^\p{L}]/gu, '');
  fc.assert(
    fc.property(output, fc.nat(), (text, cut) => {
      const before = text.slice(0, cut % (text.length + 1));
      expect(words(text).startsWith(words(before))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('takes linear time on nested emphasis', async () => {
  const parse = () => parseCoachText('**a '.repeat(2_000), { isPartial: true });
  expect(await measureCpuMs(parse)).toBeLessThan(2_000);
});

// Threat: a prompt injection makes the model repeat markup to block the browser or to overflow its stack.
test.each([
  ...['*a ', '_a ', '_*a', '**a *b ', '(*a ', '* ', 'a*', '[1,', '# #', '#', 'item 1,', 'item 1,1', 'item 1.1', '[a,'],
  ...['[', '![', '[a](', '[a](/', '[a](/(', '[a](/ "', '[a](/ ', '|', '|-', '`', '> ', '>', '-', '- ', '~', '= '],
])('parses a long repetition of %j in time', async (signs) => {
  const text = `${signs.repeat(16_000 / signs.length)}x`;
  const heading = `# ${' '.repeat(8_000)}${'#'.repeat(8_000)}x`;
  const item = `item 1,${' '.repeat(16_000)}x`;
  const parseAll = () => {
    for (const long of [text, heading, item]) {
      for (const isPartial of [false, true])
        expect(textOf(parseCoachText(long, { isPartial, refs })).length).toBeLessThan(40_000);
    }
  };
  // Quadratic patterns took seconds or overflowed the stack.
  expect(await measureCpuMs(parseAll)).toBeLessThan(2_000);
});
