/** Work that the server does by itself, on a schedule, and once on all servers of a database. */

export type JobName = 'reconcile-payments' | 'expire-plans' | 'send-receipts' | 'send-reminders';

export type Job = {
  readonly name: JobName;
  /** When it runs besides the start of a server: a cron expression in UTC. */
  readonly cron: string;
  /** The wait after its first failure; it doubles from there, and an hour is the longest. */
  readonly retryDelaySeconds: number;
  /**
   * Does what is due and answers what it did, as counts for the log: no addresses, no ids. May be run twice, also at
   * once: what must happen once is held by the rows themselves. Ends early, between two rows, when `signal` says so.
   */
  run(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
};
