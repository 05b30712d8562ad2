/**
 * The Markdown export (CommonMark with ~~strike~~): a first-level heading per day, the log's headings one level lower.
 */
import { dayLabel } from '#domain/day/day.ts';
import { refuseDay } from '../exported-entry.ts';
import type { FormatWriter, ParsedDay } from '../exported-entry.ts';
import { parseDayHeading, isDayHeading } from '../day-heading.ts';
import { writeMarkdown } from '../../markdown/write-markdown.ts';
import { MarkdownLog } from './markdown-log.ts';

export const markdownWriter = (): FormatWriter => ({
  begin: () => '',
  entry: ({ date, content }) => `# ${dayLabel(date)}\n\n${writeMarkdown(content)}\n\n`,
  end: () => '',
});

/** Yields nothing for a text that is not an export. */
export function* readMarkdown(text: string): Generator<ParsedDay> {
  let label: string | null = null;
  let log = new MarkdownLog();
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const heading = line.startsWith('# ') && !log.inCode ? line.slice(2) : null;
    if (heading !== null && isDayHeading(heading)) {
      if (label !== null) yield readDay(label, log);
      label = heading;
      log = new MarkdownLog();
    } else if (label !== null) log.add(line);
  }
  if (label !== null) yield readDay(label, log);
}

function readDay(label: string, log: MarkdownLog): ParsedDay {
  const date = parseDayHeading(label);
  if (date === null) return refuseDay(label, 'invalidDate');
  return { kind: 'day', day: { date, content: log.end(), coach: null } };
}
