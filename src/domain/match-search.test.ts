import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureCpuMs } from '../../tests/support/cpu-time.ts';
import { unicodeText } from '../../tests/support/unicode-text.ts';
import {
  createSnippet,
  findMatches,
  matchesSearch,
  parseSearchTerms,
  QUERY_MAX_LENGTH,
  QUERY_MAX_WORDS,
  toSearchForm,
} from './match-search.ts';

const finds = (query: string, text: string): boolean => matchesSearch(parseSearchTerms(query), text);

test.each([
  ['need', 'Moved the needle', 'the last term as a prefix'],
  ['needle moved', 'Moved the needle', 'in any order'],
  ['STRASSE', 'Die Straße', 'ß as ss'],
  ['straße', 'Die STRASSE', 'ss as ß'],
  ['cafe', 'Au CAFÉ', 'accents'],
  ['café', 'au cafe', 'an accent in the query'],
  ['cafe\u0301', 'café', 'a combining accent'],
  ['istanbul', 'İSTANBUL', 'the Turkish İ'],
  ['ISPARTA', 'Isparta', 'the non-Turkish I'],
  ['ısparta', 'ISPARTA', 'the Turkish ı'],
  ['ΟΔΟΣ', 'οδός', 'final sigma'],
  ['елка', 'Ёлка', 'Cyrillic'],
  ['شكرا', 'شُكْرًا', 'Arabic vowels'],
  ['łódź', 'Lodz', 'letters with a stroke'],
  ['日本', '私は日本語を話す', 'Chinese and Japanese as substrings'],
  ['試', '今天我写了測試。', 'a single character'],
  ['カメラ', 'ｶﾒﾗを買った', 'half-width kana'],
  ['iphone 用', '私のiPhone用ケース', 'mixed scripts'],
  ['ภาษาไทย', 'ฉันเรียนภาษาไทยวันนี้', 'Thai'],
  ['한국', '한국어를 배웠다', 'Korean as a prefix'],
  ["didn't", 'I didn’t stop', 'another apostrophe'],
  ['v1.2', 'released v1.2', 'digits and punctuation'],
  ['👍', 'done 👍👍', 'an emoji'],
  ['file', 'oﬁle ﬁle', 'ligatures'],
  ['office', 'of\u00adfice', 'a soft hyphen'],
])('finds %j in %j: %s', (query, text) => {
  expect(finds(query, text)).toBe(true);
});

test.each([
  ['#billing', 'Shipped #billing', 'a tag'],
  ['#billing', '(#BILLING)', 'a tag in any case'],
  ['#café', '#cafe\u0301', 'accents in a tag'],
  ['＃タグ', '今日，#タグ', 'a full-width sign'],
  ['billing', 'Shipped #billing', 'a tag by its word'],
  ['shipped #ops #billing', 'shipped #billing and #ops', 'several tags and a word'],
  ['#ops bil', 'billing #ops', 'a tag and a prefix'],
  ['#42', 'Fixed 42', 'a number, which is no tag'],
])('finds %j in %j: %s', (query, text) => {
  expect(finds(query, text)).toBe(true);
});

test.each([
  ['eedle', 'Moved the needle', 'not in the middle of a word'],
  ['#billing', 'Shipped billing', 'a tag is not the word'],
  ['#bil', 'Shipped #billing', 'a tag is exact'],
  ['#billing', '#billing-v2 #billing_eu', 'a tag is exact'],
  ['#billing', 'example.org/#billing', 'a fragment of an address is no tag'],
  ['#billing #ops', '#billing', 'all tags must match'],
  ['ship #billing', 'shipped #billing', 'before a tag only whole words match'],
  ['move needle', 'Moved the needle', 'only the last term as a prefix'],
  ['needle haystack', 'Moved the needle', 'all terms must match'],
  ['本日', '日本', 'in another order'],
  ['ป่า', 'ปา', 'Thai tone marks count'],
  ['か', 'が', 'kana voicing marks count'],
])('does not find %j in %j: %s', (query, text) => {
  expect(finds(query, text)).toBe(false);
});

test.each(['', '   ', '"\'()&|!:*<->', '\0\0', '\ud800', '…—', '%_\\'])('parses no term from %j', (query) => {
  expect(parseSearchTerms(query)).toEqual([]);
});

test('cuts a long query', () => {
  expect(parseSearchTerms('a '.repeat(5_000))).toHaveLength(QUERY_MAX_WORDS);
  const [term, ...others] = parseSearchTerms('x'.repeat(10_000));
  expect(others).toEqual([]);
  expect(term!.text).toHaveLength(QUERY_MAX_LENGTH);
});

test.each([
  ['a'.repeat(262_144), 262_144],
  ['a '.repeat(131_072), 1],
  ['日'.repeat(87_000), 87_000],
  ['\u0300'.repeat(131_072), 0],
])('the search form of a log of maximum size (%#)', (log, length) => {
  expect(toSearchForm(log)).toHaveLength(length + 2);
});

const text = fc.array(
  fc.oneof(
    fc.constantFrom(
      '#tag',
      '#',
      '#Straße',
      'needle',
      'Straße',
      'café',
      'İ',
      '日本語',
      'ภาษา',
      '👍',
      ' ',
      '\n',
      '. ',
      '…',
      '\u0300',
      '\ud800',
    ),
    unicodeText({ maxLength: 6 }),
  ),
  { maxLength: 40 },
);
const anyText = text.map((parts) => parts.join(''));

test('a search form has single spaces and neither NUL nor lone surrogates', () => {
  fc.assert(
    fc.property(anyText, (log) => {
      const form = toSearchForm(log);
      expect(form).toMatch(/^ (?:[^\s]+(?: [^\s]+)*)? $/u);
      expect(form).not.toContain('\0');
      expect(form.isWellFormed()).toBe(true);
    }),
  );
});

test('finds every word of a log by the word itself', () => {
  fc.assert(
    fc.property(anyText, (log) => {
      for (const word of log.split(/\s+/))
        if (parseSearchTerms(word).length > 0 && word.length < 20) expect(finds(word, log)).toBe(true);
    }),
  );
});

test('a snippet is an excerpt of the log, and its matches are in order', () => {
  fc.assert(
    fc.property(anyText, anyText, (log, query) => {
      const terms = parseSearchTerms(query);
      let before = 0;
      for (const { from, to } of findMatches(terms, log)) {
        expect(from).toBeGreaterThanOrEqual(before);
        expect(to).toBeGreaterThan(from);
        before = to;
      }
      expect(before).toBeLessThanOrEqual(log.length);
      const shown = createSnippet(terms, log)
        .map((part) => part.text)
        .join('')
        .replace(/^… | …$/g, '');
      expect(log.replace(/[\s·]+/g, '')).toContain(shown.replace(/[\s·]+/g, ''));
    }),
  );
});

const marked = (query: string, log: string): string =>
  createSnippet(parseSearchTerms(query), log)
    .map((part) => (part.marked ? `[${part.text}]` : part.text))
    .join('');

test('a snippet marks whole words, or substrings in scripts without spaces', () => {
  expect(marked('need', 'Moved the needle\nand the Needles')).toBe('Moved the [needle] · and the [Needles]');
  expect(marked('strasse', 'die Straße.')).toBe('die [Straße].');
  expect(marked('日本', '私は日本語を話す')).toBe('私は[日本]語を話す');
  expect(marked('ラを', 'ｶﾒﾗを')).toBe('ｶﾒ[ﾗを]');
});

test('a snippet marks a tag with its sign, and its word alone elsewhere', () => {
  expect(marked('#billing', 'billing, #Billing and #billing-v2')).toBe('billing, [#Billing] and #billing-v2');
  expect(marked('#billing bil', 'billing, #Billing')).toBe('[billing], [#Billing]');
});

test('a snippet of a long log is around the first match', () => {
  const log = `${'before '.repeat(100)}needle ${'after '.repeat(100)}`;
  const shown = marked('needle', log);
  expect(shown).toMatch(/^… before before .*\[needle\] after .*after …$/);
  expect(shown.length).toBeLessThan(190);
});

test.each([
  ['accents', '\u0301', '\u0323'],
  ['Thai marks, which are kept', '\u0e48', '\u0e38'],
  ['invisible characters between the marks', '\u0e48\u200b', '\u0e38\u200b'],
  ['half-width kana signs, which become marks', '\u0e38', '\uff9e'],
])('normalizes a long run of combining marks in time: %s', async (_name, above, below) => {
  const piles = [above.repeat(30_000) + below.repeat(30_000), (above + below).repeat(30_000)];
  const normalizeAll = () => {
    for (const pile of piles) expect(toSearchForm(`a${pile} word`)).toContain(' word ');
  };
  // Quadratic time would take a minute.
  expect(await measureCpuMs(normalizeAll)).toBeLessThan(2_000);
});
