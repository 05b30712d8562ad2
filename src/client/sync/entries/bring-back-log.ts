import type { Day } from '#domain/day/day.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { DaySavers } from '../day-savers.ts';

/**
 * Saves a deleted log again, like an edit of the user: a draft holds it until the server has it. Lines that the day has
 * now are kept. True if it is saved.
 */
export function bringBackLog(savers: DaySavers, date: Day, html: string): Promise<boolean> {
  // Without a row, as far as is known here. If another page has added one, the save finds out.
  const saver = savers.get(date) ?? savers.open(date, null, 0);
  saver.write(isEmptyLog(saver.text()) ? html : saver.mergeWith(html), 0);
  return saver.flush();
}
