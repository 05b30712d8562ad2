/**
 * The Markdown export (CommonMark with ~~strike~~): a first-level heading per day, the log's headings one level lower.
 */
import { dayLabel } from '../../day/day.ts';
import { writeMarkdown } from '../../markdown/write-markdown.ts';
import type { FormatWriter } from '../exported-entry.ts';

export const markdownWriter = (): FormatWriter => ({
  begin: () => '',
  entry: ({ date, content }) => `# ${dayLabel(date)}\n\n${writeMarkdown(content)}\n\n`,
  end: () => '',
});
