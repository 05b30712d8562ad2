/**
 * Hashing and checking passwords, off the event loop and one at a time.
 *
 * One argon2id takes 19 MiB and tens of milliseconds of a core. A storm of sign-ins therefore waits in a short queue
 * before a single thread of low priority, and what does not fit is told to try again; saving a day is not slowed down.
 */
import { Worker } from 'node:worker_threads';
import type { PasswordResult, PasswordTask } from './password-worker.ts';

const MAX_QUEUED_PASSWORDS = 40;

/**
 * argon2id of a random text that nobody kept, at the cost that `password-worker.ts` uses. Checking a password against
 * it takes as long as against a real one, so the time of an answer does not tell whether an address has an account.
 */
const DUMMY_HASH = '$argon2id$v=19$m=19456,t=2,p=1$yUdyTzN8sZHup0DdEJzFeA$SqVayViDc+CXbc8ZhE2trnzxWaiYsvDWVsVXvB81Ges';

/** Too many passwords are waiting; the caller should try again in a moment. */
export class PasswordQueueFullError extends Error {}

export interface Passwords {
  /** argon2id in the PHC string format. Throws PasswordQueueFullError. */
  hash(password: string): Promise<string>;
  /** `hash` null (no such account, no password) takes as long and answers false. Throws PasswordQueueFullError. */
  matches(password: string, hash: string | null): Promise<boolean>;
  close(): Promise<void>;
}

export function createPasswords(maxQueued: number = MAX_QUEUED_PASSWORDS): Passwords {
  let thread: PasswordThread | null = null;

  function perform(password: string, hash: string | null): Promise<PasswordResult> {
    // Started with the first password, and again after a crash.
    if (thread === null || thread.hasEnded) thread = new PasswordThread();
    if (thread.length < maxQueued) return thread.perform(password, hash);
    return Promise.reject(new PasswordQueueFullError('too many passwords are waiting'));
  }

  return {
    async hash(password) {
      const result = await perform(password, null);
      if ('hash' in result) return result.hash;
      throw new Error('a password could not be hashed');
    },
    async matches(password, hash) {
      const result = await perform(password, hash ?? DUMMY_HASH);
      if ('matches' in result) return hash !== null && result.matches;
      throw new Error('a password could not be checked');
    },
    async close() {
      await thread?.end();
    },
  };
}

type PendingTask = { resolve(result: PasswordResult): void; reject(error: Error): void };

/** One thread and those who wait for it. When it ends, for whatever reason, each of them hears about it. */
class PasswordThread {
  hasEnded = false;
  readonly #worker = new Worker(new URL('password-worker.ts', import.meta.url));
  readonly #waiting = new Map<number, PendingTask>();
  #lastId = 0;

  constructor() {
    this.#worker.on('message', (result: PasswordResult) => {
      this.#waiting.get(result.id)?.resolve(result);
      this.#waiting.delete(result.id);
      // An idle thread keeps no process alive.
      if (this.#waiting.size === 0) this.#worker.unref();
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the password thread has ended')));
  }

  get length(): number {
    return this.#waiting.size;
  }

  perform(password: string, hash: string | null): Promise<PasswordResult> {
    this.#lastId += 1;
    const task: PasswordTask = { id: this.#lastId, password, hash };
    return new Promise((resolve, reject) => {
      this.#waiting.set(task.id, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(task);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.hasEnded = true;
    for (const caller of this.#waiting.values())
      caller.reject(error instanceof Error ? error : new Error(String(error)));
    this.#waiting.clear();
  }
}
