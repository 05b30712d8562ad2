/** Scripted faults of the simulated providers. */

export type IdentityFault = {
  method?: string;
  /** A regular expression for the path below `/sandbox/identity`, such as `/google/token$`. Default: any path. */
  path?: string;
  /** How many requests are affected; 1 unless set. */
  times?: number;
  /** Answers with this status, and with `body` as JSON, instead of doing the work. */
  status?: number;
  body?: unknown;
  /** Breaks the connection: before the work, or after it (the answer is lost). */
  drop?: 'before' | 'after';
  /** Changes claims of the ID token; undefined removes a claim. */
  claims?: Record<string, unknown>;
  /** Signs the ID token with a key that is not published, or not at all. */
  signature?: 'foreign' | 'none';
};
