/**
 * Hides how long the part of a request takes that depends on whether an account exists. Threat: account enumeration by
 * time.
 *
 * Work after the response (`mailer.prepare`, `sendTextLater`) is preferred. Padding is for work that the answer needs.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** Much longer than the writes of a new account take. */
const STEP_MS = 100;

export interface Padding {
  /** Runs a part that takes equally long with and without an account, such as hashing or verifying a password. */
  exclude<T>(part: () => Promise<T>): Promise<T>;
  /**
   * Call before the response or the error. Resolves after a whole number of steps since the start, not counting the
   * excluded parts. A busy server, where the writes take longer than one step, still shows no finer differences.
   */
  finish(): Promise<void>;
}

export function startPadding(): Padding {
  let startedAt = performance.now();
  return {
    async exclude(part) {
      const partStartedAt = performance.now();
      try {
        return await part();
      } finally {
        startedAt += performance.now() - partStartedAt;
      }
    },
    async finish() {
      const elapsed = performance.now() - startedAt;
      await delay(Math.ceil(elapsed / STEP_MS) * STEP_MS - elapsed);
    },
  };
}
