import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPadding } from './response-padding.ts';

/** Timers may fire up to a millisecond early. */
const TOLERANCE_MS = 2;

async function measure(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

test('short work takes one whole step', async () => {
  const padded = await measure(() => startPadding().finish());
  expect(padded).toBeGreaterThanOrEqual(100 - TOLERANCE_MS);
});

test('work that exceeds a step takes another whole step', async () => {
  const padded = await measure(async () => {
    const padding = startPadding();
    await delay(110);
    await padding.finish();
  });
  expect(padded).toBeGreaterThanOrEqual(200 - TOLERANCE_MS);
});

test('an excluded part adds to the padded time, whether it succeeds or fails', async () => {
  const padded = await measure(async () => {
    const padding = startPadding();
    await padding.exclude(() => delay(30));
    await expect(padding.exclude(() => delay(30).then(() => Promise.reject(new Error('full'))))).rejects.toThrow(
      'full',
    );
    await padding.finish();
  });
  expect(padded).toBeGreaterThanOrEqual(160 - TOLERANCE_MS);
});
