/** Tests the memory of blocked addresses. tests/api/auth/limits.test.ts tests the limits with a database. */
import { expect, test } from 'vitest';
import { readConfig } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { createRateLimits } from './rate-limits.ts';
import { AuthError } from './errors.ts';

/** Limits whose counters in the database are all exhausted for five minutes. */
function createExhaustedLimits() {
  let statements = 0;
  const statement = async () => {
    statements += 1;
    return { rows: [{ points: 1_000, expire: Date.now() + 300_000 }], rowCount: 1 };
  };
  const database = { asService: () => ({ statement }) } as unknown as Database;
  const limits = createRateLimits({ config: readConfig({ NODE_ENV: 'test' }), database });
  return { limits, statements: () => statements };
}

test('a blocked address costs one statement in its window, and is told when the window ends', async () => {
  const { limits, statements } = createExhaustedLimits();
  for (let request = 0; request < 5; request += 1) {
    const refusal = limits.consume('otp', '2001:db8::1');
    await expect(refusal).rejects.toThrow(AuthError);
    await expect(refusal).rejects.toMatchObject({ code: 'over_request_rate_limit', retryAfterSeconds: 300 });
  }
  expect(statements()).toBe(1);
  await expect(limits.consume('verify', '2001:db8::1')).rejects.toThrow(AuthError);
  expect(statements(), 'another bucket').toBe(2);
});

test('remembers at most 10,000 blocked addresses', async () => {
  const { limits, statements } = createExhaustedLimits();
  const block = (prefix: number) =>
    limits.consume('otp', `2001:db8:0:${prefix.toString(16)}::1`).catch(() => undefined);
  for (let prefix = 0; prefix <= 10_000; prefix += 1) await block(prefix);
  expect(statements()).toBe(10_001);
  await block(10_000);
  expect(statements(), 'the newest one').toBe(10_001);
  await block(0);
  expect(statements(), 'the oldest one').toBe(10_002);
});
