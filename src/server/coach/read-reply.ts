/**
 * Reads what a model answers, while it arrives and when it is whole. Nothing in it is believed: the score is checked,
 * numbers of items that do not exist are dropped, and what cannot be seen is taken out.
 *
 * What is shown is only ever added to, so everything of which the next piece could change the meaning is held back:
 * white space at the end, an opened `[`, half a character.
 */
import { isScore, MIN_REPLY, MIN_TREND_REPLY } from '#domain/coach.ts';
import type { Day } from '#domain/day.ts';
import { readScoredText } from '#domain/score-line.ts';
import { beginsWinsName, isWinsName } from '#domain/win-bullets.ts';
import { parseJson } from '../parse-json.ts';
import { fieldsSoFar } from './fields-so-far.ts';
import { plainWords } from './plain-words.ts';

/** More than this is no answer any more; the models are told of a fraction. */
export const LONGEST_REPLY = 16_000;
/** It is asked for as one short sentence; a page of it is something else. */
const LONGEST_FACT = 500;

/** `score` is null for a trend, which has none. */
export type SoFar = { score: number | null; text: string };
export type Reply = SoFar & { cited: number[]; missingFact: string | null };

export type ReplyReader = {
  /** What is certain while more may come. */
  soFar(text: string): SoFar;
  /** The reply, or null when it is none. */
  whole(text: string): Reply | null;
};

/** A reply by `FEEDBACK_SCHEMA`. */
export function objectReader(items: number): ReplyReader {
  return {
    soFar(text) {
      const fields = fieldsSoFar(withoutFence(text));
      const [score, feedback] = [fields.get('score'), fields.get('feedback')];
      return {
        score: isScore(score) ? score : null,
        text: typeof feedback === 'string' ? settled(feedback, items) : '',
      };
    },
    whole(text) {
      const { feedback, ...rest } = fieldsOf(parseJson(withoutFence(text)));
      return feedbackOf({ ...rest, text: feedback }, items);
    },
  };
}

/** A reply whose score and missing fact are lines of its text. */
export function textReader(items: number): ReplyReader {
  return {
    soFar(text) {
      const read = readScoredText(plainWords(text.replace(HALF_CHARACTER, '')), false);
      // Before the score nothing is shown: a text without one is no feedback.
      if (read.score === null || read.broken) return { score: null, text: '' };
      return { score: read.score, text: settled(read.text, items) };
    },
    whole(text) {
      const { broken, ...said } = readScoredText(plainWords(text), true);
      return broken ? null : feedbackOf(said, items);
    },
  };
}

/** A reply of an endpoint that may mind the schema or not: how it begins says what it is. */
export function eitherReader(items: number): ReplyReader {
  const [object, scoredText] = [objectReader(items), textReader(items)];
  const readerOf = (text: string): ReplyReader => (/^\s*(?:```\w*\s*)?\{/.test(text) ? object : scoredText);
  return {
    soFar: (text) => readerOf(text).soFar(text),
    whole: (text) => readerOf(text).whole(text),
  };
}

/** `days`: those that the model was given a log of. A line about another day is invented, and dropped. */
export function trendReader(days: ReadonlySet<Day>): ReplyReader {
  return {
    soFar: (text) => ({ score: null, text: withoutUnknownDays(text.replace(OPEN_END, ''), days, true) }),
    whole(text) {
      const analysis = withoutUnknownDays(text, days, false);
      if (analysis.length < MIN_TREND_REPLY || analysis.length > LONGEST_REPLY) return null;
      return { score: null, text: analysis, cited: [], missingFact: null };
    },
  };
}

/** Models that are asked for JSON and not held to it like to put it between three backticks. */
function withoutFence(text: string): string {
  const [fence] = /^\s*```(?:json)?\s/.exec(text) ?? [];
  if (fence === undefined) return text;
  const inside = text.slice(fence.length).trimEnd();
  return inside.endsWith('```') ? inside.slice(0, -3) : inside;
}

type Said = { score?: unknown; text?: unknown; cited?: unknown; missingFact?: unknown };

function feedbackOf({ score, text: said, cited, missingFact }: Said, items: number): Reply | null {
  if (!isScore(score) || typeof said !== 'string') return null;
  const text = withoutUnknownItems(said, items);
  if (text.length < MIN_REPLY || text.length > LONGEST_REPLY) return null;
  const listed = Array.isArray(cited) ? cited.filter((number) => isItem(number, items)) : [];
  const named = [...text.matchAll(NUMBERS)].flatMap(([, numbers]) => numbersIn(numbers!, items));
  const fact = typeof missingFact === 'string' ? plainWords(missingFact).trim() : '';
  return {
    score,
    text,
    cited: [...new Set([...listed, ...named])].sort((a, b) => a - b),
    missingFact: fact.length > LONGEST_FACT ? null : fact || null,
  };
}

// Both begin where a run of white space begins and nowhere within it: a reply of blanks alone would take quadratic time.
const NUMBERS = /(?<![ \t])[ \t]*\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]/g;
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;
/** What may still become one, with the white space before it, or half a character. */
const OPEN_END = /(?<!\s)\s*(?:\[[\d,\s]*)?[\uD800-\uDBFF]?$/;

/** `[2, 99]` of 12 items becomes `[2]`, and `[99]` goes. */
function withoutUnknownItems(text: string, items: number): string {
  const known = plainWords(text).replaceAll(NUMBERS, (marker, numbers: string) => {
    const named = numbersIn(numbers, items);
    if (named.length === 0) return '';
    return `${marker.slice(0, marker.indexOf('['))}[${named.join(', ')}]`;
  });
  return known.trim();
}

const settled = (text: string, items: number): string => withoutUnknownItems(text.replace(OPEN_END, ''), items);

const OF_A_DAY = /^\s*[-*•]\s+\**(\d{4}-\d{2}-\d{2})(?!\d)/;
/** What may still become one. */
const MAY_BE_OF_A_DAY = /^\s*[-*•](?:\s+\**[\d-]{0,10})?$/;

/** The name of the wins goes with the last of them. */
function withoutUnknownDays(text: string, days: ReadonlySet<Day>, writing: boolean): string {
  const lines = plainWords(text).split('\n');
  const last = lines.at(-1)!;
  if (writing && (MAY_BE_OF_A_DAY.test(last) || beginsWinsName(last))) lines.pop();
  const known = lines.filter((line) => {
    const date = OF_A_DAY.exec(line)?.[1];
    return date === undefined || days.has(date as Day);
  });
  const end = known.findLastIndex((line) => line.trim() !== '' && !isWinsName(line));
  return known
    .slice(0, end + 1)
    .join('\n')
    .trim();
}

const isItem = (value: unknown, items: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= items;

const numbersIn = (text: string, items: number): number[] =>
  text
    .split(',')
    .map(Number)
    .filter((number) => isItem(number, items));

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
