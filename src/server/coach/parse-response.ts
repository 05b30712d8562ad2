/**
 * Parses a model's reply, both while it streams and when it is complete. The reply is untrusted: the score is
 * validated, citations of unknown lines are dropped and invisible characters are removed.
 *
 * Displayed text is append-only. A partial parse therefore withholds a suffix whose meaning the next chunk could
 * change, such as trailing white space, an open `[` or half a surrogate pair.
 */
import { PARTIAL_CITATION, resolveCitations, type Citation, type FindCitation } from '#domain/coach/citations.ts';
import { MIN_REPLY_CHARS } from '#domain/coach/coach.ts';
import { isScoreName, parseScoredText, readScore } from '#domain/coach/score-line.ts';
import { stripInvisible } from '#domain/strip-invisible.ts';
import { parseJson } from '../parse-json.ts';
import { parseLooseObject, repairEscapes } from './loose-json.ts';
import { REPLY_START, stripThoughts } from './strip-thoughts.ts';

/** The longest feedback or review that is accepted, far above what the prompts ask for. */
export const MAX_REPLY_CHARS = 16_000;
/** The prompt asks for one short sentence; a longer text is dropped. */
const MAX_MISSING_FACT_CHARS = 500;
/** Some models write this instead of an empty missing fact. */
const NO_FACT = /^(?:(?:none|nothing|n\/a|null|no)[.!]?|[\s\p{P}]*)$/iu;

/** `score` is null for a review, and for feedback until the score has arrived. */
export type PartialReply = { score: number | null; text: string };
export type Reply = PartialReply & { cited: Citation[]; missingFact: string | null };

export type ReplyParser = {
  /** Returns the stable prefix: later text only appends to it. */
  parsePartial(text: string): PartialReply;
  /** Returns null if the reply is invalid. */
  parseFinal(text: string): Reply | null;
};

/**
 * For feedback: an object that follows `FEEDBACK_SCHEMA`, or a text with a score line and a missing-fact line, because
 * an endpoint may ignore the schema. `isQuoted`: see `createQuoteFinder`.
 *
 * A reply that starts otherwise, for example with a greeting, is not displayed before it is complete: its start may be
 * a thought whose opening marker is missing, or an object may follow.
 */
export function feedbackReplyParser(
  find: FindCitation,
  isQuoted: (text: string) => boolean = () => false,
): ReplyParser {
  const toReply = ({ score, text, cited, missingFact }: RawReply): Reply | null => {
    // Threat: the model repeats the log, with the score that the log asks for, instead of judging it.
    if (score === null || typeof text !== 'string' || isQuoted(text)) return null;
    return toFeedbackReply({ score, text, cited, missingFact }, find);
  };
  return {
    parsePartial(reply) {
      const { text, isInvalid } = stripThoughts(stripInvisible(reply.replace(TRAILING_HIGH_SURROGATE, '')), false);
      if (isInvalid) return NOTHING;
      const object = parsePartialObject(withBrace(text));
      if (object) {
        const { score, feedback } = object;
        if (score !== undefined && readScore(score) === null) return NOTHING;
        return { score: readScore(score), text: typeof feedback === 'string' ? toStableText(feedback, find) : '' };
      }
      const scored = parseScoredText(text, false, isQuoted);
      if (!scored.startsWithScore || scored.score === null || scored.isInvalid) return NOTHING;
      return { score: scored.score, text: toStableText(scored.text, find) };
    },
    parseFinal(reply) {
      const { text: received, isInvalid } = stripThoughts(stripInvisible(reply), true);
      if (isInvalid) return null;
      const text = unquoted(received);
      const scored = parseScoredText(text, true, isQuoted);
      const objects = scored.startsWithScore ? [] : findObjects(text);
      // Threat: in an object that cannot be read, a line of the feedback quotes the score that the log asks for.
      const isUnread = !scored.startsWithScore && REPLY_START.test(text);
      if (objects.length === 0) {
        if (scored.isInvalid || isUnread) return null;
        const above = scored.text.slice(0, scored.text.length - scored.textBelow.length);
        const hasPreamble = scored.textBelow.length >= MIN_FEEDBACK_BELOW_SCORE || INTRODUCTION.test(above);
        return toReply({ ...scored, text: hasPreamble ? scored.textBelow : scored.text });
      }
      const around = objects.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
      const scores = new Set(objects.map(({ fields }) => readScore(fields?.score)));
      const texts = new Set(objects.map(({ fields }) => asOneText(fields?.feedback)));
      const outside = parseScoredText(around, true);
      // Threat: one of two scores may be quoted from the log.
      const isAmbiguous = objects.some(({ fields }) => fields === null) || scores.size > 1 || texts.size > 1;
      if (isAmbiguous || outside.isInvalid || (outside.score !== null && !scores.has(outside.score))) return null;
      const { score, feedback, ...rest } = objects[0]!.fields!;
      return toReply({ ...rest, score: readScore(score), text: asOneText(feedback) });
    },
  };
}

/** Decodes an object that arrives as a JSON string, `"{\"score\": 7, …}"`, with or without its quotation marks. */
function unquoted(text: string): string {
  const start = /^(?:(")\s*)?\{\s*\\"/.exec(text.trimStart());
  const value = start && parseJson(start[1] === undefined ? `"${text.trim()}"` : text.trim());
  return typeof value === 'string' ? value : withBrace(text);
}

/** Adds the first brace of an object if the reply lacks it. */
const withBrace = (text: string): string => text.replace(/^\s*(?="score"\s*:)/, '{');

/** If at least this much text stands below the score line, the text above it is taken for a preamble and dropped. */
const MIN_FEEDBACK_BELOW_SCORE = 200;

/** A line such as "Here is my feedback:". */
const INTRODUCTION = /^[^\n]{1,100}[:：][*_]{0,3}\s*$/;

const NOTHING: PartialReply = { score: null, text: '' };

/** A shorter text may occur in a log by chance. */
const MIN_QUOTE_LETTERS = 10;

/**
 * Returns a function that tells whether every line of a text occurs in the logs. Compares letters and digits only,
 * without case.
 */
export function createQuoteFinder(logs: readonly string[]): (text: string) => boolean {
  const lettersOf = (text: string): string =>
    text
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, '');
  const all = logs.map(lettersOf).join('');
  return (text) =>
    lettersOf(text).length >= MIN_QUOTE_LETTERS && text.split('\n').every((line) => all.includes(lettersOf(line)));
}

type RawReply = { score: number | null; text: unknown; cited?: unknown; missingFact?: unknown };

function toFeedbackReply(
  { score, text: rawText, cited, missingFact }: RawReply & { text: string },
  find: FindCitation,
): Reply | null {
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
    missingFact: sentence.length > MAX_MISSING_FACT_CHARS || NO_FACT.test(sentence) ? null : sentence,
  };
}

const TRAILING_HIGH_SURROGATE = /[\uD800-\uDBFF]$/;
/**
 * Removes invisible characters, and a suffix that the next chunk may still change: half a surrogate pair or an open
 * citation.
 */
export const trimOpenEnd = (text: string): string =>
  stripInvisible(text.replace(TRAILING_HIGH_SURROGATE, '')).replace(PARTIAL_CITATION, '');
const toStableText = (text: string, find: FindCitation): string =>
  resolveCitations(trimOpenEnd(text), find).text.trim();

// Finds the JSON object of a reply, whole or incomplete. Forgives what a person reads without effort: words and a fence
// around the object, a list of one, what `loose-json.ts` reads, and other spellings of the names.

type ReplyFields = { score?: unknown; feedback?: unknown; cited?: unknown; missingFact?: unknown };

const FIELD_BY_NAME: ReadonlyMap<string, keyof ReplyFields> = new Map([
  ['score', 'score'],
  ['hustlescore', 'score'],
  ['feedback', 'feedback'],
  ['cited', 'cited'],
  ['missingfact', 'missingFact'],
]);
const fieldOf = (name: unknown): keyof ReplyFields | undefined =>
  FIELD_BY_NAME.get(String(name).toLowerCase().replaceAll(/[ _-]/g, ''));

/** The value of each field under its usual name. Null if the object gives one field two different values. */
function toFields(entries: Iterable<[unknown, unknown]>): ReplyFields | null {
  const fields: ReplyFields = {};
  for (const [name, value] of entries) {
    const field = fieldOf(name);
    if (field === undefined) continue;
    if (field in fields && JSON.stringify(fields[field]) !== JSON.stringify(value)) return null;
    fields[field] ??= value;
  }
  return fields;
}

/** A shorter text under an unknown name is not taken for the feedback. */
const MIN_UNNAMED_FEEDBACK_CHARS = 40;

/**
 * Adds fields whose names a model has translated or invented: the score is the only other member with a name for
 * scores, the feedback the only other long text.
 */
function withOtherNames(
  fields: ReplyFields | null,
  entries: readonly (readonly [string, unknown])[],
): ReplyFields | null {
  if (fields === null) return null;
  const others = entries.filter(([name]) => fieldOf(name) === undefined);
  const scores = others.filter(([name, value]) => isScoreName(name) && readScore(value) !== null);
  const texts = others.filter(([, value]) => typeof value === 'string' && value.length >= MIN_UNNAMED_FEEDBACK_CHARS);
  const found = { ...(scores.length === 1 && { score: scores[0]![1] }), ...fields };
  return 'score' in found && texts.length === 1 ? { feedback: texts[0]![1], ...found } : found;
}

/** A string without its closing quote. Excludes an incomplete escape sequence at the end. */
const STRING_PREFIX = String.raw`"([^"\\]*(?:\\(?:u[\da-fA-F]{4}|[^u])[^"\\]*)*)`;
/** Requires a terminator: without one, `1` could become `10`. */
const NUMBER = String.raw`(-?[\d.]+)(?=[\s,}])`;
const FIELD = String.raw`(?:^\s*\{|\s*,)\s*${STRING_PREFIX}"\s*:\s*(?:${STRING_PREFIX}("?)|${NUMBER}|\[[^[\]{}]*\]|true|false|null)`;

/** Matches the start of a reply up to its first brace: a fence and the bracket of a list may stand there. */
const OBJECT_START = /^\s*(?:```\w*\s*)?(?:\[\s*)?(?=\{)/;

/**
 * The top-level fields of an incomplete object at the start of the reply, for display while it streams; null if the
 * reply starts otherwise. Strings may be truncated, except a score. Arrays of plain values are skipped, and parsing
 * stops at any other nesting.
 */
function parsePartialObject(text: string): ReplyFields | null {
  const start = OBJECT_START.exec(text)?.[0].length;
  return start === undefined ? null : (readFields(text.slice(start)) ?? {});
}

function readFields(source: string): ReplyFields | null {
  const entries: [unknown, unknown][] = [];
  for (const [, name, string, quote, number] of source.matchAll(new RegExp(FIELD, 'gy'))) {
    const isOpenScore = quote === '' && fieldOf(name) === 'score';
    if (number !== undefined) entries.push([name, Number(number)]);
    else if (string !== undefined && !isOpenScore) entries.push([name, parseJson(`"${repairEscapes(string)}"`)]);
  }
  return toFields(entries);
}

/** Threat: in a reply of opening braces, each brace starts a search to the end of the reply. */
const MAX_OBJECTS = 20;
/** A brace before a name, which need not stand between quotation marks, or before a comment. */
const OPENING_BRACE = /\{(?=\s*(?:["'“„‘«`]|[A-Za-z_][\w -]{0,30}[:：]|\/[/*]))/g;

type FoundObject = { fields: ReplyFields | null; start: number; end: number };

/**
 * The objects of a complete reply that have a score, or the tags instead of an object. `fields` is null if one field
 * has two different values.
 */
function findObjects(text: string): FoundObject[] {
  const found: FoundObject[] = [];
  let end = 0;
  for (const { index: start } of [...text.matchAll(OPENING_BRACE)].slice(0, MAX_OBJECTS)) {
    if (start < end) continue;
    const object = parseObject(text, start);
    if (object === null) continue;
    const { fields, values } = object;
    if (fields === null || 'score' in fields) found.push({ fields, start, end: object.end });
    else {
      // Some models write a tool call as text, with the object as a string among its arguments.
      const inner = values.flatMap((value) => (/^\s*\{/.test(String(value)) ? findObjects(String(value)) : []));
      if (inner.length === 0) continue;
      found.push(
        ...inner.map(({ fields: of }, index) => ({ fields: of, start, end: index === 0 ? object.end : start })),
      );
    }
    end = object.end;
  }
  return found.length > 0 ? found : findTaggedFields(text);
}

function parseObject(
  text: string,
  start: number,
): { fields: ReplyFields | null; values: readonly unknown[]; end: number } | null {
  const source = balancedObject(text.slice(start));
  const value = source === null ? undefined : parseJson(source);
  if (source === null || typeof value !== 'object' || value === null) {
    const loose = parseLooseObject(text, start);
    return loose && { ...toObject(toFields(loose.entries), loose.entries), end: loose.end };
  }
  const entries = Object.entries(value) as [string, unknown][];
  // `JSON.parse` keeps the last of two equal names, so `readFields` looks for two different values in the source.
  const fields = readFields(source) === null ? null : toFields(entries);
  return { ...toObject(fields, entries), end: start + source.length };
}

const toObject = (fields: ReplyFields | null, entries: readonly [string, unknown][]) => ({
  fields: withOtherNames(fields, entries),
  values: entries.map(([, value]) => value),
});

const TAGGED_FIELD = /<(hustle_?score|score|feedback|cited|missing_?fact)>([^]*?)<\/\1>/gi;

/** `<score>7</score><feedback>…</feedback>` instead of an object. */
function findTaggedFields(text: string): FoundObject[] {
  const tags = [...text.matchAll(TAGGED_FIELD)];
  const fields = toFields(tags.map(([, name, value]) => [name, value!.trim()]));
  if (fields !== null && !('score' in fields && 'feedback' in fields)) return [];
  const last = tags.at(-1)!;
  return [{ fields, start: tags[0]!.index, end: last.index + last[0].length }];
}

/** A model that writes its paragraphs as a list, or under names, means one text. */
function asOneText(feedback: unknown): unknown {
  if (typeof feedback !== 'object' || feedback === null) return feedback;
  const parts: unknown[] = Object.values(feedback);
  return parts.length > 0 && parts.every((part) => typeof part === 'string') ? parts.join('\n\n') : feedback;
}

/** Returns the text up to the brace that closes its first one, or null. */
function balancedObject(text: string): string | null {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\[^])*"|[{}]/g)) {
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (depth === 0) return text.slice(0, index + token.length);
  }
  return null;
}
