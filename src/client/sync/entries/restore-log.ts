import type { Day } from '#domain/day/day.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import { mergeDrafts } from '../day-drafts.ts';
import type { DaySavers } from '../day-savers.ts';

/**
 * Saves a deleted log again, like an edit of the user: a draft holds it until the server has it. Lines that the day has
 * now are kept. True if it is saved.
 */
export async function restoreLog(savers: DaySavers, date: Day, html: string): Promise<boolean> {
  // This page knows of no row for the day. If another page has added one, the save detects the conflict.
  const saver = savers.get(date) ?? savers.open(date, null, 0);
  const merge = isEmptyLog(saver.text()) ? null : await savers.loadMerge();
  saver.write(isEmptyLog(saver.text()) ? html : mergeDrafts(merge, { html: saver.text() }, { html }), 0);
  return saver.flush();
}
