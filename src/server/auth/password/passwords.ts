/**
 * Hashes, verifies and assesses passwords off the event loop, one at a time.
 *
 * One argon2id computation takes 19 MiB and tens of milliseconds of a core. A burst of sign-ins therefore waits in a
 * bounded queue for a single low-priority thread, and the excess is rejected. So a burst does not hold up other
 * requests.
 */
import { Worker } from 'node:worker_threads';
import {
  createConcurrencyLimiter,
  runLimited,
  type ConcurrencyLimiter,
  type Limits,
} from '#server/load/concurrency-limiter.ts';
import type { Passwords } from '../http/auth-deps.ts';
import type { PasswordJob, PasswordResult, PasswordTask } from './password-worker.ts';

/**
 * At most 40 passwords are at the thread or in the queue (docs/operations/overload.md). Two are at the thread, which
 * computes one and has the next one ready, so that it is never idle.
 */
export const PASSWORD_LIMITS: Limits = { maxRunning: 2, maxQueued: 38 };

/**
 * argon2id hash of a discarded random text, with the cost parameters of `password-worker.ts`. Threat: account
 * enumeration by timing. Verifying against it takes as long as against a real hash, so the response time does not
 * reveal an account.
 */
const DUMMY_HASH = '$argon2id$v=19$m=19456,t=2,p=1$yUdyTzN8sZHup0DdEJzFeA$SqVayViDc+CXbc8ZhE2trnzxWaiYsvDWVsVXvB81Ges';

/** After so long without a password, a thread that holds the lists of guessable passwords ends: they take 30 MB. */
const LISTS_IDLE_MS = 30_000;

export function createPasswords(
  limiter: ConcurrencyLimiter = createConcurrencyLimiter(PASSWORD_LIMITS),
  listsIdleMs = LISTS_IDLE_MS,
): Passwords {
  let thread: PasswordThread | null = null;

  const runJob = (job: PasswordJob): Promise<PasswordResult> => runLimited(limiter, () => runInThread(job));

  function runInThread(job: PasswordJob): Promise<PasswordResult> {
    // The first task starts the thread; the next task after its end starts a new one.
    if (thread === null || thread.hasEnded) thread = new PasswordThread(listsIdleMs);
    return thread.runJob(job);
  }

  return {
    async hash(password) {
      const result = await runJob({ kind: 'hash', password: password.normalize('NFC') });
      if ('hash' in result) return result.hash;
      throw new Error('cannot hash the password');
    },
    async matches(password, hash) {
      // Hashes from before the normalization need the text as it was typed. An unknown account verifies both forms too.
      for (const form of new Set([password.normalize('NFC'), password])) {
        const result = await runJob({ kind: 'verify', password: form, hash: hash ?? DUMMY_HASH });
        if (!('matches' in result)) throw new Error('cannot verify the password hash');
        if (hash !== null && result.matches) return true;
      }
      return false;
    },
    async isGuessable(password, ownTexts) {
      const result = await runJob({ kind: 'estimate', password, ownTexts });
      if ('isGuessable' in result) return result.isGuessable;
      throw new Error('cannot assess the password');
    },
    async close() {
      await thread?.end();
    },
  };
}

type PendingTask = { resolve(result: PasswordResult): void; reject(error: Error): void };

/** One worker thread and its pending tasks. When the thread exits for any reason, all pending tasks are rejected. */
class PasswordThread {
  hasEnded = false;
  readonly #worker = new Worker(new URL('password-worker.ts', import.meta.url));
  readonly #pending = new Map<number, PendingTask>();
  #lastId = 0;
  #hasLists = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(listsIdleMs: number) {
    this.#worker.on('message', (result: PasswordResult) => {
      this.#pending.get(result.id)?.resolve(result);
      this.#pending.delete(result.id);
      // An idle thread must not keep the process alive.
      if (this.#pending.size > 0) return;
      this.#worker.unref();
      if (this.#hasLists) this.#idleTimer = setTimeout(() => this.#endIdle(), listsIdleMs).unref();
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the password thread exited')));
  }

  runJob(job: PasswordJob): Promise<PasswordResult> {
    this.#lastId += 1;
    const task: PasswordTask = { ...job, id: this.#lastId };
    clearTimeout(this.#idleTimer);
    this.#hasLists ||= job.kind === 'estimate';
    return new Promise((resolve, reject) => {
      this.#pending.set(task.id, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(task);
    });
  }

  async end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#worker.terminate();
  }

  #endIdle(): void {
    this.hasEnded = true;
    void this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.hasEnded = true;
    for (const task of this.#pending.values()) task.reject(error instanceof Error ? error : new Error(String(error)));
    this.#pending.clear();
  }
}
