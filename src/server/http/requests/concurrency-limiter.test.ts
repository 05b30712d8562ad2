import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './concurrency-limiter.ts';

/** Every promise that can go on has gone on before the next turn of the event loop. */
const settled = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), setImmediate(false)]);

test('one request of a user at a time; another user does not wait for them', async () => {
  const turns = createTurns();
  const end = await turns.take('ana');
  const second = turns.take('ana');
  expect(await settled(second)).toBe(false);
  expect(await settled(turns.take('ben'))).toBe(true);
  end();
  expect(await settled(second)).toBe(true);
});

test('so many users at once, the others in the order they came', async () => {
  const turns = createTurns({ users: 1, waiting: 2, waitingOfOne: 2 });
  const end = await turns.take('ana');
  const order: string[] = [];
  const waiting = ['ben', 'cleo'].map(async (userId) => {
    const endOfTheirs = await turns.take(userId);
    order.push(userId);
    endOfTheirs();
  });
  end();
  await Promise.all(waiting);
  expect(order).toEqual(['ben', 'cleo']);
});

test('so many requests of one user at once, and any number of users', async () => {
  const turns = createTurns({ users: Infinity, each: 2, waiting: 9, waitingOfOne: 9 });
  const [end] = await Promise.all([turns.take('ana'), turns.take('ana')]);
  const third = turns.take('ana');
  expect(await settled(third)).toBe(false);
  for (const other of ['ben', 'cleo', 'dan']) expect(await settled(turns.take(other))).toBe(true);
  end();
  expect(await settled(third)).toBe(true);
  expect(await settled(turns.take('ana'))).toBe(false);
});

test('a long queue is told to come back, and one user cannot fill it', async () => {
  const turns = createTurns({ users: 1, waiting: 3, waitingOfOne: 2 });
  await turns.take('ana');
  void turns.take('ana');
  void turns.take('ana');
  await expect(turns.take('ana')).rejects.toMatchObject({ status: 503 });
  void turns.take('ben');
  await expect(turns.take('cleo')).rejects.toMatchObject({ status: 503 });
});
