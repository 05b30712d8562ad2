/**
 * Calls `stop` when the parent process has exited, including after SIGKILL: the IPC channel closes in both cases.
 * No-op for a script that was started by hand and has no channel.
 */
export function exitWithParent(stop: () => void): void {
  if (!process.channel) return;
  process.once('disconnect', stop);
  process.channel.unref();
}
