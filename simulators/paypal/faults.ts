/** A fault of the PayPal simulator. Each queued fault affects the next `times` matching requests. */
export type Fault = {
  /** Default: any method. */
  method?: string;
  /** A regular expression for the path, such as `/capture$`. Default: any path. */
  path?: string;
  /** The number of affected requests. Default: 1. */
  times?: number;
  /** Responds with this status instead of doing the work. */
  status?: number;
  /** The issue in PayPal's error response. */
  issue?: string;
  /** Replaces the body with invalid JSON. Without `status` or `issue`, the work is done and only its response is corrupted. */
  body?: 'html' | 'empty' | 'truncated';
  /** Seconds, for 429 and 503. */
  retryAfter?: number;
  /** Breaks the connection before the work. */
  drop?: boolean;
  /** Breaks the connection after the work: the client cannot know whether the payment succeeded. */
  dropAfterWork?: boolean;
  /** Delays the work. Until the response, requests with the same id are rejected as in progress. */
  delayMs?: number;
  /** Holds the request until `release`, before or after the work. */
  hold?: 'before' | 'after';
};
