/** The save status of a day, and its text in the status line. */
import { clockTime } from '#domain/day/clock-time.ts';
import { MONTHS, dayOf } from '#domain/day/day.ts';

export type SaveStatus =
  | { kind: 'empty' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'saved'; at: number }
  /** The text is what the server answered at `seenAt`; null if this device has no copy of an answer. */
  | { kind: 'unconfirmed'; seenAt: number | null }
  | { kind: 'retrying' }
  /** A new release has replaced the code of this page, or a proxy in between asks to sign in. */
  | { kind: 'outdated' }
  | { kind: 'offline' }
  | { kind: 'signedOut' }
  | { kind: 'conflict' }
  | { kind: 'locked' }
  | { kind: 'refused'; reason: string };

/** A time such as `14:02` or `2:02 PM`, with its date if that was another day: `Nov 20, 14:02`. */
export function formatTime(at: number, now: number): string {
  const then = new Date(at);
  const clock = clockTime(then);
  return dayOf(then) === dayOf(new Date(now))
    ? clock
    : `${MONTHS[then.getMonth()]!.slice(0, 3)} ${then.getDate()}, ${clock}`;
}

/** The label of text or dates that come from this device's copy of an earlier answer. */
export const localCopyText = (at: number, now: number): string => `From this device, as of ${formatTime(at, now)}`;

/** The text of the status line under the log. `now` in milliseconds. `isLimited`: see `WriteLimit`. */
export function statusText(status: SaveStatus, now: number, isLimited = false): string {
  switch (status.kind) {
    case 'empty':
      return 'Nothing written yet';
    case 'unsaved':
      return 'Writing...';
    case 'saving':
      return 'Saving...';
    case 'saved':
      return `Saved ${formatTime(status.at, now)}`;
    case 'unconfirmed':
      return status.seenAt === null
        ? 'Not loaded – what you write is kept on this device and added to this day'
        : localCopyText(status.seenAt, now);
    case 'retrying':
      return isLimited ? 'Not saved yet – you have written your limit for this minute' : 'Not saved – retrying';
    case 'outdated':
      return 'Not saved – reload the page to save it';
    case 'offline':
      return 'On this device only – sending when online';
    case 'signedOut':
      return 'Not saved – sign in to save it';
    case 'conflict':
      return 'Not saved – changed elsewhere';
    case 'locked':
      return "Not saved – your plan doesn't include this day";
    case 'refused':
      return `Not saved – ${status.reason}`;
  }
}

/** True if a screen reader announces the status. Progress is not announced: a save follows every pause in typing. */
export const isAnnounced = (status: SaveStatus): boolean => !['empty', 'unsaved', 'saving'].includes(status.kind);

/**
 * True if the status line is coloured, because something keeps the text of this device from the server. Being offline
 * is no alarm: the text is safe here, and is sent without the user.
 */
export const isAlarming = (status: SaveStatus): boolean =>
  isAnnounced(status) && !['saved', 'unconfirmed', 'offline'].includes(status.kind);

/** Says that unsaved text is safe, below a reason that sounds as if it were not. Null for all other reasons. */
export function keptText(status: SaveStatus, isLimited: boolean): string | null {
  if (status.kind === 'refused') return 'Your text is safe in this browser.';
  if (status.kind !== 'retrying' || !isLimited) return null;
  return 'Your text is safe in this browser and is sent in a minute.';
}

/** Shown while unsaved text is in the memory of this page alone. */
export const KEEP_TAB_OPEN = 'This browser cannot keep a copy. Leave this tab open until your text is saved.';
