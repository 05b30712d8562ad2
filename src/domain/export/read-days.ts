/** Reads the days of our own Markdown or plain text export. */
import type { ParsedDay } from './exported-entry.ts';
import { MARKDOWN_DAY, readMarkdown } from './formats/read-markdown.ts';
import { readText, TEXT_DAY } from './formats/text-format.ts';

/** Null for any other text. `text` may be the beginning of a file. */
export function dayFormatOf(text: string): 'markdown' | 'text' | null {
  const [markdown, plain] = [MARKDOWN_DAY, TEXT_DAY].map((day) => day.exec(text)?.index ?? Infinity);
  // The first day decides, because a log may contain the heading of the other format. Text above it is ignored.
  return markdown === plain ? null : markdown! < plain! ? 'markdown' : 'text';
}

/** Yields nothing for any other text. */
export const readDays = (text: string): Iterable<ParsedDay> =>
  dayFormatOf(text) === 'markdown' ? readMarkdown(text) : readText(text);
