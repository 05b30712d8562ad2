/** What somebody got done in a period, one dated line a day, to be pasted into a stand-up or an appraisal. */
import { isDay, MONTHS, withDateLabels } from '../day/day.ts';
import type { Day } from '../day/day.ts';
import { firstDone } from '../log/log-outline.ts';
import { entryText } from '../log/entry-text.ts';
import { quickEntryIn } from '../log/quick-entries.ts';

/** A line of a stand-up; what is longer is cut at a word. */
const BULLET_MAX_LENGTH = 160;

export type DayText = { date: Day; text: string };

/**
 * The first line of each log that is no heading, oldest day first: what was written, which need not be a win. Quick
 * entries are left out. `html`: the stored log.
 */
export function firstLines(logs: readonly { date: Day; html: string }[]): DayText[] {
  return logs
    .flatMap(({ date, html }) => {
      const line = quickEntryIn(entryText(html)) === null ? firstDone(html) : null;
      return line === null ? [] : [{ date, text: shortened(line) }];
    })
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** Under this line an analysis names its wins, in whatever language the rest of it is. */
const WINS_NAMES = ['**Wins**', '**Wins**:', '**Wins:**'];
export const [WINS_NAME] = WINS_NAMES as [string];

export const isWinsName = (line: string): boolean => WINS_NAMES.includes(line.trim());
/** Half of it, which the next piece may make whole. */
export const beginsWinsName = (line: string): boolean => WINS_NAMES.some((name) => name.startsWith(line.trim()));

const DATED_LINE = /^\s*[-*•]\s+\**(\d{4}-\d{2}-\d{2})\**\s*[:–—-]\s*(\S.*)$/;

/** A line of which the day has come and its words have not. */
const BEGUN_LINE = /^\s*[-*•][\s\d*:–—-]*$/;

/**
 * An analysis in its two parts: its words, and the wins that stand dated under their name, `- 2026-11-20: …`, oldest
 * first. Other lists are none, and nothing stands in for wins that it does not name.
 */
export function reviewParts(analysis: string): { words: string; wins: DayText[] } {
  const lines = analysis.split('\n');
  const name = lines.findLastIndex(isWinsName);
  const wins: DayText[] = [];
  let end = name + 1;
  for (; name >= 0 && end < lines.length; end += 1) {
    const line = lines[end]!;
    if (line.trim() === '' || BEGUN_LINE.test(line)) continue;
    const [, date, text] = DATED_LINE.exec(line) ?? [];
    if (!isDay(date) || text === undefined) break;
    wins.push({ date, text: withDateLabels(text.trimEnd().replaceAll('**', '')) });
  }
  if (wins.length === 0) return { words: analysis, wins };
  const words = [...lines.slice(0, name), ...lines.slice(end)].join('\n').trimEnd();
  return { words, wins: wins.sort((a, b) => (a.date < b.date ? -1 : 1)) };
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
