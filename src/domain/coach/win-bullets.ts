/** The wins of a period as dated lines, for pasting into a stand-up note or an appraisal. */
import { isDay, MONTHS, withDateLabels } from '../day/day.ts';
import type { Day } from '../day/day.ts';
import { firstReportedLine } from '../log/log-outline.ts';
import { entryText } from '../log/entry-text.ts';
import { matchQuickEntry } from '../log/quick-entries.ts';

const BULLET_MAX_LENGTH = 160;

export type DayText = { date: Day; text: string };

/**
 * The first line below the headings of each log (`firstReportedLine`), oldest day first, as a substitute for wins. Skips
 * canned logs (`QUICK_ENTRIES`). `html`: the stored log.
 */
export function firstLines(logs: readonly { date: Day; html: string }[]): DayText[] {
  return logs
    .flatMap(({ date, html }) => {
      const line = matchQuickEntry(entryText(html)) === null ? firstReportedLine(html) : null;
      return line === null ? [] : [{ date, text: truncateLine(line) }];
    })
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** The accepted headings of the list of wins. The heading is English in an analysis of any language. */
const WINS_HEADINGS = ['**Wins**', '**Wins**:', '**Wins:**'];
export const [WINS_HEADING] = WINS_HEADINGS as [string];

export const isWinsHeading = (line: string): boolean => WINS_HEADINGS.includes(line.trim());
/** True for a streamed line that may become the heading of the wins, also for an empty line. */
export const isWinsHeadingPrefix = (line: string): boolean =>
  WINS_HEADINGS.some((heading) => heading.startsWith(line.trim()));

const DATED_LINE = /^\s*[-*•]\s+\**(\d{4}-\d{2}-\d{2})\**\s*[:–—-]\s*(\S.*)$/;

/** A streamed line with a date, or a part of one, and no text yet. */
const PARTIAL_LINE = /^\s*[-*•][\s\d*:–—-]*$/;

/**
 * Splits an analysis into its text and its wins, oldest first. Wins are the dated lines `- 2026-11-20: …` below the
 * heading; other lists remain text.
 */
export function splitReview(analysis: string): { text: string; wins: DayText[] } {
  const lines = analysis.split('\n');
  const heading = lines.findLastIndex(isWinsHeading);
  const wins: DayText[] = [];
  let end = heading + 1;
  for (; heading >= 0 && end < lines.length; end += 1) {
    const line = lines[end]!;
    if (line.trim() === '' || PARTIAL_LINE.test(line)) continue;
    const [, date, win] = DATED_LINE.exec(line) ?? [];
    if (!isDay(date) || win === undefined) break;
    wins.push({ date, text: withDateLabels(win.trimEnd().replaceAll('**', '')) });
  }
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
