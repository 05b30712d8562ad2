import { dateLabel, type Day } from './day.ts';

/** `November 29, 2026`, `November 24 – 29, 2026`, `March 2 – November 28, 2026`: repeats neither month nor year. */
export function dateRangeLabel(from: Day, to: Day): string {
  const [first, last] = [dateLabel(from), dateLabel(to)];
  if (from === to) return last;
  if (from.slice(0, 4) !== to.slice(0, 4)) return `${first} – ${last}`;
  const isOneMonth = from.slice(0, 7) === to.slice(0, 7);
  return `${first.slice(0, first.indexOf(','))} – ${isOneMonth ? last.slice(last.indexOf(' ') + 1) : last}`;
}
