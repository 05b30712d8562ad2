/** The periods of a new wins document. Whole quarters and years, also the running ones: the title then names them. */
import type { Day } from '../day/day.ts';
import { daysOfMonth, monthOf, type MonthNumber } from '../day/month.ts';

export const DOCUMENT_PERIODS = {
  'this-year': 'This year',
  'last-year': 'Last year',
  'this-quarter': 'This quarter',
  'last-quarter': 'Last quarter',
  own: 'Own dates',
} as const;
export type DocumentPeriod = keyof typeof DOCUMENT_PERIODS;

const QUARTER_MONTHS = 3;
const YEAR_MONTHS = 12;

/** The first and the last day; for `own` those of the running year, to be changed. */
export function daysOfPeriod(period: DocumentPeriod, today: Day): { from: Day; to: Day } {
  const months = period.endsWith('quarter') ? QUARTER_MONTHS : YEAR_MONTHS;
  const running = monthOf(today) - (monthOf(today) % months);
  const first = period.startsWith('last') ? running - months : running;
  return { from: firstDayOf(first), to: daysOfMonth(first + months - 1).at(-1)! };
}

const firstDayOf = (month: MonthNumber): Day => daysOfMonth(month)[0]!;
