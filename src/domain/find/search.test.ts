import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findForm, formOf, placesOf, QUERY_MAX_LENGTH, QUERY_MAX_WORDS, snippetOf, soughtWords } from './search.ts';

/** The rule as the server carries it out. */
const finds = (query: string, text: string): boolean => {
  const words = soughtWords(query);
  return words.length > 0 && words.every((word) => findForm(text).includes(formOf(word)));
};

test.each([
  ['need', 'Moved the needle', 'the last word may be only begun'],
  ['needle moved', 'Moved the needle', 'in any order'],
  ['STRASSE', 'Die Straße', 'ß as ss'],
  ['straße', 'Die STRASSE', 'and back'],
  ['cafe', 'Au CAFÉ', 'accents'],
  ['café', 'au cafe', 'and back'],
  ['cafe\u0301', 'café', 'an accent as a character of its own'],
  ['istanbul', 'İSTANBUL', 'the Turkish İ'],
  ['ISPARTA', 'Isparta', 'I as others have it'],
  ['ısparta', 'ISPARTA', 'ı'],
  ['ΟΔΟΣ', 'οδός', 'final sigma'],
  ['елка', 'Ёлка', 'Cyrillic'],
  ['شكرا', 'شُكْرًا', 'Arabic vowels'],
  ['łódź', 'Lodz', 'letters with a stroke'],
  ['日本', '私は日本語を話す', 'Chinese and Japanese anywhere'],
  ['試', '今天我写了測試。', 'one character'],
  ['カメラ', 'ｶﾒﾗを買った', 'half-width kana'],
  ['iphone 用', '私のiPhone用ケース', 'mixed scripts'],
  ['ภาษาไทย', 'ฉันเรียนภาษาไทยวันนี้', 'Thai'],
  ['한국', '한국어를 배웠다', 'Korean has spaces'],
  ["didn't", 'I didn’t stop', 'whatever apostrophe'],
  ['v1.2', 'released v1.2', 'figures and signs'],
  ['👍', 'done 👍👍', 'a picture'],
  ['file', 'oﬁle ﬁle', 'ligatures'],
  ['office', 'of\u00adfice', 'a soft hyphen'],
])('%s is found in %s: %s', (query, text) => {
  expect(finds(query, text)).toBe(true);
});

test.each([
  ['eedle', 'Moved the needle', 'not in the middle of a word'],
  ['move needle', 'Moved the needle', 'all but the last are whole'],
  ['needle haystack', 'Moved the needle', 'all of them are needed'],
  ['本日', '日本', 'in another order'],
  ['ป่า', 'ปา', 'Thai tones tell words apart'],
  ['か', 'が', 'so do the marks of kana'],
])('%s is not found in %s: %s', (query, text) => {
  expect(finds(query, text)).toBe(false);
});

test.each(['', '   ', '"\'()&|!:*<->', '\0\0', '\ud800', '…—', '%_\\'])('%j holds no word', (query) => {
  expect(soughtWords(query)).toEqual([]);
});

test('a long query is cut, not refused', () => {
  expect(soughtWords('a '.repeat(5_000))).toHaveLength(QUERY_MAX_WORDS);
  const [word, ...others] = soughtWords('x'.repeat(10_000));
  expect(others).toEqual([]);
  expect(word!.text).toHaveLength(QUERY_MAX_LENGTH);
});

test.each([
  ['a'.repeat(262_144), 262_144],
  ['a '.repeat(131_072), 1],
  ['日'.repeat(87_000), 87_000],
  ['\u0300'.repeat(131_072), 0],
])('the form of the longest logs (%#)', (log, length) => {
  expect(findForm(log)).toHaveLength(length + 2);
});

const text = fc.array(
  fc.oneof(
    fc.constantFrom('needle', 'Straße', 'café', 'İ', '日本語', 'ภาษา', '👍', ' ', '\n', '. ', '…', '\u0300', '\ud800'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  ),
  { maxLength: 40 },
);
const anyText = text.map((parts) => parts.join(''));

test('a form has only words between single spaces, and NUL and half characters are never in it', () => {
  fc.assert(
    fc.property(anyText, (log) => {
      const form = findForm(log);
      expect(form).toMatch(/^ (?:[^\s]+(?: [^\s]+)*)? $/u);
      expect(form).not.toContain('\0');
      expect(form.isWellFormed()).toBe(true);
    }),
  );
});

test('every word of a log is found by itself, as it was written', () => {
  fc.assert(
    fc.property(anyText, (log) => {
      for (const word of log.split(/\s+/))
        if (soughtWords(word).length > 0 && word.length < 20) expect(finds(word, log)).toBe(true);
    }),
  );
});

test('the parts of a snippet are the text, and places lie within it, in order', () => {
  fc.assert(
    fc.property(anyText, anyText, (log, query) => {
      const words = soughtWords(query);
      let before = 0;
      for (const { from, to } of placesOf(words, log)) {
        expect(from).toBeGreaterThanOrEqual(before);
        expect(to).toBeGreaterThan(from);
        before = to;
      }
      expect(before).toBeLessThanOrEqual(log.length);
      const shown = snippetOf(words, log)
        .map((part) => part.text)
        .join('')
        .replace(/^… | …$/g, '');
      expect(log.replace(/[\s·]+/g, '')).toContain(shown.replace(/[\s·]+/g, ''));
    }),
  );
});

const marked = (query: string, log: string): string =>
  snippetOf(soughtWords(query), log)
    .map((part) => (part.marked ? `[${part.text}]` : part.text))
    .join('');

test('a snippet marks whole words, and characters of scripts without spaces', () => {
  expect(marked('need', 'Moved the needle\nand the Needles')).toBe('Moved the [needle] · and the [Needles]');
  expect(marked('strasse', 'die Straße.')).toBe('die [Straße].');
  expect(marked('日本', '私は日本語を話す')).toBe('私は[日本]語を話す');
  expect(marked('ラを', 'ｶﾒﾗを')).toBe('ｶﾒ[ﾗを]');
});

test('a long log is shown around the first word', () => {
  const log = `${'before '.repeat(100)}needle ${'after '.repeat(100)}`;
  const shown = marked('needle', log);
  expect(shown).toMatch(/^… before before .*\[needle\] after .*after …$/);
  expect(shown.length).toBeLessThan(190);
});

test.each([
  ['accents', '\u0301', '\u0323'],
  ['Thai signs, which are kept', '\u0e48', '\u0e38'],
  ['signs that nobody sees between them', '\u0e48\u200b', '\u0e38\u200b'],
  ['half-width kana signs, which become marks', '\u0e38', '\uff9e'],
])('a pile of marks costs no more than other text: %s', (_name, above, below) => {
  const piles = [above.repeat(30_000) + below.repeat(30_000), (above + below).repeat(30_000)];
  const startedAt = performance.now();
  for (const pile of piles) expect(findForm(`a${pile} word`)).toContain(' word ');
  // Far more than it takes, and a small part of what it took.
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
