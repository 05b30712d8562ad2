/** Converts the body of an entry to the HTML of a log, except HTML, which needs a browser. */
import { withoutControls } from '../log/entry-html.ts';
import { normalizeText, textToLog } from '../log/text-to-log.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';
import type { JournalEntry } from './journal-reader.ts';

/** Controls that end a line. They become U+2028, which the readers of text and HTML take for a line end. */
const OLD_LINE_END = /[\v\f\x85]/g;

/** Control characters are no text, and half a surrogate pair cannot be stored. */
export const cleanText = (text: string): string =>
  withoutControls(text.replace(OLD_LINE_END, '\u2028')).replace(/\p{Surrogate}/gu, '');

export function toLog({ format, text }: Exclude<JournalEntry['body'], { format: 'html' }>): string {
  if (format === 'log') return text;
  const clean = normalizeText(cleanText(text));
  return format === 'text' ? textToLog(clean).html : parseMarkdown(clean, { softBreaks: 'keep' });
}
