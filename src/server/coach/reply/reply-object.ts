/**
 * Finds the JSON object of a reply, whole or incomplete. Forgives what a person reads without effort: words and a fence
 * around the object, a list of one, trailing commas, raw line ends, needless escapes and other spellings of the names.
 */
import { parseJson } from '#server/parse-json.ts';

export type ReplyFields = { score?: unknown; feedback?: unknown; cited?: unknown; missingFact?: unknown };

const FIELD_BY_NAME: ReadonlyMap<string, keyof ReplyFields> = new Map([
  ['score', 'score'],
  ['hustlescore', 'score'],
  ['feedback', 'feedback'],
  ['cited', 'cited'],
  ['missingfact', 'missingFact'],
]);
const fieldOf = (name: unknown): keyof ReplyFields | undefined =>
  FIELD_BY_NAME.get(String(name).toLowerCase().replaceAll(/[ _-]/g, ''));

/** The first name and value of each field; a second one that differs makes the object invalid. */
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

/** A string without its closing quote. Excludes an incomplete escape sequence at the end. */
const STRING_PREFIX = String.raw`"([^"\\]*(?:\\(?:u[\da-fA-F]{4}|[^u])[^"\\]*)*)`;
/** Requires a terminator: without one, `1` could become `10`. */
const NUMBER = String.raw`(-?[\d.]+)(?=[\s,}])`;
const FIELD = String.raw`(?:^\s*\{|\s*,)\s*${STRING_PREFIX}"\s*:\s*(?:${STRING_PREFIX}("?)|${NUMBER}|\[[^[\]{}]*\]|true|false|null)`;

/** The object at the start of a reply, after a fence or the bracket of a list. */
const OBJECT_START = /^\s*(?:```\w*\s*)?(?:\[\s*)?(?=\{)/;

/**
 * The top-level fields of an incomplete object at the start of the reply, for display while it streams; null if the
 * reply starts otherwise. Strings may be truncated, except a score. Arrays of plain values are skipped, and parsing
 * stops at any other nesting.
 */
export function parsePartialObject(text: string): ReplyFields | null {
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

/** Threat: a reply of opening braces makes each of them a search to its end. */
const MAX_OBJECTS = 20;

export type FoundObject = { fields: ReplyFields | null; start: number; end: number };

/** The objects with a score that a complete reply contains. `fields`: null if a field has two values. */
export function findObjects(text: string): FoundObject[] {
  const found: FoundObject[] = [];
  let end = 0;
  for (const { index: start } of [...text.matchAll(/\{(?=\s*")/g)].slice(0, MAX_OBJECTS)) {
    if (start < end) continue;
    const source = balancedObject(text.slice(start));
    const value = source === null ? undefined : (parseJson(source) ?? parseJson(repairJson(source)));
    if (source === null || typeof value !== 'object' || value === null) continue;
    const fields = toFields(Object.entries(value));
    if (fields !== null && !('score' in fields)) continue;
    end = start + source.length;
    // `JSON.parse` keeps the last of two equal names.
    found.push({ fields: readFields(source) === null ? null : fields, start, end });
  }
  return found;
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

/** A quotation mark within a string is recognised by what follows: no string ends before a word. */
const repairJson = (source: string): string =>
  source.replaceAll(/"((?:[^"\\]|\\[^]|"(?!\s*[,:}\]]))*)(?:"|$)|,(?=\s*[}\]])/g, (_token, string?: string) =>
    string === undefined ? '' : `"${repairEscapes(string).replaceAll(/(?<!\\)"/g, '\\"')}"`,
  );

/** Escapes raw control characters in a JSON string, and drops backslashes that escape nothing, as in `\[` or `\'`. */
const repairEscapes = (string: string): string =>
  string
    .replaceAll(/\\(["\\/bfnrt]|u[\da-f]{4})|\\/gi, (escape, valid?: string) => (valid === undefined ? '' : escape))
    // oxlint-disable-next-line no-control-regex -- JSON forbids exactly these
    .replaceAll(/[\0-\x1f]/g, (control) => JSON.stringify(control).slice(1, -1));
