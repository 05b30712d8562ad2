/** Lets an answer take at least so long, where the work behind it would tell what the words must not. */
import { setTimeout as delay } from 'node:timers/promises';

/** @param startedAt from `performance.now()` */
export async function padResponseTime(startedAt: number, ms: number): Promise<void> {
  const remaining = ms - (performance.now() - startedAt);
  if (remaining > 0) await delay(remaining);
}
