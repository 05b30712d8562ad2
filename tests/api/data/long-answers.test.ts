/** Answers that are made of many long logs hold up no other request for long. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { readCpuMs } from '../../support/cpu-time.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { startDataWorld } from './fixture.ts';

const world = setUpWorld(startDataWorld);
beforeEach(() => world.server.admin.query('delete from public.entries'));

const fill = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));

test.each([
  ['read-days', 31, fill('<p>a</p>', 250_000), { from: '2001-01-01', to: '2001-01-31' }],
  ['year-summary', 365, `<p>${fill('字 #', 8_000)}</p>`, { year: '2001' }],
])('%s of %d logs', async (name, days, content, body) => {
  await world.server.admin.query(
    `insert into public.entries (user_id, date, content)
     select $1, date '2001-01-01' + number, $2 from generate_series(0, $3 - 1) as number`,
    [world.cleo.id, content, days],
  );
  let hasAnswered = false;
  const startedAt = readCpuMs();
  const answer = fetch(`${world.server.url}/functions/v1/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.cleo.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).finally(() => (hasAnswered = true));
  let longestTurn = 0;
  while (!hasAnswered) {
    const turnStartedAt = readCpuMs();
    await setImmediate();
    longestTurn = Math.max(longestTurn, readCpuMs() - turnStartedAt);
  }
  const total = readCpuMs() - startedAt;
  expect((await answer).status).toBe(200);
  expect(longestTurn).toBeLessThan(total / 3);
});
