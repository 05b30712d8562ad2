/** A flood of sign-ins: bounded memory, and an answer that tells clients to retry (docs/operations/overload.md). */
import { expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD } from './fixture.ts';

const world = setUpAuthWorld({}, { passwords: 'real' });

const MEGABYTE = 1_048_576;
/** One argon2id computation takes 19 MiB, so 200 at the same time would take 3.8 GB. */
const MAX_GROWTH = 150 * MEGABYTE;

test('the server lets 40 of 200 sign-ins wait, tells the others to retry, and computes one password at a time', async () => {
  const { email, refresh } = await world.signUpUser();
  const signIn = () => world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
  // The first sign-in starts the password thread, whose memory counts as the state at rest.
  expect((await signIn()).status).toBe(200);
  const before = process.memoryUsage().rss;
  let highest = before;
  const sampling = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 5);

  const flood = Promise.all(Array.from({ length: 200 }, signIn));
  const renewal = await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
  expect(renewal.status).toBe(200);
  const responses = await flood;
  clearInterval(sampling);

  const refused = responses.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(200);
  for (const { status, headers, body } of refused) {
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'request_timeout', '1']);
  }
  expect(highest - before).toBeLessThan(MAX_GROWTH);
  // Every refused client gets in once it retries.
  expect((await signIn()).status).toBe(200);
});
