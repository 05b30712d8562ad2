/** What somebody got done in a period, one dated line a day, to be pasted into a stand-up or an appraisal. */
import { isDay, MONTHS } from './day.ts';
import type { Day } from './day.ts';
import { logItems } from './coach.ts';
import { quickEntryIn } from './quick-entries.ts';

/** A line of a stand-up; what is longer is cut at a word. */
const BULLET_MAX_LENGTH = 160;

export type DayText = { date: Day; text: string };

/** The first line of each log, oldest day first. A day that was only a quick entry was no win, and is left out. */
export function firstLines(logs: readonly DayText[]): DayText[] {
  return logs
    .flatMap(({ date, text }) => {
      const [line] = quickEntryIn(text) === null ? logItems(text) : [];
      return line === undefined ? [] : [{ date, text: shortened(line) }];
    })
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

const DATED_LINE = /^\s*[-*•]\s+\**(\d{4}-\d{2}-\d{2})\**\s*[:–—-]\s*(.+?)\s*$/;

/** The wins that an analysis names, each on a dated line of its own: `- 2026-11-20: …`. None, where it has no such lines. */
export function namedWins(analysis: string): DayText[] {
  return analysis
    .split('\n')
    .flatMap((line) => {
      const [, date, text] = DATED_LINE.exec(line) ?? [];
      return isDay(date) && text !== undefined ? [{ date, text: shortened(text.replaceAll('**', '')) }] : [];
    })
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

function shortened(line: string): string {
  if (line.length <= BULLET_MAX_LENGTH) return line;
  const cut = line.slice(0, BULLET_MAX_LENGTH).toWellFormed();
  return `${cut.replace(/\s+\S*$/, '')}…`;
}

/** `Nov 20`. */
export const shortDate = (date: Day): string =>
  `${MONTHS[Number(date.slice(5, 7)) - 1]!.slice(0, 3)} ${Number(date.slice(8))}`;

/** `- Nov 20, 2026: Shipped the billing reconciliation`, a line each. */
export const bulletsText = (wins: readonly DayText[]): string =>
  wins.map(({ date, text }) => `- ${shortDate(date)}, ${date.slice(0, 4)}: ${text}`).join('\n');
