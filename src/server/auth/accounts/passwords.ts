/**
 * Hashing and checking passwords, off the event loop and one at a time.
 *
 * One argon2id takes 19 MiB and tens of milliseconds of a core. A storm of sign-ins therefore waits in a short queue
 * before a single thread of low priority, and what does not fit is told to try again; saving a day is not slowed down.
 */
import { Worker } from 'node:worker_threads';
import type { PasswordResult, PasswordTask } from './password-worker.ts';

const QUEUE_LIMIT = 40;

/**
 * argon2id of a random text that nobody kept, at the cost that `password-worker.ts` uses. Checking a password against
 * it takes as long as against a real one, so the time of an answer does not tell whether an address has an account.
 */
const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$yUdyTzN8sZHup0DdEJzFeA$SqVayViDc+CXbc8ZhE2trnzxWaiYsvDWVsVXvB81Ges';

/** Too many passwords are waiting; the caller should try again in a moment. */
export class PasswordQueueFull extends Error {}

export interface Passwords {
  /** argon2id in the PHC string format. Throws PasswordQueueFull. */
  hash(password: string): Promise<string>;
  /** `hash` null (no such account, no password) takes as long and answers false. Throws PasswordQueueFull. */
  matches(password: string, hash: string | null): Promise<boolean>;
  close(): Promise<void>;
}

type Waiting = { resolve(result: PasswordResult): void; reject(error: Error): void };

export function createPasswords(queueLimit: number = QUEUE_LIMIT): Passwords {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;

  /** Started with the first password and again after a crash; whoever waited then hears about it. */
  function startedWorker(): Worker {
    if (worker) return worker;
    const started = new Worker(new URL('./password-worker.ts', import.meta.url));
    const fail = (error: Error): void => {
      if (worker === started) worker = null;
      for (const caller of waiting.values()) caller.reject(error);
      waiting.clear();
    };
    started.on('message', (result: PasswordResult) => {
      waiting.get(result.id)?.resolve(result);
      waiting.delete(result.id);
      if (waiting.size === 0) started.unref();
    });
    started.on('error', fail);
    started.on('exit', () => fail(new Error('the password thread has ended')));
    worker = started;
    return started;
  }

  function perform(password: string, hash: string | null): Promise<PasswordResult> {
    if (waiting.size >= queueLimit) return Promise.reject(new PasswordQueueFull('too many passwords are waiting'));
    lastId += 1;
    const task: PasswordTask = { id: lastId, password, hash };
    return new Promise((resolve, reject) => {
      waiting.set(task.id, { resolve, reject });
      const thread = startedWorker();
      thread.ref();
      thread.postMessage(task);
    });
  }

  return {
    async hash(password) {
      const result = await perform(password, null);
      if ('hash' in result) return result.hash;
      throw new Error('a password could not be hashed');
    },
    async matches(password, hash) {
      const result = await perform(password, hash ?? NOBODYS_HASH);
      if ('matches' in result) return hash !== null && result.matches;
      throw new Error('a password could not be checked');
    },
    async close() {
      const ending = worker;
      worker = null;
      await ending?.terminate();
    },
  };
}
