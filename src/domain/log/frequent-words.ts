/** The tags and names that a year of logs mentions most (docs/specification/year.md 5). */
import { MONTHS, WEEKDAYS } from '../day/day.ts';
import { countTags, listTags, type TagCount } from './tags.ts';

/** `days`: how many logs mention it. */
export type Mention = TagCount;

const MAX_MENTIONS = 8;

/** `days`: one for each log, oldest first. */
export const frequentTags = (days: readonly LogWords[]): Mention[] =>
  countTags(days.map(({ tags }) => tags)).slice(0, MAX_MENTIONS);

/** A name of fewer days is chance. */
const MIN_DAYS_OF_NAME = 3;

const WORD = /\p{L}[\p{L}\p{M}'’-]*/gu;
const isCapitalized = (word: string): boolean => /^\p{Lu}\P{Lu}*\p{Ll}\P{Lu}*$|^\p{Lu}\p{Ll}+\p{Lu}\p{Ll}/u.test(word);
/** Words that English writes with a capital and that are not names of people, customers or products. */
const COMMON: ReadonlySet<string> = new Set(
  [...MONTHS, ...WEEKDAYS].flatMap((name) => [name, name.slice(0, 3)]).map((name) => name.toLowerCase()),
);
/** German writes every noun with a capital, so names cannot be told from nouns. These words tell it from others. */
const GERMAN: ReadonlySet<string> = new Set(
  'und der das mit für ein eine einen nicht auf ist den dem zum zur von im bei nach ich wir aus'.split(' '),
);
const MAX_GERMAN_SHARE = 0.1;
const MAX_WORDS_OF_NAME = 3;

type Name = { text: string; startsSentence: boolean };
/** What `frequentTags` and `frequentNames` need of one log. */
export type LogWords = { tags: readonly string[]; names: Name[]; lower: string[] };

/**
 * Capitalised words within a sentence, and the same words at the beginning of one. A word that the logs also write in
 * lower case is not a name. `days`: one for each log, from `readLogWords`.
 */
export function frequentNames(days: readonly LogWords[]): Mention[] {
  const all = days.flatMap((day) => day.lower);
  const lower = new Set(all);
  if (all.filter((word) => GERMAN.has(word)).length > all.length * MAX_GERMAN_SHARE) return [];
  const known = new Set(
    days.flatMap(({ names }) => names.flatMap(({ text, startsSentence }) => (startsSentence ? [] : [text]))),
  );
  const isName = (text: string): boolean => {
    const key = text.toLowerCase();
    return known.has(text) && !lower.has(key) && !COMMON.has(key);
  };
  return mostMentioned(
    days.map(({ names }) => names.map(({ text }) => text).filter(isName)),
    MIN_DAYS_OF_NAME,
  );
}

/** `text`: of one log, as plain text. */
export function readLogWords(text: string): LogWords {
  const words: LogWords = { tags: listTags(text), names: [], lower: [] };
  for (const line of text.split('\n')) {
    let end = 0;
    let length = 0;
    let startsSentence = true;
    for (const { 0: word, index } of line.matchAll(WORD)) {
      const gap = line.slice(end, index);
      startsSentence = end === 0 || /[.!?:;•–—(“"]/u.test(gap);
      // A tag is not a name.
      const isTag = gap.endsWith('#');
      end = index + word.length;
      const isUpper = isCapitalized(word) && !isTag;
      if (!isUpper) {
        if (/^\p{Ll}/u.test(word)) words.lower.push(word);
        length = 0;
        continue;
      }
      const before = words.names.at(-1);
      // `Anna Schmidt` is one name, but not `Called Anna`.
      if (length > 0 && length < MAX_WORDS_OF_NAME && gap === ' ' && before && !before.startsSentence) {
        before.text += ` ${word}`;
        length += 1;
      } else {
        words.names.push({ text: word, startsSentence });
        length = 1;
      }
    }
  }
  return words;
}

function mostMentioned(days: readonly (readonly string[])[], minDays: number): Mention[] {
  const counts = new Map<string, number>();
  for (const mentions of days) for (const text of new Set(mentions)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= minDays)
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, MAX_MENTIONS)
    .map(([text, count]) => ({ text, days: count }));
}
