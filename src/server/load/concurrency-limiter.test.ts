import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createConcurrencyLimiter } from './concurrency-limiter.ts';
import { createRequestContext, type RequestContext } from './request-context.ts';

/** Every promise that can settle has settled before the next turn of the event loop. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), setImmediate(false)]);

const from = (address: string, userId: string | null = null): RequestContext => ({
  ...createRequestContext(address),
  userId,
});
const [ana, ben, cleo] = ['ana', 'ben', 'cleo'].map((userId) => from(`home of ${userId}`, userId)) as [
  RequestContext,
  RequestContext,
  RequestContext,
];

test('a client alone uses every slot', async () => {
  const limiter = createConcurrencyLimiter({ maxRunning: 3, maxQueued: 10 });
  for (let count = 0; count < 3; count += 1) expect(limiter.tryAcquire(ana)).not.toBeNull();
  expect(limiter.tryAcquire(ana)).toBeNull();
  expect(limiter.state()).toMatchObject({ running: 3, queued: 0 });
});

test.each([
  ['user', ana, ben],
  ['signed-out address', from('one'), from('two')],
  ['address with many accounts', from('one', 'a'), from('two', 'b')],
  ['user with many addresses', from('one', 'a'), from('two', 'b')],
])('a free slot goes to a newcomer before the queue of a %s that runs more', async (kind, flooding, newcomer) => {
  const limiter = createConcurrencyLimiter({ maxRunning: 4, maxQueued: 100 });
  const nextOfFlood = (index: number): RequestContext => ({
    ...flooding,
    ...(kind === 'address with many accounts' && { userId: `account ${index}` }),
    ...(kind === 'user with many addresses' && { address: `address ${index}` }),
  });
  const releases = Array.from({ length: 4 }, (_, index) => limiter.tryAcquire(nextOfFlood(index))!);
  const queued = Array.from({ length: 20 }, (_, index) => limiter.acquire(nextOfFlood(4 + index)));
  const saving = limiter.acquire(newcomer);
  releases[0]!();
  expect(await isSettled(saving)).toBe(true);
  expect(await isSettled(queued[0]!)).toBe(false);
  (await saving)();
  expect(await isSettled(queued[0]!)).toBe(true);
});

test('colleagues behind one address share its part', async () => {
  const limiter = createConcurrencyLimiter({ maxRunning: 2, maxQueued: 100 });
  const [release] = [limiter.tryAcquire(from('office', 'a'))!, limiter.tryAcquire(from('office', 'a'))];
  const flood = limiter.acquire(from('office', 'a'));
  const colleague = limiter.acquire(from('office', 'b'));
  release();
  expect(await isSettled(colleague)).toBe(true);
  expect(await isSettled(flood)).toBe(false);
});

/** Queues work of one client after another, runs one at a time, and returns the clients in the order in which they ran. */
async function runInTurns(contexts: readonly RequestContext[]): Promise<(string | null)[]> {
  const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 100 });
  const order: (string | null)[] = [];
  const release = limiter.tryAcquire(cleo)!;
  const work = contexts.map(async (context) => {
    const releaseQueued = await limiter.acquire(context);
    order.push(context.userId);
    releaseQueued();
  });
  release();
  await Promise.all(work);
  return order;
}

test('a user does not wait for the whole queue of a colleague behind the same address', async () => {
  const [flooding, colleague] = [from('office', 'a'), from('office', 'b')];
  const order = await runInTurns([...Array<RequestContext>(9).fill(flooding), colleague]);
  expect(order.indexOf('b')).toBeLessThanOrEqual(1);
});

test('a client gets no credit for the time in which it asked for nothing', async () => {
  const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 100 });
  const order: string[] = [];
  let release = limiter.tryAcquire(ana)!;
  const queue = (context: RequestContext) =>
    void limiter.acquire(context).then((next) => {
      order.push(context.userId!);
      release = next;
    });
  const finishRunning = async (): Promise<void> => {
    release();
    await setImmediate();
  };
  for (let count = 0; count < 60; count += 1) queue(ana);
  for (let count = 0; count < 40; count += 1) await finishRunning();
  for (let count = 0; count < 10; count += 1) queue(ben);
  for (let count = 0; count < 10; count += 1) await finishRunning();
  expect(order.slice(-10).filter((userId) => userId === 'ana').length).toBeGreaterThanOrEqual(4);
});

test('equal clients are served in the order of their arrival', async () => {
  const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 10 });
  const release = limiter.tryAcquire(ana)!;
  const order: string[] = [];
  const queued = [ben, cleo].map(async (context) => {
    const releaseQueued = await limiter.acquire(context);
    order.push(context.userId!);
    releaseQueued();
  });
  release();
  await Promise.all(queued);
  expect(order).toEqual(['ben', 'cleo']);
});

test('a limit for each client delays no other client', async () => {
  const limiter = createConcurrencyLimiter({ maxRunning: 9, maxPerClient: 2, maxQueued: 9 });
  const release = limiter.tryAcquire(ana)!;
  limiter.tryAcquire(ana);
  const third = limiter.acquire(ana);
  expect(await isSettled(third)).toBe(false);
  for (const other of [ben, cleo]) expect(limiter.tryAcquire(other)).not.toBeNull();
  // Two accounts of one address are two clients.
  expect(limiter.tryAcquire({ ...ana, userId: 'sister of ana' })).not.toBeNull();
  release();
  expect(await isSettled(third)).toBe(true);
});

test('a second call of a release frees no second slot', () => {
  const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 0 });
  const release = limiter.tryAcquire(ana)!;
  release();
  expect(limiter.tryAcquire(ben)).not.toBeNull();
  release();
  expect(limiter.tryAcquire(cleo)).toBeNull();
});

describe('a full queue', () => {
  const fill = (maxQueued: number) => {
    const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued });
    limiter.tryAcquire(ana);
    return { limiter, queued: Array.from({ length: maxQueued }, () => limiter.acquire(ana)) };
  };

  test('refuses the client with the most requests in it', async () => {
    const { limiter } = fill(3);
    await expect(limiter.acquire(ana)).rejects.toMatchObject({ name: 'BusyError', reason: 'queue_full' });
    expect(limiter.state()).toMatchObject({ queued: 3, refused: { queue_full: 1, displaced: 0 } });
    expect(() => limiter.refuseIfFull(ana)).toThrow(expect.objectContaining({ reason: 'queue_full' }));
    expect(limiter.state(), 'counts a refusal before the queue').toMatchObject({
      queued: 3,
      refused: { queue_full: 2 },
    });
  });

  test('gives the place of the last request of that client to another client', async () => {
    const { limiter, queued } = fill(3);
    limiter.refuseIfFull(ben);
    expect(limiter.state().refused.queue_full).toBe(0);
    const place = limiter.acquire(ben);
    await expect(queued[2]).rejects.toMatchObject({ reason: 'displaced' });
    for (const waiting of [place, queued[0]!, queued[1]!]) expect(await isSettled(waiting)).toBe(false);
    expect(limiter.state()).toMatchObject({ queued: 3, refused: { displaced: 1 } });
  });

  test('refuses a newcomer if no client has more than one request in it', async () => {
    const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 2 });
    limiter.tryAcquire(ana);
    void limiter.acquire(ana);
    void limiter.acquire(ben);
    await expect(limiter.acquire(cleo)).rejects.toMatchObject({ reason: 'queue_full' });
  });

  test('refuses a client beyond its own part of the queue', async () => {
    const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 9, maxQueuedPerClient: 1 });
    limiter.tryAcquire(ana);
    void limiter.acquire(ana);
    expect(() => limiter.refuseIfFull(ana)).toThrow(expect.objectContaining({ reason: 'queue_full' }));
    expect(() => limiter.refuseIfFull(ben)).not.toThrow();
    await expect(limiter.acquire(ana)).rejects.toMatchObject({ reason: 'queue_full' });
  });
});

describe('a request that waits too long', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  test('is refused and takes no slot', async () => {
    const limiter = createConcurrencyLimiter({ maxRunning: 1, maxQueued: 9, maxWaitMs: 1_000 });
    const release = limiter.tryAcquire(ana)!;
    const early = expect(limiter.acquire(ben)).rejects.toMatchObject({ reason: 'timeout' });
    await vi.advanceTimersByTimeAsync(600);
    const late = limiter.acquire(cleo);
    await vi.advanceTimersByTimeAsync(600);
    await early;
    release();
    await late;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(limiter.state()).toMatchObject({ running: 1, queued: 0, refused: { timeout: 1 } });
  });
});
