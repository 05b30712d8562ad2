/**
 * Diacritics of Latin, Greek, Cyrillic, Hebrew and Arabic, and invisible characters. Not every `\p{M}`: in Thai,
 * Devanagari and kana, marks distinguish words.
 */
const IGNORED_MARKS = new RegExp(
  `[${[
    String.raw`\u{300}-\u{36f}\u{1ab0}-\u{1aff}\u{1dc0}-\u{1dff}\u{20d0}-\u{20ff}\u{483}-\u{487}`,
    String.raw`\u{591}-\u{5bd}\u{5bf}\u{5c1}\u{5c2}\u{5c4}\u{5c5}\u{5c7}`,
    String.raw`\u{64b}-\u{65f}\u{670}\u{6d6}-\u{6dc}`,
    String.raw`\u{ad}\u{200b}-\u{200f}\u{2060}\u{fe00}-\u{fe0f}\u{feff}`,
  ].join('')}]+`,
  'gu',
);

/** Letters without a Unicode decomposition, and what users type instead. `i` and the Turkish `ı` match each other. */
const LETTER_SUBSTITUTES: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ø: 'o', ł: 'l' },
  ...{ đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ς: 'σ' },
};
const SPECIAL = new RegExp(`[${Object.keys(LETTER_SUBSTITUTES).join('')}]`, 'g');

/**
 * Threat: `normalize` sorts a run of combining marks in quadratic time; 128,000 of them blocked the server's event loop
 * for a minute. Unicode's stream-safe format allows 30. NFKD also turns the two half-width kana signs into marks.
 */
const EXCESS_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

const ASCII = /^[\0-\x7f]*$/;

export const isAscii = (text: string): boolean => ASCII.test(text);

/** The form in which Find compares texts: without case, accents and other variants of a letter. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .replace(IGNORED_MARKS, '')
    .replace(EXCESS_MARKS, '$1')
    .normalize('NFKD')
    .toLowerCase()
    .replace(IGNORED_MARKS, '')
    .replace(SPECIAL, (letter) => LETTER_SUBSTITUTES[letter]!)
    .normalize('NFC');
}
