/** The events of `GET /functions/v1/changes` (docs/specification/live.md 1), shared by server and client. */
import type { Day } from './day/day.ts';

/** A day whose log was written, moved or deleted. */
export type DayChange = {
  date: Day;
  /** Whether the day has a log afterwards. */
  stored: boolean;
  /** The row and its revision after the change. Absent for a deleted log and for a day that the plan locks. */
  id?: string;
  revision?: number;
};

/**
 * `session`: the token or its session has ended. `too_many`: a newer stream of the same user has replaced this one.
 * `unavailable`: the server stops, cannot reach its database, or needs the stream's place for another address.
 */
export type StreamEndReason = 'session' | 'too_many' | 'unavailable';

export type LiveEvent =
  /** All changes since the `Last-Event-ID` have been sent. */
  | { event: 'ready'; data: object }
  /** Changes may have been missed: read every open day and the dates again. */
  | { event: 'resync'; data: object }
  | { event: 'change'; data: DayChange }
  | { event: 'end'; data: { reason: StreamEndReason } };
