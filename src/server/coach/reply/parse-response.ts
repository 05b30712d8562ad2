/**
 * Parses a model's reply, both while it streams and when it is complete. The reply is untrusted: the score is
 * validated, citations of unknown lines are dropped and invisible characters are removed.
 *
 * Displayed text is append-only. A partial parse therefore withholds a suffix whose meaning the next chunk could
 * change: trailing white space, an open `[` or half a surrogate pair.
 */
import { PARTIAL_CITATION, resolveCitations } from '#domain/coach/citations.ts';
import type { Citation, FindCitation } from '#domain/coach/citations.ts';
import { isScore, MIN_REPLY_CHARS, MIN_TREND_REPLY_CHARS } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { parseScoredText } from '#domain/coach/score-line.ts';
import { isWinsHeadingPrefix, isWinsHeading } from '#domain/coach/win-bullets.ts';
import { parseJson } from '#server/parse-json.ts';
import { parsePartialJson } from './partial-json.ts';
import { stripInvisible } from '#domain/coach/strip-invisible.ts';

/** Far above the length that the prompts ask for; a longer reply is invalid. */
export const MAX_REPLY_CHARS = 16_000;
/** The prompt asks for one short sentence; a longer text is dropped. */
const MAX_MISSING_FACT_CHARS = 500;

/** `score` is null for a trend, and for feedback until the score has arrived. */
export type PartialReply = { score: number | null; text: string };
export type Reply = PartialReply & { cited: Citation[]; missingFact: string | null };

export type ReplyParser = {
  /** Returns the stable prefix: later text only appends to it. */
  parsePartial(text: string): PartialReply;
  /** Returns null if the reply is invalid. */
  parseFinal(text: string): Reply | null;
};

/** For a reply that follows `FEEDBACK_SCHEMA`. */
export function jsonReplyParser(find: FindCitation): ReplyParser {
  return {
    parsePartial(text) {
      const fields = parsePartialJson(stripCodeFence(text));
      const [score, feedback] = [fields.get('score'), fields.get('feedback')];
      return {
        score: isScore(score) ? score : null,
        text: typeof feedback === 'string' ? toStableText(feedback, find) : '',
      };
    },
    parseFinal(text) {
      const { feedback, ...rest } = asRecord(parseJson(stripCodeFence(text)));
      return toFeedbackReply({ ...rest, text: feedback }, find);
    },
  };
}

/** For a text reply with a score line and a missing-fact line. */
export function textReplyParser(find: FindCitation): ReplyParser {
  return {
    parsePartial(text) {
      const parsed = parseScoredText(stripInvisible(text.replace(TRAILING_HIGH_SURROGATE, '')), false);
      // Text without a score is invalid, so no text is shown before the score.
      if (parsed.score === null || parsed.isInvalid) return { score: null, text: '' };
      return { score: parsed.score, text: toStableText(parsed.text, find) };
    },
    parseFinal(text) {
      const { isInvalid, ...parsed } = parseScoredText(stripInvisible(text), true);
      return isInvalid ? null : toFeedbackReply(parsed, find);
    },
  };
}

/** For an endpoint that may ignore the schema: detects JSON or text by the first characters. */
export function autoReplyParser(find: FindCitation): ReplyParser {
  const [json, scoredText] = [jsonReplyParser(find), textReplyParser(find)];
  const parserFor = (text: string): ReplyParser => (/^\s*(?:```\w*\s*)?\{/.test(text) ? json : scoredText);
  return {
    parsePartial: (text) => parserFor(text).parsePartial(text),
    parseFinal: (text) => parserFor(text).parseFinal(text),
  };
}

/** `days`: the days whose logs the prompt contained. A dated bullet of any other day is invented, so it is dropped. */
export function trendReplyParser(days: ReadonlySet<Day>): ReplyParser {
  return {
    parsePartial: (text) => ({ score: null, text: dropUnknownDays(trimOpenEnd(text), days, true) }),
    parseFinal(text) {
      const analysis = dropUnknownDays(text, days, false);
      if (analysis.length < MIN_TREND_REPLY_CHARS || analysis.length > MAX_REPLY_CHARS) return null;
      return { score: null, text: analysis, cited: [], missingFact: null };
    },
  };
}

/** Without a schema, models often wrap JSON in a Markdown code fence. */
function stripCodeFence(text: string): string {
  const [fence] = /^\s*```(?:json)?\s/.exec(text) ?? [];
  if (fence === undefined) return text;
  const inside = text.slice(fence.length).trimEnd();
  return inside.endsWith('```') ? inside.slice(0, -3) : inside;
}

type RawReply = { score?: unknown; text?: unknown; cited?: unknown; missingFact?: unknown };

function toFeedbackReply({ score, text: rawText, cited, missingFact }: RawReply, find: FindCitation): Reply | null {
  if (!isScore(score) || typeof rawText !== 'string') return null;
  const feedback = resolveCitations(stripInvisible(rawText), find);
  const text = feedback.text.trim();
  if (text.length < MIN_REPLY_CHARS || text.length > MAX_REPLY_CHARS) return null;
  const listed = Array.isArray(cited) ? cited.flatMap((ref) => find(String(ref)) ?? []) : [];
  const fact = resolveCitations(typeof missingFact === 'string' ? stripInvisible(missingFact) : '', find);
  const sentence = fact.text.trim();
  const byLine = new Map([...listed, ...feedback.cited, ...fact.cited].map((citation) => [citation.line, citation]));
  return {
    score,
    text,
    cited: [...byLine.values()].sort((a, b) => a.line - b.line),
    missingFact: sentence.length > MAX_MISSING_FACT_CHARS ? null : sentence || null,
  };
}

const TRAILING_HIGH_SURROGATE = /[\uD800-\uDBFF]$/;
/** Removes a suffix that the next chunk may still change: half a surrogate pair or an open citation. */
const trimOpenEnd = (text: string): string =>
  stripInvisible(text.replace(TRAILING_HIGH_SURROGATE, '')).replace(PARTIAL_CITATION, '');
const toStableText = (text: string, find: FindCitation): string =>
  resolveCitations(trimOpenEnd(text), find).text.trim();

const DATED_BULLET = /^\s*[-*•]\s+\**(\d{4}-\d{2}-\d{2})(?!\d)/;
const DATED_BULLET_PREFIX = /^\s*[-*•](?:\s+\**[\d-]{0,10})?$/;

/** Removes bullets of days outside `days`, and the heading of the wins at the end if no win is left. */
function dropUnknownDays(text: string, days: ReadonlySet<Day>, isPartial: boolean): string {
  const lines = stripInvisible(text).split('\n');
  const last = lines.at(-1)!;
  if (isPartial && (DATED_BULLET_PREFIX.test(last) || isWinsHeadingPrefix(last))) lines.pop();
  const known = lines.filter((line) => {
    const date = DATED_BULLET.exec(line)?.[1];
    return date === undefined || days.has(date as Day);
  });
  const end = known.findLastIndex((line) => line.trim() !== '' && !isWinsHeading(line));
  return known
    .slice(0, end + 1)
    .join('\n')
    .trim();
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
