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
  /** Rejects the request with this issue of PayPal. The issue determines the status if `status` is missing. */
  issue?: string;
  /** Replaces the body with invalid JSON. Without `status` or `issue`, the work is done, but its body is invalid. */
  body?: 'html' | 'empty' | 'truncated';
  /** Seconds, in the Retry-After header. Only with `status`, `issue` or `body`. */
  retryAfter?: number;
  /** Breaks the connection before the work. */
  drop?: boolean;
  /** Breaks the connection after the work: the client cannot know whether the payment succeeded. */
  dropAfterWork?: boolean;
  /** Delays the work. Until the response, other requests with the same path and id are rejected. */
  delayMs?: number;
  /** Holds the request until `release`, before or after the work. */
  hold?: 'before' | 'after';
};
