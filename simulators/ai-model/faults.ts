/** Faults that a test puts in line: each meets the next question that it fits, once, or as often as it says. */

export type Fault = {
  /** A regular expression over the path, such as `gemini|messages$`; any path, when left out. */
  path?: string;
  /** How many questions it meets; one, when left out. */
  times?: number;
  /** Answers with this status, in the protocol's shape. With `after` it is told in the middle of a stream. */
  status?: number;
  /** And with this name of the protocol's own: `PerDay`, `API_KEY_INVALID`, `overloaded_error`, `insufficient_quota`. */
  name?: string;
  message?: string;
  /** Seconds. Google tells them in the body (RetryInfo), and so in no header. */
  retryDelay?: number;
  /** Seconds, in the header. */
  retryAfter?: number;
  /** And with a body that is not the protocol's. Without a status the model has answered, and only its answer is spoilt. */
  body?: 'html' | 'empty' | 'truncated';
  /** The connection breaks before anything is said. */
  drop?: boolean;
  /** The first byte comes so late. */
  delayMs?: number;
  /** The question waits for `release` before its first byte, or in the middle of its stream. */
  hold?: 'before' | 'after';
  /** The stream ends in its middle: the connection breaks, or the stream is closed without its end. */
  cut?: 'connection' | 'stream';
  /** How many pieces of text go before the middle; one, when left out. */
  after?: number;
  /**
   * What the model says instead: `blocked` refuses the prompt, `safety` stops the answer, `length` runs out of tokens,
   * `nothing` is a proper end without a word, `broken` is JSON that does not close, `thoughts` sends them along.
   */
  reply?: 'blocked' | 'safety' | 'length' | 'nothing' | 'broken' | 'thoughts';
  /** What the model says instead, letter for letter. */
  text?: string;
  /** Says its answer and then repeats the log line by line, as a model does that was tricked into it (text only). */
  echo?: boolean;
};
