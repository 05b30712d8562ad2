import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Sends SIGTERM and resolves once the child has exited. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
