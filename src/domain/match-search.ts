/**
 * The matching rules of the search in logs. All terms must match. The last term matches as a prefix, because results
 * appear while the user types. Case and accents are ignored (`foldText`). Scripts without spaces between words match as
 * substrings. A tag matches the tag alone (`log/tags.ts`).
 *
 * The server stores the normalized form of each log (`toSearchForm`) in `entry_words`. A search that finds a changed
 * log updates the forms, and searches again. A change of these rules requires a migration that empties `entry_words`,
 * or stale forms remain.
 */
import { foldText, isAscii, findTags, type TagCount } from './log/tags.ts';

/** Longer queries are cut: to 200 UTF-16 units and to 8 words. */
export const QUERY_MAX_LENGTH = 200;
export const QUERY_MAX_WORDS = 8;
/** Maximum number of days in a response, newest days first. */
export const FIND_MAX_RESULTS = 50;

/** A character of a script without spaces between words (Han, kana, Thai, …), or an emoji except a flag. */
const UNSPACED = String.raw`(?=[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{Extended_Pictographic}])[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]`;
/** A run of `UNSPACED` characters, or a word of letters and digits. */
const TOKEN = new RegExp(String.raw`(?:${UNSPACED})+|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}])+`, 'gu');
const ASCII_TOKEN = /[0-9a-z]+/g;
const STARTS_UNSPACED = new RegExp(String.raw`^${UNSPACED}`, 'u');

const tokenize = (folded: string): string[] => folded.match(isAscii(folded) ? ASCII_TOKEN : TOKEN) ?? [];

/**
 * The distinct tokens and tags of a text, surrounded by spaces, so that ` word` matches a prefix, ` word ` a whole
 * word, and ` #tag ` a tag: no token has a `#`. Never contains NUL or lone surrogates, which PostgreSQL rejects:
 * neither is a letter.
 */
export function toSearchForm(text: string): string {
  const parts = new Set(tokenize(foldText(text)));
  for (const { key } of findTags(text)) parts.add(`#${key}`);
  return ` ${[...parts].join(' ')} `;
}

export type SearchTerm = { text: string; match: 'word' | 'prefix' | 'substring' | 'tag' };

/** Empty for a query without a `TOKEN`, such as punctuation alone. */
export function parseSearchTerms(query: string): SearchTerm[] {
  const text = query.slice(0, QUERY_MAX_LENGTH);
  const parts: string[] = [];
  let at = 0;
  for (const tag of findTags(text)) {
    parts.push(...tokenize(foldText(text.slice(at, tag.from))), `#${tag.key}`);
    at = tag.from + tag.text.length;
  }
  parts.push(...tokenize(foldText(text.slice(at))));
  return parts.slice(0, QUERY_MAX_WORDS).map((part, index, all) => {
    if (part.startsWith('#')) return { text: part, match: 'tag' };
    if (STARTS_UNSPACED.test(part)) return { text: part, match: 'substring' };
    return { text: part, match: index === all.length - 1 ? 'prefix' : 'word' };
  });
}

/** The substring that the search form of a matching log contains. */
export function toSearchPattern({ text, match }: SearchTerm): string {
  if (match === 'substring') return text;
  return match === 'prefix' ? ` ${text}` : ` ${text} `;
}

/** True if the text contains all terms. No term at all matches nothing. */
export function matchesSearch(terms: readonly SearchTerm[], text: string): boolean {
  const form = toSearchForm(text);
  return terms.length > 0 && terms.every((term) => form.includes(toSearchPattern(term)));
}

/** A part of a snippet; `marked` if it matches a search term. */
export type TextPart = { text: string; marked: boolean };

/** A token in the original text, before folding. */
const SOURCE_TOKEN = new RegExp(
  String.raw`(?:${UNSPACED})+|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}\u00ad\u200b-\u200f\u2060\ufeff])+`,
  'gu',
);

type Span = { from: number; to: number };

/** Matches in the original text, in order and without overlap. A prefix match covers the whole word. */
export function findMatches(terms: readonly SearchTerm[], text: string): Span[] {
  const spaced = terms.filter(({ match }) => match === 'word' || match === 'prefix');
  const unspaced = terms.filter(({ match }) => match === 'substring');
  const tags = new Set(terms.flatMap(({ text: term, match }) => (match === 'tag' ? [term] : [])));
  const matches = tags.size === 0 ? [] : findTagMatches(tags, text);
  for (const { 0: token, index } of text.matchAll(SOURCE_TOKEN)) {
    if (STARTS_UNSPACED.test(token)) {
      if (unspaced.length > 0) matches.push(...findMatchesInRun(unspaced, token, index));
      continue;
    }
    const parts = tokenize(foldText(token));
    if (
      parts.some((part) =>
        spaced.some((term) => (term.match === 'word' ? part === term.text : part.startsWith(term.text))),
      )
    ) {
      matches.push({ from: index, to: index + token.length });
    }
  }
  return tags.size === 0 ? matches : dropOverlaps(matches);
}

const findTagMatches = (tags: ReadonlySet<string>, text: string): Span[] =>
  findTags(text).flatMap(({ key, from, text: tag }) => (tags.has(`#${key}`) ? [{ from, to: from + tag.length }] : []));

/** Sorts the spans. Keeps the first of overlapping ones, and of those that begin together the longest. */
function dropOverlaps(spans: Span[]): Span[] {
  const kept: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from || b.to - a.to))
    if (span.from >= (kept.at(-1)?.to ?? 0)) kept.push(span);
  return kept;
}

/** Folding can change the length of a character, so `origin` maps each folded unit to its original span. */
function findMatchesInRun(terms: readonly SearchTerm[], run: string, start: number): Span[] {
  const origin: Span[] = [];
  let folded = '';
  let at = start;
  for (const character of run) {
    const form = foldText(character);
    const span = { from: at, to: at + character.length };
    for (let unit = 0; unit < form.length; unit += 1) origin.push(span);
    folded += form;
    at += character.length;
  }
  const found: Span[] = [];
  for (const { text } of terms) {
    for (let from = folded.indexOf(text); from !== -1; from = folded.indexOf(text, from + text.length)) {
      found.push({ from: origin[from]!.from, to: origin[from + text.length - 1]!.to });
    }
  }
  return dropOverlaps(found);
}

const SNIPPET_LENGTH = 160;
/** Maximum context before the first match, in UTF-16 units. */
const SNIPPET_LEAD = 40;

/** An excerpt around the first match. Line breaks are shown as ` · `. */
export function createSnippet(terms: readonly SearchTerm[], text: string): TextPart[] {
  const matches = findMatches(terms, text);
  const first = matches[0]?.from ?? 0;
  const from = first <= SNIPPET_LEAD ? 0 : snippetStart(text, first - SNIPPET_LEAD, first);
  const to = from + SNIPPET_LENGTH >= text.length ? text.length : snippetEnd(text, from + SNIPPET_LENGTH);
  const parts: TextPart[] = [];
  const add = (start: number, end: number, marked: boolean): void => {
    if (end > start) parts.push({ text: toSingleLine(text.slice(start, end)), marked });
  };
  let at = from;
  for (const match of matches) {
    if (match.from >= to) break;
    add(at, match.from, false);
    add(match.from, Math.min(match.to, to), true);
    at = Math.min(match.to, to);
  }
  add(at, to, false);
  if (from > 0) parts.unshift({ text: '… ', marked: false });
  if (to < text.length) parts.push({ text: ' …', marked: false });
  return parts;
}

const toSingleLine = (text: string): string => text.replace(/(?<!\s)\s*\n\s*/g, ' · ').replace(/\s+/g, ' ');

/** The first start of a word in `at..limit`; never splits a surrogate pair. */
function snippetStart(text: string, at: number, limit: number): number {
  const space = /\s/.exec(text.slice(at, limit));
  return space ? at + space.index + 1 : skipLowSurrogate(text, at);
}

function snippetEnd(text: string, at: number): number {
  const back = /\s\S{0,20}$/.exec(text.slice(at - 21, at));
  return back ? at - back[0].length : skipLowSurrogate(text, at);
}

const skipLowSurrogate = (text: string, at: number): number => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
};

/** An item of the response of `find-entries`. */
export type FoundDay = { date: string; snippet: TextPart[] };
export type FindAnswer =
  | {
      success: true;
      results: FoundDay[];
      /** True if there are more matches on older days. */
      more: boolean;
      /** False while some logs have no current search form; a repeated search finds more. */
      complete: boolean;
      /** For a query that is empty or ends with a tag: the tags that complete it, most used first. */
      tags?: TagCount[];
    }
  | { success: false; error: string };
