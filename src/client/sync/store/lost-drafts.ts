/** Finds unsent text that the browser has cleared: IndexedDB is empty, but localStorage still has the marker of a draft. */
import { isDay } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { DRAFT_PREFIX, keysUnder } from '#client/lib/session/storage-keys.ts';
import { MARKER, parseKey } from '../day-drafts.ts';
import type { Outbox } from '../day-drafts.ts';

/**
 * Removes the markers of closed pages whose draft is gone, and returns their days. Rejects if the database cannot be
 * read. Call it in turn with the other tabs (`takeOverInTurn`), so that one of them tells the user.
 */
export async function removeLostDrafts(
  storage: Storage,
  userId: string,
  outbox: Pick<Outbox, 'readAll' | 'aliveWriters'>,
): Promise<Day[]> {
  // The markers first: a page writes the marker after its draft is in the database, and removes it before the draft.
  const isMarker = (key: string): boolean => storage.getItem(key) === MARKER;
  const markers = keysUnder(storage, `${DRAFT_PREFIX}${userId}:`).filter(isMarker);
  const [found, alive] = await Promise.all([outbox.readAll(), outbox.aliveWriters()]);
  const days = new Set<Day>();
  for (const key of markers.filter(isMarker)) {
    const { date, writer } = parseKey(key);
    const isFound = found.some((draft) => draft.date === date && draft.writer === writer);
    if (isFound || alive.has(writer)) continue;
    storage.removeItem(key);
    if (isDay(date)) days.add(date);
  }
  return [...days].sort();
}
