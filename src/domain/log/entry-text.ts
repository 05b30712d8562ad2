/**
 * A log as plain text: for search, the coach and the export, and to tell whether there is anything in it.
 * The database keeps the same text beside each log (SQL function `public.entry_text`); a test holds both equal,
 * so the rule is made of plain replacements that either side can express.
 */
import { withoutDateHeader } from './entry-html.ts';

const LINE_ENDS = /<br>|<\/(?:p|h1|h2|h3|li|pre|blockquote|ul|ol)>/g;
/** Excludes `<` inside a tag: with `[^>]*` a text of many `<` would take quadratic time. */
const TAGS = /<[^<>]*>/g;
const LINE_BREAKS = /[\r\n]+/g;
/** Not `trim()`: what counts as white space would differ between engines. */
const EDGES = /^[ \t\n]+|(?<![ \t\n])[ \t\n]+$/g;

/**
 * The words of a log, one line per paragraph, heading or item. In this order: the date header goes; the end of each
 * block and each `<br>` becomes a line break; other tags go; `&lt; &gt; &quot; &#39;`, `&nbsp;` (as a plain space) and
 * last `&amp;` are decoded; runs of CR and LF become one LF; spaces, tabs and LFs at both ends go.
 */
export function entryText(html: string): string {
  return withoutDateHeader(html)
    .replace(LINE_ENDS, '\n')
    .replace(TAGS, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .replace(LINE_BREAKS, '\n')
    .replace(EDGES, '');
}

/** Nothing but tags and blanks: such a log is deleted, not saved (docs/specification/days-and-saving.md 7). */
export function isEmptyLog(html: string): boolean {
  return entryText(html).trim() === '';
}
