/**
 * Parses a model's review, both while it streams and when it is complete. Wins are brought into the form that the
 * prompt asks for, `- YYYY-MM-DD: …`, and wins of days that the prompt did not contain are dropped. See
 * `parse-response.ts` for feedback.
 */
import { MIN_REVIEW_REPLY_CHARS } from '#domain/coach/coach.ts';
import { isFence } from '#domain/coach/score-line.ts';
import {
  isContinuation,
  isDatedLinePrefix,
  isWinsHeading,
  isWinsHeadingPrefix,
  parseDatedLine,
  WINS_HEADING,
} from '#domain/coach/win-bullets.ts';
import type { Day } from '#domain/day/day.ts';
import { findDate } from '#domain/journals/written-dates.ts';
import { stripInvisible } from '#domain/strip-invisible.ts';
import { isObject } from '../parse-json.ts';
import { parseLooseObject } from './loose-json.ts';
import { MAX_REPLY_CHARS, trimOpenEnd, type ReplyParser } from './parse-response.ts';
import { stripThoughts } from './strip-thoughts.ts';

/**
 * `days`: the days that a win may have, which are those of the prompt's logs, or of the wins in its summaries of
 * months. A win or dated bullet of any other day is invented, so it is dropped.
 */
export function reviewReplyParser(days: ReadonlySet<Day>): ReplyParser {
  const readWin = createWinReader(days);
  return {
    parsePartial(reply) {
      const { text } = stripThoughts(trimOpenEnd(reply), false);
      const [shown] = text.split(OBJECT_START, 1) as [string];
      return { score: null, text: dropUnknownDays(shown, days, readWin, true) };
    },
    parseFinal(reply) {
      const { text } = stripThoughts(stripInvisible(reply), true);
      const written = objectAsText(text);
      if (written === null) return null;
      const analysis = dropUnknownDays(written, days, readWin, false);
      if (analysis.length < MIN_REVIEW_REPLY_CHARS || analysis.length > MAX_REPLY_CHARS) return null;
      return { score: null, text: analysis, cited: [], missingFact: null };
    },
  };
}

type ReadWin = (line: string) => ReturnType<typeof parseDatedLine>;

/**
 * Removes code fences, and dated list items and wins whose day is not in `days`. Removes the heading of the wins if
 * nothing is left below it. Moves the date of a win to its start.
 */
function dropUnknownDays(text: string, days: ReadonlySet<Day>, readWin: ReadWin, isPartial: boolean): string {
  // Some models write dates with Unicode hyphens, such as the non-breaking one.
  const lines = stripInvisible(text).replaceAll(/[‐‑]/g, '-').split('\n');
  const last = lines.at(-1)!;
  if (isPartial && (isDatedLinePrefix(last) || isWinsHeadingPrefix(last) || isFence(last))) lines.pop();
  const heading = lines.findIndex(isWinsHeading);
  const isBelow = (index: number): boolean => heading >= 0 && index > heading;
  // The last line may be a win whose date is still to come, at its end.
  if (isPartial && isBelow(lines.length - 1) && parseDatedLine(lines.at(-1)!) === null) lines.pop();
  let isDropped = false;
  const known = lines.flatMap((line, index) => {
    const dated = parseDatedLine(line);
    const moved = dated === null && isBelow(index) ? readWin(line) : null;
    const isWin = moved !== null || (dated !== null && (dated.isItem || isBelow(index)));
    isDropped = isWin ? !days.has((moved ?? dated)!.date as Day) : isDropped && isContinuation(line);
    if (isFence(line) || isDropped) return [];
    return [moved ? `- ${moved.date}: ${moved.text}`.trimEnd() : line];
  });
  const end = known.findLastIndex((line) => line.trim() !== '' && !isWinsHeading(line));
  return known
    .slice(0, end + 1)
    .join('\n')
    .trim();
}

const LINE = /^[\s>]{0,12}((?:[-*•+·–—]|\d{1,2}[.)]|\|)\s+)?(?:[\p{So}\uFE0F]{1,3}\s?)?(\S.*)$/u;
/**
 * The lookbehinds of `ROW_END` and `MARKS` prevent quadratic time: without them, a search starts at each character of a
 * run.
 */
const ROW_END = /(?<![\s|])[\s|]+$/;
const MAX_DATE_CHARS = 45;
const SEPARATOR = /[*_]{0,3}(?:\s*[:：|,·→]|\s+[–—-]{1,3}>?(?=\s))\s*|\*\*\s+|\s+on\s+/giu;
const IN_BRACKETS = /^(.*\S)\s*[([]([^()[\]]{4,45})[)\]][.*_]{0,3}$/u;
const MARKS = /^[\s*_`([]+|(?<![\s*_`)\].])[\s*_`)\].]+$/g;
/** As in "On November 20". */
const PREPOSITION = /^(?:on|am|den|le|el|il|em)\s+/i;
/**
 * Threat: a log makes the model write thousands of lines that look like wins, and each of them takes many searches for
 * a date. The prompt asks for ten wins.
 */
const MAX_WINS_READ = 40;

const gapsIn = (text: string): (readonly [from: number, to: number])[] =>
  [...text.matchAll(SEPARATOR)].map(({ 0: gap, index }) => [index, index + gap.length]);

/**
 * Finds the date that a model has written in another form, or behind its win. Caches its results, because a streamed
 * review is parsed again and again.
 */
function createWinReader(days: ReadonlySet<Day>): ReadWin {
  const years = new Set([...days].map((day) => day.slice(0, 4)));
  const cache = new Map<string, ReturnType<ReadWin>>();

  function readDate(text: string): Day | null {
    const source = text.replace(MARKS, '').replace(PREPOSITION, '');
    if (source.length > MAX_DATE_CHARS || !/\d/.test(source)) return null;
    let unknown: Day | null = null;
    for (const year of years) {
      const found = findDate(source, { year });
      if (found?.rest !== '') continue;
      const readings = [...new Set(found.readings.values())];
      const known = readings.filter((day) => days.has(day));
      if (known.length === 1) return known[0]!;
      unknown ??= known.length === 0 ? (readings[0] ?? null) : null;
    }
    return unknown;
  }

  const toWin = (date: Day | null, text: string) => (date === null ? null : { date, text: text.trim(), isItem: true });

  function readInFront(text: string): ReturnType<ReadWin> {
    const gaps = gapsIn(text).filter(([from]) => from <= MAX_DATE_CHARS);
    for (const [from, to] of [[text.length, text.length] as const, ...gaps.reverse()]) {
      const win = toWin(readDate(text.slice(0, from)), text.slice(to).replace(/^[*_`)\]]+\s*/, ''));
      if (win) return win;
    }
    return null;
  }

  function readBehind(text: string): ReturnType<ReadWin> {
    const [, before, inside] = IN_BRACKETS.exec(text) ?? [];
    const win = inside === undefined ? null : toWin(readDate(inside), before!);
    if (win) return win;
    for (const [from, to] of gapsIn(text).filter(([, end]) => end >= text.length - MAX_DATE_CHARS)) {
      const found = toWin(readDate(text.slice(to)), text.slice(0, from));
      if (found) return found;
    }
    return null;
  }

  function read(line: string): ReturnType<ReadWin> {
    // Shortens runs of blanks, because the patterns start a search at each blank.
    const [, marker = '', found = ''] = LINE.exec(line.replaceAll(/\s{3,}/g, '  ')) ?? [];
    const text = found.replace(ROW_END, '');
    // The number of an item may be that of a day: "20. November".
    const inFront = readInFront(text) ?? (/^\d/.test(marker) ? readInFront(marker + text) : null);
    // Looks behind the text in list items only: a sentence below the wins may end with a date too.
    return inFront ?? (marker === '' ? null : readBehind(text));
  }

  return (line) => {
    const known = cache.get(line);
    if (known !== undefined || cache.size >= MAX_WINS_READ) return known ?? null;
    const found = read(line);
    cache.set(line, found);
    return found;
  };
}

/** An object at the start of a line, perhaps incomplete. */
const OBJECT_START = /^[ \t]*(?:```\w*\s*)?\{\s*(?:["'“]|$)/m;
const NAME_OF_TEXT = /^(?:review|analysis|summary|text|content|feedback|response|answer|report)$/i;
const NAME_OF_WINS = /wins|achievements|accomplishments|highlights/i;

const isNameOfAnswer = (name: string): boolean => NAME_OF_TEXT.test(name) || NAME_OF_WINS.test(name);
/**
 * If at least this much prose stands above an object, the object is taken for code that the review quotes, unless its
 * names are those of a review or it has wins.
 */
const MIN_REVIEW_ABOVE_CODE = 200;

/** Replaces an object in the text by paragraphs and wins. Null if the object cannot be read. */
function objectAsText(text: string): string | null {
  const start = OBJECT_START.exec(text);
  if (start === null) return text;
  const above = text.slice(0, start.index).trim();
  const brace = start.index + start[0].indexOf('{');
  const object = parseLooseObject(text, brace);
  const wins: string[] = [];
  const paragraphs = toParagraphs(object?.entries ?? [], wins);
  const names = object?.entries.map(([name]) => name) ?? [/\w+/.exec(text.slice(brace))?.[0] ?? ''];
  const isAnswer = wins.length > 0 || names.some(isNameOfAnswer);
  if (above.length >= MIN_REVIEW_ABOVE_CODE && !isAnswer) return text;
  if (object === null) return null;
  const section = wins.length === 0 ? [] : [[WINS_HEADING, ...wins].join('\n')];
  return [above, ...paragraphs, ...section, text.slice(object.end).trim()].filter((part) => part !== '').join('\n\n');
}

const MAX_OBJECTS_WITHIN = 4;

function toParagraphs(entries: readonly (readonly [string, unknown])[], wins: string[], depth = 0): string[] {
  return entries.flatMap(([name, value]) => {
    const title = name.replaceAll('_', ' ').replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
    if (NAME_OF_WINS.test(name) && typeof value === 'object' && value !== null) {
      for (const item of Array.isArray(value) ? (value as unknown[]) : Object.entries(value)) wins.push(winLine(item));
      return [];
    }
    if (typeof value === 'string') return NAME_OF_TEXT.test(name) ? [value] : [`**${title}**: ${value}`];
    if (Array.isArray(value)) return [[`**${title}**:`, ...value.map((item) => `- ${String(item)}`)].join('\n')];
    return isObject(value) && depth < MAX_OBJECTS_WITHIN ? toParagraphs(Object.entries(value), wins, depth + 1) : [];
  });
}

/** @param item a text, a pair of a date and a text, or an object that contains both */
function winLine(item: unknown): string {
  if (typeof item !== 'object' || item === null) return `- ${String(item)}`;
  const values = Object.values(item).filter((value) => typeof value === 'string');
  const date = values.find((value) => /\d/.test(value) && value.length <= MAX_DATE_CHARS);
  const rest = values.filter((value) => value !== date).join(' – ');
  return date === undefined ? `- ${rest}` : `- ${date}: ${rest}`;
}
