/** The requests of the day saver to /rest/v1, and their outcomes. */
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';

/** A day's row on the server. `html` is the log without its date header; `savedAt` in milliseconds since 1970. */
export type StoredLog = Version & { html: string; savedAt: number };

export type Failure =
  /** The session has ended; the server stored no change. */
  | { kind: 'signedOut' }
  /** The server rejects the request, so an automatic retry would fail again. `reason` is shown to the user. */
  | { kind: 'refused'; reason: string }
  /** The plan locks this day for now: its row can be neither read nor changed. */
  | { kind: 'locked' }
  /**
   * No usable answer: the server may have stored the write. `retryAfterMs`: the server names the earliest retry.
   * `needsReload`: only a reloaded page can save, for example because a proxy asks to sign in.
   */
  | { kind: 'unreachable'; retryAfterMs?: number; needsReload?: boolean };

/** The row requested by its id belongs to another day: the log was moved there. */
export type MovedLog = { date: Day; html: string };

export type ReadOutcome = { kind: 'read'; stored: StoredLog | null; moved?: MovedLog | undefined } | Failure;

export type WriteOutcome =
  | ({ kind: 'stored'; savedAt: number } & Version)
  | { kind: 'removed' }
  /**
   * The version that the save is based on was not found: another page inserted, changed, moved or removed the row, the
   * plan now locks the day, or an earlier write of this page was stored but its answer was lost. A read tells which.
   */
  | { kind: 'changed' }
  | Failure;

/**
 * Never rejects. An update or removal names the version that it is based on (optimistic lock), and an insert needs a
 * day without a row: a stale or repeated write is a no-op.
 */
export type EntryTransport = {
  /**
   * `id`: the row that the unsaved text is based on, or that its insert creates. If that row belongs to another day,
   * the outcome includes it as `moved`.
   */
  read: (date: Day, id?: string) => Promise<ReadOutcome>;
  /** `id`: the new row's id. A later attempt repeats the last id: its read finds the row of an unanswered insert. */
  insert: (date: Day, html: string, id: string) => Promise<WriteOutcome>;
  update: (date: Day, html: string, version: Version) => Promise<WriteOutcome>;
  remove: (date: Day, version: Version) => Promise<WriteOutcome>;
};
