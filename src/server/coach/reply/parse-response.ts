/**
 * Reads what a model answers, while it arrives and when it is whole. Nothing in it is believed: the score is checked,
 * citations of lines that do not exist are dropped, and what cannot be seen is taken out.
 *
 * What is shown is only ever added to, so everything of which the next piece could change the meaning is held back:
 * white space at the end, an opened `[`, half a character.
 */
import { PARTIAL_CITATION, resolveCitations } from '#domain/coach/citations.ts';
import type { Citation, FindCitation } from '#domain/coach/citations.ts';
import { isScore, MIN_REPLY_CHARS, MIN_TREND_REPLY_CHARS } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { parseScoredText } from '#domain/coach/score-line.ts';
import { isWinsHeadingPrefix, isWinsHeading } from '#domain/coach/win-bullets.ts';
import { parseJson } from '#server/parse-json.ts';
import { fieldsSoFar } from './partial-json.ts';
import { stripInvisible } from '#domain/coach/strip-invisible.ts';

/** More than this is no answer any more; the models are told of a fraction. */
export const LONGEST_REPLY = 16_000;
/** It is asked for as one short sentence; a page of it is something else. */
const LONGEST_FACT = 500;

/** `score` is null for a trend, which has none. */
export type SoFar = { score: number | null; text: string };
export type Reply = SoFar & { cited: Citation[]; missingFact: string | null };

export type ReplyReader = {
  /** What is certain while more may come. */
  soFar(text: string): SoFar;
  /** The reply, or null when it is none. */
  whole(text: string): Reply | null;
};

/** A reply by `FEEDBACK_SCHEMA`. */
export function objectReader(find: FindCitation): ReplyReader {
  return {
    soFar(text) {
      const fields = fieldsSoFar(withoutFence(text));
      const [score, feedback] = [fields.get('score'), fields.get('feedback')];
      return {
        score: isScore(score) ? score : null,
        text: typeof feedback === 'string' ? settled(feedback, find) : '',
      };
    },
    whole(text) {
      const { feedback, ...rest } = fieldsOf(parseJson(withoutFence(text)));
      return feedbackOf({ ...rest, text: feedback }, find);
    },
  };
}

/** A reply whose score and missing fact are lines of its text. */
export function textReader(find: FindCitation): ReplyReader {
  return {
    soFar(text) {
      const read = parseScoredText(stripInvisible(text.replace(HALF_CHARACTER, '')), false);
      // Before the score nothing is shown: a text without one is no feedback.
      if (read.score === null || read.isInvalid) return { score: null, text: '' };
      return { score: read.score, text: settled(read.text, find) };
    },
    whole(text) {
      const { isInvalid, ...said } = parseScoredText(stripInvisible(text), true);
      return isInvalid ? null : feedbackOf(said, find);
    },
  };
}

/** A reply of an endpoint that may mind the schema or not: how it begins says what it is. */
export function eitherReader(find: FindCitation): ReplyReader {
  const [object, scoredText] = [objectReader(find), textReader(find)];
  const readerOf = (text: string): ReplyReader => (/^\s*(?:```\w*\s*)?\{/.test(text) ? object : scoredText);
  return {
    soFar: (text) => readerOf(text).soFar(text),
    whole: (text) => readerOf(text).whole(text),
  };
}

/** `days`: those that the model was given a log of. A line about another day is invented, and dropped. */
export function trendReader(days: ReadonlySet<Day>): ReplyReader {
  return {
    soFar: (text) => ({ score: null, text: withoutUnknownDays(closed(text), days, true) }),
    whole(text) {
      const analysis = withoutUnknownDays(text, days, false);
      if (analysis.length < MIN_TREND_REPLY_CHARS || analysis.length > LONGEST_REPLY) return null;
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

function feedbackOf({ score, text: said, cited, missingFact }: Said, find: FindCitation): Reply | null {
  if (!isScore(score) || typeof said !== 'string') return null;
  const feedback = resolveCitations(stripInvisible(said), find);
  const text = feedback.text.trim();
  if (text.length < MIN_REPLY_CHARS || text.length > LONGEST_REPLY) return null;
  const listed = Array.isArray(cited) ? cited.flatMap((ref) => find(String(ref)) ?? []) : [];
  const fact = resolveCitations(typeof missingFact === 'string' ? stripInvisible(missingFact) : '', find);
  const sentence = fact.text.trim();
  const byLine = new Map([...listed, ...feedback.cited, ...fact.cited].map((each) => [each.line, each]));
  return {
    score,
    text,
    cited: [...byLine.values()].sort((a, b) => a.line - b.line),
    missingFact: sentence.length > LONGEST_FACT ? null : sentence || null,
  };
}

const HALF_CHARACTER = /[\uD800-\uDBFF]$/;
/** Without what the next piece may still change: half a character, an open citation, white space at the end. */
const closed = (text: string): string => stripInvisible(text.replace(HALF_CHARACTER, '')).replace(PARTIAL_CITATION, '');
const settled = (text: string, find: FindCitation): string => resolveCitations(closed(text), find).text.trim();

const OF_A_DAY = /^\s*[-*•]\s+\**(\d{4}-\d{2}-\d{2})(?!\d)/;
/** What may still become one. */
const MAY_BE_OF_A_DAY = /^\s*[-*•](?:\s+\**[\d-]{0,10})?$/;

/** The name of the wins goes with the last of them. */
function withoutUnknownDays(text: string, days: ReadonlySet<Day>, writing: boolean): string {
  const lines = stripInvisible(text).split('\n');
  const last = lines.at(-1)!;
  if (writing && (MAY_BE_OF_A_DAY.test(last) || isWinsHeadingPrefix(last))) lines.pop();
  const known = lines.filter((line) => {
    const date = OF_A_DAY.exec(line)?.[1];
    return date === undefined || days.has(date as Day);
  });
  const end = known.findLastIndex((line) => line.trim() !== '' && !isWinsHeading(line));
  return known
    .slice(0, end + 1)
    .join('\n')
    .trim();
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
