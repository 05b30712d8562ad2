/** Faults that a test puts in line: each meets the next request that it fits, once, or as often as it says. */

export type Fault = {
  /** Any method, when left out. */
  method?: string;
  /** A regular expression over the path, such as `/capture$`; any path, when left out. */
  path?: string;
  /** How many requests it meets; one, when left out. */
  times?: number;
  /** Answers with this status instead of doing the work. */
  status?: number;
  /** And with this issue, in PayPal's shape. */
  issue?: string;
  /** And with a body that is no JSON; without a status the work is done, and only its answer is spoilt. */
  body?: 'html' | 'empty' | 'truncated';
  /** Seconds, for 429 and 503. */
  retryAfter?: number;
  /** The connection breaks before anything was done. */
  drop?: boolean;
  /** The work is done, then the connection breaks: the fault that finds payment bugs. */
  dropAfterWork?: boolean;
  /** The work waits this long. Meanwhile the same request id is in progress. */
  delayMs?: number;
  /** The request waits for `release`, before or after the work. */
  hold?: 'before' | 'after';
};
