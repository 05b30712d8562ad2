/** Work that the server does by itself, again and again, and once on all servers of a database. */

export type JobName =
  | 'reconcile-payments'
  | 'expire-plans'
  | 'forget-event-bodies'
  | 'send-receipts'
  | 'send-reminders';

export type Job = {
  readonly name: JobName;
  /** How often it runs, besides the start of a server: once in every such stretch of time, counted from 1970 in UTC. */
  readonly everySeconds: number;
  /** The wait after its first failure; it doubles from there, and an hour is the longest. */
  readonly retryDelaySeconds: number;
  /**
   * Does what is due and answers what it did, as counts for the log: no addresses, no ids. May be run twice, also at
   * once: what must happen once is held by the rows themselves. Ends early, between two rows, when `signal` says so.
   */
  run(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
};
