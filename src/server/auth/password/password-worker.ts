/**
 * Worker thread that computes argon2id and estimates how guessable passwords are, one password at a time. On Linux it
 * has a lower priority than the thread that serves requests.
 */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** OWASP's recommendation for argon2id: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/**
 * A nice value: a third of a normal thread's weight. At 10, a tenth, other programs starved sign-ins on a busy machine.
 */
const LOWER_PRIORITY = 5;

export type PasswordJob =
  | { kind: 'hash'; password: string }
  | { kind: 'verify'; password: string; hash: string }
  | { kind: 'estimate'; password: string; ownTexts: readonly string[] };
export type PasswordTask = PasswordJob & { id: number };
export type PasswordResult =
  | { id: number; hash: string }
  | { id: number; matches: boolean }
  | { id: number; isGuessable: boolean }
  | { id: number; failed: true };

// On Linux pid 0 means the calling thread; on other systems it means the whole process, which must keep its priority.
if (process.platform === 'linux') {
  try {
    setPriority(0, LOWER_PRIORITY);
  } catch {
    // The operating system may forbid a change of priority; sign-ins then slow other requests down.
  }
}

async function runTask(task: PasswordTask): Promise<PasswordResult> {
  const { id, password } = task;
  try {
    if (task.kind === 'hash') return { id, hash: hashSync(password, COST) };
    if (task.kind === 'verify') return { id, matches: verifySync(task.hash, password) };
    const { isGuessablePassword } = await import('./guessable-password.ts');
    return { id, isGuessable: isGuessablePassword(password, task.ownTexts) };
  } catch {
    return { id, failed: true };
  }
}

parentPort?.on('message', (task: PasswordTask) => {
  void runTask(task).then((result) => parentPort?.postMessage(result));
});
