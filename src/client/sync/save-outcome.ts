/** What the day saver asks of the wire, and every way in which an answer can come out. */
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';

/** A day as the server has it. `html` is the log without its date header; `savedAt` in milliseconds. */
export type StoredLog = Version & { html: string; savedAt: number };

export type Failure =
  /** The session is gone. Nothing was stored. */
  | { kind: 'signedOut' }
  /** The server will not take it, however often it is asked. `reason` is for the screen. */
  | { kind: 'refused'; reason: string }
  /** The plan does not open this day now. What is there cannot be seen or changed; it may open again. */
  | { kind: 'locked' }
  /** No answer, or one that says nothing: the write may have arrived all the same. */
  | { kind: 'unreachable' };

/** The row that was asked for by its id stands at another day: the log was moved there. */
export type MovedLog = { date: Day; html: string };

export type ReadOutcome = { kind: 'read'; stored: StoredLog | null; moved?: MovedLog | undefined } | Failure;

export type WriteOutcome =
  | ({ kind: 'stored'; savedAt: number } & Version)
  | { kind: 'removed' }
  /** The day is not what the save was built on: somebody made it, changed it or removed it meanwhile. */
  | { kind: 'changed' }
  | Failure;

/** Never rejects. A write names the version it builds on, so a late or repeated one can overwrite nothing. */
export type EntryTransport = {
  /** With the id of the row that the day had, also tells where that row was moved. */
  read: (date: Day, id?: string) => Promise<ReadOutcome>;
  insert: (date: Day, html: string) => Promise<WriteOutcome>;
  update: (date: Day, html: string, version: Version) => Promise<WriteOutcome>;
  remove: (date: Day, version: Version) => Promise<WriteOutcome>;
};
