/** Finds unsent text that the browser has cleared: IndexedDB is empty, but localStorage still has the marker of a draft. */
import type { Day } from '#domain/day/day.ts';
import { DRAFT_PREFIX, keysUnder } from '#client/lib/session/storage-keys.ts';
import { daysOfDrafts, MARKER, parseKey, readDrafts, type Outbox } from '../day-drafts.ts';

/**
 * Removes the markers of closed pages whose draft is gone, and returns their days: none if the database cannot be read.
 * Call it in turn with the other tabs (`takeOverInTurn`), so that one of them tells the user.
 */
export async function removeLostDrafts(
  storage: Storage,
  userId: string,
  outbox: Pick<Outbox, 'readAll' | 'aliveWriters'>,
): Promise<Day[]> {
  // The markers first: a page writes the marker after its draft is in the database, and removes it before the draft.
  const isMarker = (key: string): boolean => storage.getItem(key) === MARKER;
  const markers = keysUnder(storage, `${DRAFT_PREFIX}${userId}:`).filter(isMarker);
  // The writers before the drafts: a page that was closed at that time stores no draft any more.
  const alive = await outbox.aliveWriters();
  const found = await readDrafts(outbox);
  if (!found) return [];
  const lost = markers.filter(isMarker).filter((key) => {
    const { date, writer } = parseKey(key);
    return !alive.has(writer) && !found.some((draft) => draft.date === date && draft.writer === writer);
  });
  for (const key of lost) storage.removeItem(key);
  return daysOfDrafts(lost);
}
