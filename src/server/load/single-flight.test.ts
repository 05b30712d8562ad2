import { expect, test } from 'vitest';
import { singleFlight } from './single-flight.ts';

test('callers of one key share the run in flight, and the next caller starts another', async () => {
  const runs: string[] = [];
  const read = singleFlight(async (key: string) => `${key}${runs.push(key)}`);
  expect(await Promise.all([read('a'), read('b'), read('a')])).toEqual(['a1', 'b2', 'a1']);
  expect(await read('a')).toBe('a3');
});

test('a failure reaches all callers of the run, and the next caller starts another', async () => {
  let runs = 0;
  const read = singleFlight(async () => {
    runs += 1;
    if (runs === 1) throw new Error('lost');
    return runs;
  });
  const results = await Promise.allSettled([read(), read()]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await read()).toBe(2);
});
