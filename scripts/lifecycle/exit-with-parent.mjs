// Plain JavaScript for Node 18 and newer, because run.mjs uses it before the dependencies are installed.
import process from 'node:process';

const PARENT_CHECK_MS = 500;

/**
 * Ends this process, as SIGTERM does, when its parent has exited, including after SIGKILL. The parent is run.mjs, whose
 * IPC channel then closes, or npm, which opens none. No-op for a script that was started by hand: it may outlive its
 * shell.
 */
export function exitWithParent() {
  const parent = process.ppid;
  const hasChannel = process.connected;
  if (!hasChannel && !process.env.npm_lifecycle_event) return;
  const hasParent = () => (hasChannel ? process.connected : process.ppid === parent);
  // Repeated, because a script starts one tool after another, and the signal ends only the one that runs.
  setInterval(() => {
    if (!hasParent() && !process.emit('SIGTERM', 'SIGTERM')) process.exit(1);
  }, PARENT_CHECK_MS).unref();
}
