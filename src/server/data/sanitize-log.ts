/**
 * Sanitizes the HTML of a log by the allow-list (docs/specification/days-and-saving.md 4).
 *
 * Threat: stored XSS. The journal's own editor never produces a script, but any client may call the data API. Content
 * that is already clean, as the editor writes it, is stored as it is; everything else goes through sanitize-html, which
 * writes only allow-listed tags.
 */
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type sanitizeHtml from 'sanitize-html';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import {
  DATE_HEADER_CLASS,
  ENTRY_MAX_DEPTH,
  ENTRY_TAGS,
  isCleanLog,
  LIST_START,
  withoutControls,
  withoutDateHeader,
} from '#domain/log/entry-html.ts';
import type { ConcurrencyLimiter } from '#server/load/concurrency-limiter.ts';
import { dataError } from './errors.ts';
import type { ExposedTable, Column } from './exposed-tables.ts';
import type { Rows, WrittenValue, Condition } from './query.ts';

/**
 * Loaded lazily, because the parser takes 18 MB of memory and logs of the journal's own editor do not need it. Loaded
 * with `require`, so that `sanitizeLog` stays synchronous.
 */
const requireModule = createRequire(import.meta.url);
const parser = (): typeof sanitizeHtml => requireModule('sanitize-html') as typeof sanitizeHtml;

const SANITIZE_OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: [...ENTRY_TAGS],
  allowedAttributes: { ol: ['start'] },
  allowedClasses: { h2: [DATE_HEADER_CLASS] },
  /** Only these elements lose their content; the text of form fields and frames is kept. */
  nonTextTags: ['script', 'style'],
  nestingLimit: ENTRY_MAX_DEPTH,
  transformTags: {
    ol: (tagName, { start }) => ({ tagName, attribs: LIST_START.test(start ?? '') ? { start: start! } : {} }),
  },
  /** Character references stay unchanged (`&nbsp;` and U+00A0 differ in bytes); a bare `&` becomes `&amp;`. */
  parser: { decodeEntities: false },
};

/**
 * Threat: the parser's time grows quadratically with nesting. Real logs have a few levels; browsers nest at most 512.
 */
const MAX_OPEN_TAGS = 512;
/**
 * Opening tags of a log that needs the parser, counted as `<`. Threat: 256 KB of unclosed tags take the parser a
 * quarter of a second, only to become longer than a log may be. 10,000 list items have 20,000 tags.
 */
const MAX_TAGS = 30_000;

const TOO_MANY_TAGS = `A log can hold ${MAX_TAGS} HTML tags at most. Please shorten it`;

const MAX_PASSES = 4;

const MISPLACED_HEADER = `<h2 class="${DATE_HEADER_CLASS}">`;

/**
 * Returns the log as it is stored, but without its date header: the SQL statement adds that (`withDateHeaderSql`).
 * Throws a DataError for a log that is over `ENTRY_MAX_BYTES` of UTF-8, as sent or as sanitized, or that has too many
 * tags or nests them too deeply.
 */
export function sanitizeLog(content: string): string {
  checkLogSize(content);
  if (isCleanLog(content)) return withoutDateHeader(content);
  const passes = sanitizeInPasses(content);
  let step = passes.next();
  while (!step.done) step = passes.next();
  return step.value;
}

/** Yields before each further pass of the parser. */
function* sanitizeInPasses(content: string): Generator<void, string, undefined> {
  checkTagCount(content);
  let sanitized = parseAndSanitize(withoutControls(content).toWellFormed());
  // Unwrapping can leave elements that a parser would rearrange. Further passes follow until the log is clean or no
  // longer changes, at most `MAX_PASSES` in all.
  for (let pass = 1; pass < MAX_PASSES && !isCleanLog(sanitized); pass += 1) {
    yield;
    const again = parseAndSanitize(sanitized);
    if (again === sanitized) break;
    sanitized = again;
  }
  return sanitized;
}

/** Sanitizes one log; returns a promise for a log that needs the parser. Throws or rejects as `sanitizeLog` does. */
export type SanitizeLog = (content: string) => string | Promise<string>;

/**
 * Sanitizes the logs of all requests. Logs that need the parser go through `limiter` one at a time, and the event loop
 * serves other requests between two passes of the parser. Clean logs, as the editor sends them, do not wait.
 *
 * Threat: the parser takes some milliseconds for a log of 30 KB, and a tenth of a second for the most hostile one of
 * 256 KB; without a limiter, sixty concurrent requests would block the event loop for the sum of these times.
 */
export function createLogSanitizer(
  limiter: ConcurrencyLimiter,
  yieldToEventLoop: () => Promise<unknown> = setImmediate,
): SanitizeLog {
  async function sanitizeInTurn(content: string): Promise<string> {
    const release = await limiter.acquire();
    try {
      const passes = sanitizeInPasses(content);
      let step = passes.next();
      while (!step.done) {
        await yieldToEventLoop();
        step = passes.next();
      }
      return step.value;
    } finally {
      void yieldToEventLoop().then(release);
    }
  }
  return (content) => {
    checkLogSize(content);
    return isCleanLog(content) ? withoutDateHeader(content) : sanitizeInTurn(content);
  };
}

function checkLogSize(html: string): void {
  // A UTF-16 unit takes at most three bytes of UTF-8, so most logs need no exact count.
  if (html.length * 3 <= ENTRY_MAX_BYTES) return;
  const bytes = Buffer.byteLength(html);
  if (bytes > ENTRY_MAX_BYTES) throw dataError('54000', { details: `The log has ${bytes} bytes.` });
}

function checkTagCount(html: string): void {
  let count = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    if (html.charCodeAt(at + 1) !== 47 /* a slash */ && (count += 1) > MAX_TAGS)
      throw dataError('54000', { message: TOO_MANY_TAGS });
  }
}

function parseAndSanitize(html: string): string {
  let openTags = 0;
  const output = parser()(html, {
    ...SANITIZE_OPTIONS,
    onOpenTag() {
      openTags += 1;
      if (openTags > MAX_OPEN_TAGS) throw dataError('54001');
    },
    onCloseTag() {
      openTags -= 1;
    },
  });
  const log = withoutDateHeader(output.replace(/^\s+(?=<h2 class)/, ''))
    // A date header that is not first becomes a normal heading.
    .replaceAll(MISPLACED_HEADER, '<h2>')
    // Every `<` of the text is escaped, so this matches only tags that the parser wrote.
    .replaceAll('<br />', '<br>');
  checkLogSize(log);
  return log;
}

/**
 * How much to sanitize before yielding to the event loop: UTF-16 units of logs, some milliseconds of the parser. A
 * single log cannot be split, so the longest log bounds the delay of other requests.
 */
const CHUNK_LENGTH = 16_384;
/** The fixed cost of a row, in the same unit. */
const BASE_COST_PER_ROW = 64;

/**
 * Sanitizes logs and validates all other values: rejects U+0000, which PostgreSQL cannot store, and malformed dates.
 */
export async function sanitizeRows(
  table: ExposedTable,
  { columns, rows }: Rows,
  sanitize: SanitizeLog,
  yieldToEventLoop: () => Promise<unknown> = setImmediate,
): Promise<Rows> {
  const log = table.log === null ? -1 : columns.indexOf(table.log.content);
  const sanitized: WrittenValue[][] = [];
  let work = 0;
  for (const row of rows) {
    // Yield before the row that exceeds the chunk, not after: neither the last row nor a single one needs a yield.
    const cost = log === -1 ? BASE_COST_PER_ROW : BASE_COST_PER_ROW + String(row[log]).length;
    if (work > 0 && work + cost > CHUNK_LENGTH) {
      await yieldToEventLoop();
      work = 0;
    }
    work += cost;
    const values = row.map((value, index) => {
      if (index === log) return value;
      if (typeof value === 'string' && value.includes('\0')) {
        throw dataError('22P05', { details: '\\u0000 cannot be converted to text.' });
      }
      checkDate(columns[index]!, value);
      return value;
    });
    if (log !== -1 && row[log] !== null) values[log] = await sanitize(String(row[log]));
    sanitized.push(values);
  }
  return { columns, rows: sanitized };
}

// Accepts dates on the data API only as `YYYY-MM-DD` (docs/specification/api.md 19).
//
// PostgreSQL also accepts `yesterday`, `now`, `20260101` and `January 8, 1999`. The meaning of such forms can depend on
// the session's time zone and DateStyle, so one request could mean different days, and a typo could become a valid day.

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Throws 22007. PostgreSQL checks that the day exists and has a separate code for that. */
function checkDate({ type }: Column, value: WrittenValue): void {
  if (type !== 'date' || value === null || value === undefined || (typeof value === 'string' && DATE.test(value)))
    return;
  throw dataError('22007', { message: `invalid input syntax for type date: "${String(value).slice(0, 100)}"` });
}

/** Checks the values of filters. Patterns are left to PostgreSQL, which rejects `like` on a date. */
export function checkDates(conditions: readonly Condition[]): void {
  for (const condition of conditions) {
    if (condition.kind === 'group') checkDates(condition.conditions);
    else if (condition.kind === 'is' || condition.operator === 'like' || condition.operator === 'ilike') continue;
    else if (condition.kind === 'each') for (const value of condition.values) checkDate(condition.column, value);
    else checkDate(condition.column, condition.value);
  }
}
