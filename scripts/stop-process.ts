/** Ends a process that a script started, the way an operator would. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Resolves when it is gone. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
