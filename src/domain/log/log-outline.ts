/** Which lines of a log report what was done, and which are headings over them. */
import { logLines } from '../export/log-lines.ts';
import type { Line } from '../export/log-lines.ts';

const HEADINGS: ReadonlySet<string> = new Set(['h1', 'h2', 'h3']);

export const isHeading = ({ block }: Line): boolean => HEADINGS.has(block.kind);

/** A paragraph that ends in a colon announces the lines under it: `Morning:`. */
const announces = ({ path, text }: Line): boolean => path.length === 0 && /[:：]\s*$/u.test(text);

const withText = (html: string): Line[] => logLines(html).filter(({ text }) => text.trim() !== '');

/** The first line that reports something; of a log of headings alone, the first of these. Null: there is no text. */
export function firstDone(html: string): string | null {
  const lines = withText(html);
  const done = lines.find((line, index) => !isHeading(line) && !(announces(line) && index < lines.length - 1));
  return (done ?? lines[0])?.text.trim() ?? null;
}

/** The text of a log with `# ` before its headings, so that a reader of the text can tell them from the rest. */
export const outlineText = (html: string): string =>
  withText(html)
    .map((line) => (isHeading(line) ? `# ${line.text.trim()}` : line.text.trim()))
    .join('\n');
