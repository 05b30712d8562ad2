/**
 * Returns the milliseconds of processor time that this thread has used. On a busy machine a difference of two times of
 * the clock includes the time of other programs; a difference of these does not.
 */
export function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Returns the milliseconds of processor time that `work` takes in this thread. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const startedAt = readCpuMs();
  await work();
  return readCpuMs() - startedAt;
}
