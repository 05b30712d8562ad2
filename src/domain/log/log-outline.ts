import { isItem, logLines, type Line } from './log-lines.ts';

const HEADINGS: ReadonlySet<string> = new Set(['h1', 'h2', 'h3']);

export const isHeading = ({ block }: Line): boolean => HEADINGS.has(block.kind);

/** A paragraph that ends in a colon introduces the lines below it: `Morning:`. */
export const isLeadIn = ({ path, text }: Line): boolean => path.length === 0 && /[:：]\s*$/u.test(text);

const nonBlankLines = (html: string): Line[] => logLines(html).filter(({ text }) => text.trim() !== '');

/**
 * The first line that is neither a heading nor the lead-in of later lines; without such a line, the first line of the
 * log. Null for an empty log.
 */
export function firstReportedLine(html: string): string | null {
  const lines = nonBlankLines(html);
  const reported = lines.find((line, index) => !isHeading(line) && !(isLeadIn(line) && index < lines.length - 1));
  return (reported ?? lines[0])?.text.trim() ?? null;
}

/** The text of a log with `# ` before its headings. */
export const outlineText = (html: string): string =>
  nonBlankLines(html)
    .map((line) => (isHeading(line) ? `# ${line.text.trim()}` : line.text.trim()))
    .join('\n');

/**
 * The first reported line of a log, and how many more lines it reports. Headings, lead-ins and items within items don't
 * count. Null for an empty log.
 */
export function summarizeLog(html: string): { first: string; more: number } | null {
  const first = firstReportedLine(html);
  if (first === null) return null;
  const isNested = ({ path }: Line): boolean => path.filter(isItem).length > 1;
  const reported = nonBlankLines(html).filter((line) => !isHeading(line) && !isLeadIn(line) && !isNested(line));
  return { first, more: Math.max(0, reported.length - 1) };
}
