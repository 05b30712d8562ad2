/** Rate limits of personal access tokens (docs/specification/limits.md 9). */
import { expect, test } from 'vitest';
import { setUpAuthWorld } from '../auth/fixture.ts';

const world = setUpAuthWorld({ AUTH_RATE_LIMITS: 'on' });

const append = (token: string) =>
  fetch(`${world.url}/functions/v1/append-item`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });

test('a token in a loop waits, and its owner does not', async () => {
  const ana = await world.signUpUser();
  const { body } = await world.request('POST', '/tokens', {
    token: ana.access,
    body: { name: 'Loop', scopes: ['append'], days: 30 },
  });
  const { token } = body;
  const statuses: number[] = [];
  for (let count = 0; count < 121; count += 1) statuses.push((await append(token)).status);
  expect(statuses.slice(0, 120)).toEqual(Array.from({ length: 120 }, () => 400));
  expect(statuses[120]).toBe(429);
  const refused = await append(token);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await append(ana.access)).status).toBe(400);
});

test('unknown tokens of a network address wait as well', async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 32; count += 1) statuses.push((await append(`hforge_${'A'.repeat(64)}`)).status);
  expect(statuses.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 401));
  expect(statuses.slice(30)).toEqual([429, 429]);
});
