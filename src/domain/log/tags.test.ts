import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { unicodeText } from '../../../tests/support/unicode-text.ts';
import { addTags, completeTag, countTags, findTags, listTags, replaceTypedTag, typedTag } from './tags.ts';

test.each([
  ['Shipped #billing', ['#billing']],
  ['#Billing, (#ops) "#Q3-plan": #on_call.', ['#Billing', '#ops', '#Q3-plan', '#on_call']],
  [
    '#größe #Ελλάδα #задача #工作 #タグ #할일 #مهمة #काम #ไทย',
    ['#größe', '#Ελλάδα', '#задача', '#工作', '#タグ', '#할일', '#مهمة', '#काम', '#ไทย'],
  ],
  ['今天，#工作。', ['#工作']],
  ['#می‌خواهم', ['#می‌خواهم']],
  ['＃タグ', ['#タグ']],
  ['#b2b #e2e #fff #1on1 #2026-goals', ['#b2b', '#e2e', '#fff', '#1on1', '#2026-goals']],
  ['#facade #decade', ['#facade', '#decade']],
  ['#billing- and #billing--x', ['#billing', '#billing--x']],
  ['done—#ops', ['#ops']],
  ['**#ops**', ['#ops']],
])('finds the tags of %j', (text, tags) => {
  expect(listTags(text)).toEqual(tags);
});

test.each([
  ['issue numbers', 'Fixed #42, #1234 and #4-2'],
  ['colours and commits', '#1d1a16 #00ff00 #B0380A80 #a1b2c3'],
  ['fragments of addresses', 'https://example.org/#ops example.org/page#ops ?x=1&#ops ?#ops'],
  ['languages and words with a sharp', 'C# F#minor a#b'],
  ['headings and repetitions', '# Billing ## Ops ##ops'],
  ['entities', '&#x27;'],
  ['what has no letter', '#- #_ #🚀 #1_000'],
  ['what is too long', `#${'a'.repeat(51)}`],
])('takes %s for no tags', (_what, text) => {
  expect(findTags(text)).toEqual([]);
});

test('counts days, not spellings, and shows the last spelling', () => {
  const logs = ['#cafe #Billing', '#Café #billing #BILLING', '#billing'].map(listTags);
  expect(countTags(logs)).toEqual([
    { text: '#billing', days: 3 },
    { text: '#Café', days: 2 },
  ]);
});

test.each([
  ['', ''],
  ['  ', ''],
  ['#', ''],
  ['offer #Bil', 'bil'],
  ['#2026', '2026'],
  ['#foo-', 'foo-'],
  ['offer', null],
  ['#billing ', null],
  ['example.org/#o', null],
])('reads the tag that %j types: %j', (query, typed) => {
  expect(typedTag(query)).toBe(typed);
});

test('completes a typed tag, and a complete one no more', () => {
  const tags = ['#billing', '#Billing-v2', '#ops'].map((text) => ({ text, days: 1 }));
  const complete = (typed: string) => completeTag(typed, tags).map(({ text }) => text);
  expect(complete('')).toEqual(['#billing', '#Billing-v2', '#ops']);
  expect(complete('bil')).toEqual(['#billing', '#Billing-v2']);
  expect(complete('billing')).toEqual([]);
  expect(complete('x')).toEqual([]);
  expect(replaceTypedTag('offer #a #bil', '#billing')).toBe('offer #a #billing');
  expect(replaceTypedTag('', '#billing')).toBe('#billing');
});

test('adds the tags that are missing', () => {
  const of = (text: string, days: number) => ({ text, days });
  expect(addTags([of('#a', 4)], [of('#A', 1), of('#b', 1)])).toEqual([of('#a', 4), of('#b', 1)]);
});

test('any tag is found by itself, whatever stands around it', () => {
  const piece = fc.oneof(
    fc.constantFrom('#a', '#', '＃', '-', ' ', '\n', '#٤٢', '#\ufe70', '#\ufdfa', '#ß'),
    unicodeText({ maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('');
      for (const { text: tag, key, from } of findTags(text)) {
        expect(text.slice(from, from + tag.length)).toBe(tag);
        expect(key).toMatch(/^[\p{L}\p{M}\p{N}_-]+$/u);
        expect(findTags(tag)).toEqual([{ text: tag, key, from: 0 }]);
        expect(completeTag(typedTag(tag)!, [{ text: tag, days: 1 }])).toEqual([]);
      }
    }),
  );
});

test.each(['#', '#a', '#a-', '#1', '#1-', 'a#', '-'])('reads a log of maximum size in time: %j', async (part) => {
  const listAll = () => {
    listTags(part.repeat(262_144 / part.length));
    listTags(`${part} `.repeat(262_144 / (part.length + 1)));
  };
  // Quadratic time would take minutes.
  expect(await measureCpuMs(listAll)).toBeLessThan(2_000);
});
