/** The tags and names that a year of logs mentions most (docs/specification/year.md 5). */
import { MONTHS, WEEKDAYS } from '../day/day.ts';
import { countTags, listTags, type TagCount } from './tags.ts';

export type Mention = TagCount;

const MAX_MENTIONS = 8;

/** A capitalised word on fewer days is a coincidence, not a name. */
const MIN_DAYS_OF_NAME = 3;

const WORD = /\p{L}[\p{L}\p{M}'’-]*/gu;
const isCapitalized = (word: string): boolean => /^\p{Lu}\P{Lu}*\p{Ll}\P{Lu}*$|^\p{Lu}\p{Ll}+\p{Lu}\p{Ll}/u.test(word);
/** Words that English writes with a capital and that are not names of people, customers or products. */
const COMMON: ReadonlySet<string> = new Set(
  [...MONTHS, ...WEEKDAYS].flatMap((name) => [name, name.slice(0, 3)]).map((name) => name.toLowerCase()),
);
/** German capitalises every noun, so names cannot be told from nouns. These words identify German. */
const GERMAN: ReadonlySet<string> = new Set(
  'und der das mit für ein eine einen nicht auf ist den dem zum zur von im bei nach ich wir aus'.split(' '),
);
const MAX_GERMAN_SHARE = 0.1;
const MAX_WORDS_OF_NAME = 3;

/** `isWithin`: it also stands within a sentence, not only at the beginning of one. */
type Name = { days: number; lastLog: number; isWithin: boolean };

/**
 * Collects the words of logs, oldest first. The caller may pause between two logs. Threat: the words of a year of
 * hostile logs take a second, so `add` does most of the work, and `tags` and `names` little.
 */
export class FrequentWords {
  #logs = 0;
  readonly #tags: string[][] = [];
  readonly #names = new Map<string, Name>();
  readonly #lower = new Set<string>();
  #lowerCount = 0;
  #germanCount = 0;

  /** `text`: the plain text of one log. */
  add(text: string): void {
    this.#logs += 1;
    this.#tags.push(listTags(text));
    const { names, lower } = readWords(text);
    for (const { text: name, startsSentence } of names) this.#addName(name, !startsSentence);
    this.#lowerCount += lower.length;
    for (const word of lower) {
      this.#lower.add(word);
      if (GERMAN.has(word)) this.#germanCount += 1;
    }
  }

  #addName(text: string, isWithin: boolean): void {
    let name = this.#names.get(text);
    if (!name) this.#names.set(text, (name = { days: 0, lastLog: 0, isWithin: false }));
    name.isWithin ||= isWithin;
    if (name.lastLog === this.#logs) return;
    name.lastLog = this.#logs;
    name.days += 1;
  }

  tags(): Mention[] {
    return countTags(this.#tags).slice(0, MAX_MENTIONS);
  }

  /**
   * Capitalised words within a sentence, and the same words at the beginning of one. A word that the logs also write in
   * lower case is not a name.
   */
  names(): Mention[] {
    if (this.#germanCount > this.#lowerCount * MAX_GERMAN_SHARE) return [];
    const best: Mention[] = [];
    for (const [text, { days, isWithin }] of this.#names) {
      if (!isWithin || days < Math.max(MIN_DAYS_OF_NAME, best[MAX_MENTIONS - 1]?.days ?? 0)) continue;
      const key = text.toLowerCase();
      if (this.#lower.has(key) || COMMON.has(key)) continue;
      const at = best.findIndex((other) => days > other.days || (days === other.days && text < other.text));
      best.splice(at === -1 ? best.length : at, 0, { text, days });
      best.length = Math.min(best.length, MAX_MENTIONS);
    }
    return best;
  }
}

type Words = { names: { text: string; startsSentence: boolean }[]; lower: string[] };

function readWords(text: string): Words {
  const words: Words = { names: [], lower: [] };
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
