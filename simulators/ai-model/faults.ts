/** A fault of the model simulator. Each queued fault affects the next `times` matching requests. */
export type Fault = {
  /** A regular expression for the path, such as `gemini|messages$`. Default: any path. */
  path?: string;
  /** The number of affected requests. Default: 1. */
  times?: number;
  /** Responds with this status in the protocol's error format. With `after`, sends the error within the stream. */
  status?: number;
  /** The protocol's error name: `PerDay`, `API_KEY_INVALID`, `overloaded_error`, `insufficient_quota`. */
  name?: string;
  message?: string;
  /** Seconds, in the body: Google sends RetryInfo instead of a header. */
  retryDelay?: number;
  /** Seconds, in the Retry-After header. */
  retryAfter?: number;
  /** More headers of a rejection, such as a provider's own rate-limit headers. */
  headers?: Record<string, string>;
  /** Replaces the body with an invalid one. Without `status`, corrupts the body of a successful response. */
  body?: 'html' | 'empty' | 'truncated';
  /** Closes the connection before the response. */
  drop?: boolean;
  /** Delays the first byte. */
  delayMs?: number;
  /** Holds the request until `release`, before its first byte or in the middle of its stream. */
  hold?: 'before' | 'after';
  /** Ends the stream in the middle: breaks the connection, or closes the stream without its final events. */
  cut?: 'connection' | 'stream';
  /** The number of text chunks that are sent before `hold: 'after'`, `cut` or `status` takes effect. Default: 1. */
  after?: number;
  /**
   * The kind of answer: `blocked` rejects the prompt, `safety` stops the answer, `length` runs out of tokens, `nothing`
   * is empty, `broken` is truncated JSON, `thoughts` includes the model's thoughts in the field of the protocol,
   * `thoughts only` has nothing else, `refusal` declines in the field of the protocol.
   */
  reply?: 'blocked' | 'safety' | 'length' | 'nothing' | 'broken' | 'thoughts' | 'thoughts only' | 'refusal';
  /** Dresses the answer: a name in `REPLY_MANNERS`, and one in `OBJECT_MANNERS` if the answer is JSON. */
  manner?: string;
  objectManner?: string;
  /** Replaces the finish reason, in the protocol's own words. */
  finish?: string;
  /** Replaces the text of the answer. The token limit and `reply` still apply. */
  text?: string;
  /**
   * Appends the lines of the logs in the prompt to the answer, like a model that leaks its prompt after an injection.
   * Only for text answers without `text`.
   */
  echo?: boolean;
};
