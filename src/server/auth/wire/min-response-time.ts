/** Pads the response time to a minimum. Threat: timing would otherwise reveal what the response hides. */
import { setTimeout as delay } from 'node:timers/promises';

/** @param startedAt from `performance.now()` */
export async function padResponseTime(startedAt: number, ms: number): Promise<void> {
  const remaining = ms - (performance.now() - startedAt);
  if (remaining > 0) await delay(remaining);
}
