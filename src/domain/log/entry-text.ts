/**
 * The plain text of a log, for everything that reads, compares or exports its words. The SQL function
 * `public.entry_text` must return the same text (tested), so the rule uses only replacements that SQL can express.
 */
import { withoutDateHeader } from './entry-html.ts';

const LINE_ENDS = /<br>|<\/(?:p|h1|h2|h3|li|pre|blockquote|ul|ol)>/g;
/** Excludes `<` inside a tag: `[^>]*` takes quadratic time on a text of many `<`. */
const TAGS = /<[^<>]*>/g;
const LINE_BREAKS = /[\r\n]+/g;
/** Not `trim()`: JavaScript and PostgreSQL define white space differently. */
const EDGES = /^[ \t\n]+|(?<![ \t\n])[ \t\n]+$/g;

/**
 * One line per paragraph, heading or item. Steps, in this order: remove the date header; replace the end of each block
 * and each `<br>` by a line break; remove other tags; decode `&lt; &gt; &quot; &#39;`, `&nbsp;` (to a plain space) and
 * last `&amp;`; collapse runs of CR and LF to one LF; trim spaces, tabs and LFs.
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

/** True for a log without text: it is deleted, not saved (docs/specification/days-and-saving.md 7). */
export function isEmptyLog(html: string): boolean {
  return entryText(html).trim() === '';
}
