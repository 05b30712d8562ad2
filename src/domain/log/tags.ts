/** Tags: a word of a log that begins with `#` (docs/specification/screens.md 9). */

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

/** With the `#`; in UTF-16 units. */
const TAG_MAX_LENGTH = 51;
/** The maximum number of different tags that are listed per log. Find finds all of them. */
const MAX_LISTED_OF_LOG = 100;
/** The maximum number of tags that Find lists at once. Typing narrows the list. */
export const MAX_TAGS_SHOWN = 50;

/** A tag follows white space or punctuation, but not what precedes `#` in an address, an entity or an escape. */
const BEFORE = String.raw`(?<=(?:^|[\s\p{Ps}\p{Pi}\p{Pf}\p{Po}\p{Cf}|\u2013\u2014])[#＃])(?<![&/#＃%?@.\\][#＃])`;
/** The zero-width joiner and non-joiner are parts of Persian and Indic words. */
const CHARACTER = String.raw`[\p{L}\p{M}\p{N}_\u200c\u200d]`;
const TAG = new RegExp(String.raw`[#＃]${BEFORE}${CHARACTER}+(?:-+${CHARACTER}+)*`, 'gu');
const TYPED_TAG = new RegExp(String.raw`[#＃]${BEFORE}((?:${CHARACTER}|-)*)$`, 'u');
/** A colour, or the id of a commit in eight digits. With other lengths, or without a digit, it may be a word: `#e2e`. */
const HEXADECIMAL = /^(?=.*\d)(?:[\da-f]{6}|[\da-f]{8})$/iu;

/** `text`: as written, with `#`. `key`: without it; equal for all spellings of one tag. */
export type Tag = { text: string; key: string; from: number };

/** Every tag of a text, in order. `#42` is not a tag: the number of an issue is not a topic. */
export function findTags(text: string): Tag[] {
  const tags: Tag[] = [];
  for (const { 0: found, index } of text.matchAll(TAG)) {
    const name = found.slice(1);
    if (found.length > TAG_MAX_LENGTH || !/\p{L}/u.test(name) || HEXADECIMAL.test(name)) continue;
    const key = foldTag(name);
    if (key !== '') tags.push({ text: found, key, from: index });
  }
  return tags;
}

/** Folding (NFKD) can turn a character into others, such as a space, which are removed. */
const foldTag = (name: string): string => foldText(name).replace(/[^\p{L}\p{M}\p{N}_-]+/gu, '');

/** The different tags of one log, each in the spelling of its last occurrence. At most `MAX_LISTED_OF_LOG`. */
export function listTags(text: string): string[] {
  const byKey = new Map(findTags(text).map((tag) => [tag.key, `#${tag.text.slice(1)}`]));
  return [...byKey.values()].slice(0, MAX_LISTED_OF_LOG);
}

/** `days`: how many logs have it. */
export type TagCount = { text: string; days: number };

/** How many logs have each tag, most first, as the last of them spells it. `logs`: the `listTags` of each. */
export function countTags(logs: readonly (readonly string[])[]): TagCount[] {
  const counts = new Map<string, TagCount>();
  for (const tags of logs) {
    for (const text of tags) {
      const key = foldTag(text);
      counts.set(key, { text, days: (counts.get(key)?.days ?? 0) + 1 });
    }
  }
  return [...counts]
    .sort(([keyA, a], [keyB, b]) => b.days - a.days || (keyA < keyB ? -1 : 1))
    .map(([, count]) => count);
}

/** Adds to `tags` those of `others` that it lacks. */
export function addTags(tags: readonly TagCount[], others: readonly TagCount[]): TagCount[] {
  const known = new Set(tags.map(({ text }) => foldTag(text)));
  return [...tags, ...others.filter(({ text }) => !known.has(foldTag(text)))];
}

/**
 * The folded tag that is being typed at the end of a query, `bil` of `offer #Bil`. Empty for an empty query, which
 * lists all tags. Null if the query ends with no tag.
 */
export function typedTag(query: string): string | null {
  if (query.trim() === '') return '';
  const typed = TYPED_TAG.exec(query);
  return typed && foldTag(typed[1]!);
}

/** The tags that complete a typed one. None if it is complete. */
export function completeTag(typed: string, tags: readonly TagCount[]): TagCount[] {
  const keyed = tags.map((tag) => ({ tag, key: foldTag(tag.text) }));
  if (keyed.some(({ key }) => key === typed)) return [];
  return keyed.filter(({ key }) => key.startsWith(typed)).map(({ tag }) => tag);
}

/** The query with the tag in place of the typed one. */
export const replaceTypedTag = (query: string, tag: string): string => query.replace(/[#＃][^#＃]*$|$/u, () => tag);
