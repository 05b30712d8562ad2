/**
 * The latest changes of all users, for clients that connect again with a `Last-Event-ID`.
 *
 * An event id is `EPOCH.MILLISECONDS`. A new random epoch begins when changes of any user may have been missed, as with
 * each new connection that listens for changes. An id of another process, or of a time before such a gap, is recognised
 * by its epoch. The milliseconds since the epoch began order the events and, unlike a counter, do not reveal how much
 * other users write.
 */
import { randomBytes } from 'node:crypto';
import type { EntryChange } from '../database/changes/entry-change.ts';

const MAX_CHANGES = 5_000;
const EVENT_ID = /^([\w-]{8})\.(\d{1,15})$/;

export type ChangeHistory = ReturnType<typeof createChangeHistory>;

/** @param now monotonic, in milliseconds */
export function createChangeHistory(now: () => number, maxChanges = MAX_CHANGES) {
  let epoch = '';
  let begunAt = 0;
  /** `change` is null for changes of the user that are not known. */
  let changes: { at: number; userId: string; change: EntryChange | null }[] = [];
  /** The time of the newest change that was dropped. An event of the same millisecond may have been dropped as well. */
  let droppedAt = -1;

  const elapsed = (): number => Math.floor(now() - begunAt);

  return {
    /** Forgets all changes and begins a new epoch. Called when changes of any user may have been missed. */
    begin(): void {
      epoch = randomBytes(6).toString('base64url');
      begunAt = now();
      changes = [];
      droppedAt = -1;
    },

    /** `change`: null if the user's changes may have been missed. */
    add(userId: string, change: EntryChange | null): void {
      changes.push({ at: elapsed(), userId, change });
      if (changes.length <= maxChanges) return;
      // Drop a tenth at a time: dropping one would move the whole array at each change.
      const dropped = changes.splice(0, Math.ceil(maxChanges / 10));
      droppedAt = dropped.at(-1)!.at;
    },

    /** The id of a change that arrives now. */
    eventId: (): string => `${epoch}.${elapsed()}`,

    /**
     * The user's changes since the event, possibly with some that the client has seen already. Null if some of them may
     * be unknown here. Threat: a forged id; it selects among this user's own changes only.
     */
    changesSince(eventId: string | undefined, userId: string): EntryChange[] | null {
      const [, ofEpoch, milliseconds] = EVENT_ID.exec(eventId ?? '') ?? [];
      const since = Number(milliseconds);
      if (epoch === '' || ofEpoch !== epoch || since <= droppedAt || since > elapsed()) return null;
      const changesOfUser = changes
        .filter((entry) => entry.at >= since && entry.userId === userId)
        .map(({ change }) => change);
      return changesOfUser.every((change) => change !== null) ? changesOfUser : null;
    },
  };
}
