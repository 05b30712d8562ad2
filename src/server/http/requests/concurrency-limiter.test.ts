import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createConcurrencyLimiter } from './concurrency-limiter.ts';

/** Every promise that can settle has settled before the next turn of the event loop. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), setImmediate(false)]);

test('runs one request of a user at a time without delaying another user', async () => {
  const limiter = createConcurrencyLimiter();
  const release = await limiter.acquire('ana');
  const second = limiter.acquire('ana');
  expect(await isSettled(second)).toBe(false);
  expect(await isSettled(limiter.acquire('ben'))).toBe(true);
  release();
  expect(await isSettled(second)).toBe(true);
});

test('limits the number of users at once and serves queued users in order', async () => {
  const limiter = createConcurrencyLimiter({ maxUsers: 1, maxQueued: 2, maxQueuedPerUser: 2 });
  const release = await limiter.acquire('ana');
  const order: string[] = [];
  const queued = ['ben', 'cleo'].map(async (userId) => {
    const releaseQueued = await limiter.acquire(userId);
    order.push(userId);
    releaseQueued();
  });
  release();
  await Promise.all(queued);
  expect(order).toEqual(['ben', 'cleo']);
});

test('limits the requests of one user with an unlimited number of users', async () => {
  const limiter = createConcurrencyLimiter({ maxUsers: Infinity, maxPerUser: 2, maxQueued: 9, maxQueuedPerUser: 9 });
  const [release] = await Promise.all([limiter.acquire('ana'), limiter.acquire('ana')]);
  const third = limiter.acquire('ana');
  expect(await isSettled(third)).toBe(false);
  for (const other of ['ben', 'cleo', 'dan']) expect(await isSettled(limiter.acquire(other))).toBe(true);
  release();
  expect(await isSettled(third)).toBe(true);
  expect(await isSettled(limiter.acquire('ana'))).toBe(false);
});

test('rejects with 503 when the queue is full, and one user cannot fill it', async () => {
  const limiter = createConcurrencyLimiter({ maxUsers: 1, maxQueued: 3, maxQueuedPerUser: 2 });
  await limiter.acquire('ana');
  void limiter.acquire('ana');
  void limiter.acquire('ana');
  await expect(limiter.acquire('ana')).rejects.toMatchObject({ status: 503 });
  void limiter.acquire('ben');
  await expect(limiter.acquire('cleo')).rejects.toMatchObject({ status: 503 });
});
