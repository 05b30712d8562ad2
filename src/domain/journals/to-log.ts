/** Converts the body of an entry to the HTML of a log, except HTML, which needs a browser. */
import { normalizeText, textToLog } from '../log/text-to-log.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';
import type { JournalEntry } from './journal-reader.ts';

/** Control characters are no text, and half a surrogate pair cannot be stored. */
// oxlint-disable-next-line no-control-regex -- they are what it removes
const UNSTORABLE = /[\0-\x08\x0E-\x1F\x7F-\x84\x86-\x9F]|\p{Surrogate}/gu;

export const cleanText = (text: string): string => text.replace(UNSTORABLE, '');

export function toLog({ format, text }: Exclude<JournalEntry['body'], { format: 'html' }>): string {
  if (format === 'log') return text;
  const clean = cleanText(text);
  return format === 'text' ? textToLog(normalizeText(clean)).html : parseMarkdown(clean, { softBreaks: 'keep' });
}
