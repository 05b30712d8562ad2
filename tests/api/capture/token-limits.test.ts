/** Rate limits of personal access tokens (docs/specification/limits.md 9). */
import { expect, test } from 'vitest';
import { createPersonalTokens, PersonalTokenError } from '#server/auth/keys/personal-tokens.ts';
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

/** How often `ask` is allowed when three processes are asked in turn. */
async function countAllowed(
  ask: (process: ReturnType<typeof createPersonalTokens>) => Promise<unknown>,
): Promise<number> {
  const { database, clock, config } = world;
  const processes = Array.from({ length: 3 }, () => createPersonalTokens({ database, clock, config }));
  let allowed = 0;
  for (let count = 0; count < 300; count += 1) {
    try {
      await ask(processes[count % 3]!);
      allowed += 1;
    } catch (error) {
      if (!(error instanceof PersonalTokenError)) throw error;
      if (error.reason === 'invalid') allowed += 1;
    }
  }
  return allowed;
}

test('all processes count together, each within a step of its own', async () => {
  const ana = await world.signUpUser();
  const body = { name: 'Many', scopes: ['append'], days: 30 };
  const { token } = (await world.request('POST', '/tokens', { token: ana.access, body })).body;
  const used = await countAllowed((process) => process.verify(token, 'append', '192.0.2.1'));
  expect(used).toBeGreaterThanOrEqual(120);
  expect(used).toBeLessThanOrEqual(150);
  const guessed = await countAllowed((process) => process.verify(`hforge_${'B'.repeat(64)}`, 'append', '192.0.2.2'));
  expect(guessed).toBeGreaterThanOrEqual(30);
  expect(guessed).toBeLessThanOrEqual(45);
});
