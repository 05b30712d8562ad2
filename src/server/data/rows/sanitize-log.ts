/**
 * What is stored of a log that a client sends: exactly the HTML of the allow-list (docs/specification/days-and-saving.md 4), whoever sent it.
 *
 * Threat: a stored script that runs in the reader's session. The journal's own editor never produces one, but anybody
 * may call the data API. Content that already is clean, as the editor's always is, is stored as sent; everything else
 * goes through sanitize-html, which parses as browsers do and writes out only literal, allow-listed tags.
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
  withoutDateHeader,
} from '#domain/log/entry-html.ts';
import { dataError } from '../errors.ts';

/**
 * Loaded with the first log that needs it: the journal's own editor never sends one, and the parser takes 18 MB. By
 * `require`, because what a log is stored as should not have to be awaited.
 */
const load = createRequire(import.meta.url);
const parser = (): typeof sanitizeHtml => load('sanitize-html') as typeof sanitizeHtml;

const CLEANING: sanitizeHtml.IOptions = {
  allowedTags: [...ENTRY_TAGS],
  allowedAttributes: { ol: ['start'] },
  allowedClasses: { h2: [DATE_HEADER_CLASS] },
  /** Only what is no text at all goes with its content; the words of a form field or a frame are kept. */
  nonTextTags: ['script', 'style'],
  nestingLimit: ENTRY_MAX_DEPTH,
  transformTags: {
    ol: (tagName, { start }) => ({ tagName, attribs: LIST_START.test(start ?? '') ? { start: start! } : {} }),
  },
  /** References stay as they were sent (`&nbsp;` is not the same bytes as U+00A0); a bare `&` becomes `&amp;`. */
  parser: { decodeEntities: false },
};

/** A few hundred levels already are no text; the parser's own time grows with the square of them. */
const MAX_OPEN_TAGS = 2_000;

const MAX_PASSES = 4;

const MISPLACED_HEADER = `<h2 class="${DATE_HEADER_CLASS}">`;

/**
 * The log as it is stored, without its date header: the database puts the row's own day before it.
 * Throws the data error for a log over `ENTRY_MAX_BYTES`, measured in UTF-8 as it was sent and as it would be stored.
 */
export function sanitizeLog(content: string): string {
  checkLogSize(content);
  if (isCleanLog(content)) return withoutDateHeader(content);
  let cleaned = parseAndClean(content.replaceAll('\0', '').toWellFormed());
  // Unwrapping can leave elements that a parser would arrange differently; what is stored must read back the same.
  for (let pass = 1; pass < MAX_PASSES && !isCleanLog(cleaned); pass += 1) {
    const again = parseAndClean(cleaned);
    if (again === cleaned) break;
    cleaned = again;
  }
  return cleaned;
}

/** Cleans one log; a promise where it must wait for others. Throws, or rejects with, what `sanitizeLog` throws. */
export type SanitizeLog = (content: string) => string | Promise<string>;

/**
 * Cleans the logs of all requests. A log that needs the parser waits for the one before it, and between two of them the
 * event loop answers everybody else. What is clean already, as the editor's logs are, waits for nobody.
 *
 * Threat: the parser takes some milliseconds for a log of 30 KB, and sixty requests at once with one each would run it sixty
 * times in a row.
 */
export function createLogSanitizer(yieldToEventLoop: () => Promise<unknown> = setImmediate): SanitizeLog {
  let previous: Promise<unknown> = Promise.resolve();
  return (content) => {
    checkLogSize(content);
    if (isCleanLog(content)) return withoutDateHeader(content);
    const cleaned = previous.then(() => sanitizeLog(content));
    previous = cleaned.then(yieldToEventLoop, yieldToEventLoop);
    return cleaned;
  };
}

function checkLogSize(html: string): void {
  // A UTF-16 unit is at most three bytes, so most logs need no count.
  if (html.length * 3 <= ENTRY_MAX_BYTES) return;
  const bytes = Buffer.byteLength(html);
  if (bytes > ENTRY_MAX_BYTES) throw dataError('54000', { details: `The log has ${bytes} bytes.` });
}

function parseAndClean(html: string): string {
  let openTags = 0;
  const cleaned = parser()(html, {
    ...CLEANING,
    onOpenTag() {
      openTags += 1;
      if (openTags > MAX_OPEN_TAGS) throw dataError('54001');
    },
    onCloseTag() {
      openTags -= 1;
    },
  });
  const log = withoutDateHeader(cleaned.replace(/^\s+(?=<h2 class)/, ''))
    // A header that does not stand first is a heading like any other.
    .replaceAll(MISPLACED_HEADER, '<h2>')
    // Every `<` of the text has become `&lt;`, so this finds nothing but the parser's own writing.
    .replaceAll('<br />', '<br>');
  checkLogSize(log);
  return log;
}
