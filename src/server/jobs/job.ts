/**
 * Recurring background work of the server, normally run by one server of a database at a time (docs/decisions/0011).
 */

export type JobName =
  | 'reconcile-payments'
  | 'expire-plans'
  | 'purge-webhook-payloads'
  | 'purge-sign-in-data'
  | 'purge-old-records'
  | 'delete-accounts'
  | 'finish-migrations'
  | 'purge-versions'
  | 'send-receipts'
  | 'send-reminders'
  | 'send-evening-reminders'
  | 'send-digests';

export type Job = {
  readonly name: JobName;
  /** The job runs once in each interval of this length, counted from the Unix epoch, and also when a server starts. */
  readonly everySeconds: number;
  /** Delay after the first failure; exponential backoff up to an hour. */
  readonly retryDelaySeconds: number;
  /**
   * Does the due work and returns counts for the job's log line (no addresses, no ids). Must be idempotent and safe to
   * run concurrently. Once `signal` aborts, it ends after the rows or the statement that it has begun.
   */
  run(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
};
