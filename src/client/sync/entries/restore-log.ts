import type { Day } from '#domain/day/day.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import { mergeDrafts } from '../day-drafts.ts';
import type { DaySaver } from '../day-saver/day-saver.ts';
import type { DaySavers } from '../day-savers.ts';

/**
 * Saves a deleted log again, like an edit of the user: a draft holds it until the server has it. Lines that the day has
 * now are kept. True if it is saved.
 */
export async function restoreLog(savers: DaySavers, date: Day, html: string): Promise<boolean> {
  // This page knows of no row for the day. If another page has added one, the save detects the conflict.
  const saver = savers.get(date) ?? savers.open(date, null, 0);
  const merge = isEmptyLog(saver.text()) ? null : await savers.loadMerge();
  saver.rewrite((text) => (isEmptyLog(text) ? html : mergeDrafts(merge, { html: text }, { html })), 0);
  return saver.flush();
}

/** The toast after an undo by `replaceUndoably`. */
export const TEXT_IS_BACK = 'Your text is back as it was.';

/**
 * Runs `replace`, which gives the day another text at the user's wish. Returns a function that brings the replaced text
 * back and keeps what was written since, also on another device.
 */
export function replaceUndoably(savers: DaySavers, saver: DaySaver, replace: () => void): () => Promise<void> {
  const before = saver.text();
  replace();
  const base = saver.text();
  return async () => {
    const merge = await savers.loadMerge();
    saver.rewrite(
      (text) => (text === base ? before : mergeDrafts(merge, { html: before, base }, { html: text, base })),
      0,
    );
  };
}
