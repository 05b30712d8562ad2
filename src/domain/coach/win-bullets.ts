/** The wins of a period as dated lines, for pasting into a stand-up note or an appraisal. */
import { isDay, MONTHS, withDateLabels, type Day } from '../day/day.ts';
import { firstReportedLine } from '../log/log-outline.ts';
import { entryText } from '../log/entry-text.ts';
import { matchQuickEntry } from '../log/quick-entries.ts';

const BULLET_MAX_LENGTH = 160;

export type DayText = { date: Day; text: string };

/**
 * The first line below the headings of each log (`firstReportedLine`), oldest day first, as a substitute for wins.
 * Skips quick entries. `html`: the stored log.
 */
export function firstLines(logs: readonly { date: Day; html: string }[]): DayText[] {
  return logs
    .flatMap(({ date, html }) => {
      const line = matchQuickEntry(entryText(html)) === null ? firstReportedLine(html) : null;
      return line === null ? [] : [{ date, text: truncateLine(line) }];
    })
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** The heading that the prompt asks for. It is English in an analysis of any language. */
export const WINS_HEADING = '**Wins**';

const HEADING_START = String.raw`^[^\p{L}\p{N}]*(?:\d{1,2}[.)]?[^\p{L}\p{N}]*)?`;
const HEADING = new RegExp(String.raw`${HEADING_START}wins[^\p{L}\p{N}]*$`, 'iu');
const PARTIAL_HEADING = new RegExp(String.raw`${HEADING_START}(?:w(?:i(?:n(?:s[^\p{L}\p{N}]*)?)?)?)?$`, 'iu');

/** The word "wins" alone on a line, in any case and with any Markdown: `**Wins**`, `## WINS:`. */
export const isWinsHeading = (line: string): boolean => HEADING.test(line);
/** True for a streamed line that may become the heading of the wins, also for an empty line. */
export const isWinsHeadingPrefix = (line: string): boolean => PARTIAL_HEADING.test(line);

const MARKER = String.raw`^[\s>]{0,12}([-*•+·–—]\s+|\d{1,2}[.)]\s+|\|\s*)?(?:[\p{So}\uFE0F]{1,3}\s?)?[*_([\x60"]{0,4}`;
/** Models also write other separators in a date, a weekday beside it, and other signs between the date and the win. */
const DATED_LINE = new RegExp(
  String.raw`${MARKER}(?:(?<=[-*•+.)]\s[*_]{0,3})\p{L}{2,12}[.,]{1,2} )?(\d{4}([-‐‑–/.])\d{2}\3\d{2})(?!\d)[*_)\]\x60"]{0,4}(?:\s?\([A-Za-zÀ-ÿ]{2,12}\.?\))?[*_]{0,3}\s{0,9}[:：;,.|/·•→>=~–—-]{0,3}[*_]{0,3}\s*(\S.*)?$`,
  'u',
);
const PARTIAL_DATED_LINE = new RegExp(
  String.raw`${MARKER}(?:(?<=[-*•+.)]\s[*_]{0,3})\p{L}{1,12}[.,]{0,2} ?)?[\d‐‑–/.\-]{0,10}$|^[\s>]*[-*•+·–—|]$`,
  'u',
);

/** A line that begins with a date. `date` may not exist in the calendar. `isItem`: in a list or a table. */
export function parseDatedLine(line: string): { date: string; text: string; isItem: boolean } | null {
  const [, marker, date, , text = ''] = DATED_LINE.exec(line) ?? [];
  if (date === undefined) return null;
  const win = marker?.startsWith('|') ? text.trimEnd().replace(/\|$/, '').trimEnd() : text.trimEnd();
  return { date: date.replaceAll(/[‐‑–/.]/g, '-'), text: win, isItem: marker !== undefined };
}

/** A line that continues the item above it, or an item within it. */
export const isContinuation = (line: string): boolean => /^\s{2,12}\S/.test(line);

/** A heading, or a short line in bold. */
const TITLE = /^[\s>]{0,9}(?:#{1,6}\s.{1,60}|\*\*[^*]{1,60}\*\*(?:[:：]| \(\d{1,2}\))?)\s*$/u;
const TABLE_ROW = /^\s*\|/;

/** The index of the last "Wins" heading, else of any heading above the dated items that end the text; -1 for none. */
function findWinsHeading(lines: readonly string[]): number {
  const named = lines.findLastIndex(isWinsHeading);
  if (named >= 0) return named;
  const isOfItems = (line: string): boolean =>
    line.trim() === '' || isContinuation(line) || TABLE_ROW.test(line) || parseDatedLine(line)?.isItem === true;
  const heading = lines.findLastIndex((line) => !isOfItems(line));
  return TITLE.test(lines[heading] ?? '') ? heading : -1;
}
/** True for a streamed line whose date is not complete. */
export const isDatedLinePrefix = (line: string): boolean => PARTIAL_DATED_LINE.test(line);

/**
 * Splits an analysis into its text and its wins, oldest first. Wins are the dated lines `- 2026-11-20: …` below the
 * heading; other lists remain text.
 */
export function splitReview(analysis: string): { text: string; wins: DayText[] } {
  const lines = analysis.split('\n');
  const heading = findWinsHeading(lines);
  const found: DayText[] = [];
  let end = heading + 1;
  for (; heading >= 0 && end < lines.length; end += 1) {
    const line = lines[end]!;
    const { date, text = '' } = parseDatedLine(line) ?? {};
    const open = found.at(-1);
    if (isDay(date)) found.push({ date, text });
    else if (open && isContinuation(line)) open.text = `${open.text} ${line.replace(/^\s*(?:[-*•]\s+)?/, '')}`.trim();
    // Skips a table's head and lines without letters (blank, a rule, an incomplete date). Other lines end the wins.
    else if (/\p{L}/u.test(line) && (open || !TABLE_ROW.test(line))) break;
  }
  const wins = found.flatMap(({ date, text }) =>
    text === '' ? [] : [{ date, text: withDateLabels(text.replaceAll('**', '')) }],
  );
  if (wins.length === 0) return { text: analysis, wins };
  const text = [...lines.slice(0, heading), ...lines.slice(end)].join('\n').trimEnd();
  return { text, wins: wins.sort((a, b) => (a.date < b.date ? -1 : 1)) };
}

function truncateLine(line: string): string {
  if (line.length <= BULLET_MAX_LENGTH) return line;
  const cut = line.slice(0, BULLET_MAX_LENGTH).toWellFormed();
  return `${cut.replace(/\s+\S*$/, '')}…`;
}

/** `Nov 20`. */
export const shortDate = (date: Day): string =>
  `${MONTHS[Number(date.slice(5, 7)) - 1]!.slice(0, 3)} ${Number(date.slice(8))}`;

/** `- Nov 20, 2026: Shipped the billing reconciliation`, one line per win. */
export const formatBullets = (wins: readonly DayText[]): string =>
  wins.map(({ date, text }) => `- ${shortDate(date)}, ${date.slice(0, 4)}: ${text}`).join('\n');
