/** Random histories of arrivals and ends: the limiter's promises, checked against a plain list of what runs and waits. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { createConcurrencyLimiter, type Release } from './concurrency-limiter.ts';
import { createRequestContext, type RequestContext } from './request-context.ts';

const SLOTS = 20;
const SHARE = SLOTS / 10;
const QUEUE = 30;

type Work = { context: RequestContext; state: 'queued' | 'running' | 'refused' | 'ended'; release: Release | null };

const client = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(['flood', 'flood'] as const, ['flood', null] as const) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant('office'),
      fc.integer({ max: 40, min: 0 }).map((id) => `worker ${id}`),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.integer({ max: 40, min: 0 }).map((id) => `address ${id}`),
      fc.constant('nomad'),
    ),
  },
  { weight: 3, arbitrary: fc.integer({ max: 30, min: 0 }).map((id) => [`home ${id}`, `user ${id}`] as const) },
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('arrive' as const), client, count: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('end' as const), pick: fc.nat() }) },
);

/** Lets every promise settle that can settle. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function createWorld() {
  const limiter = createConcurrencyLimiter({ maxRunning: SLOTS, maxQueued: QUEUE });
  const all: Work[] = [];
  const having = (state: Work['state']): Work[] => all.filter((work) => work.state === state);
  const runs = (of: 'address' | 'userId', id: string | null): number =>
    id === null ? 0 : having('running').filter(({ context }) => context[of] === id).length;
  /** The most that the address or the user of this work runs. */
  const load = ({ context }: Work): number =>
    Math.max(runs('address', context.address), runs('userId', context.userId));

  function arrive([address, userId]: readonly [string, string | null]): void {
    const work: Work = { context: { ...createRequestContext(address), userId }, state: 'queued', release: null };
    all.push(work);
    void limiter.acquire(work.context).then(
      (release) => Object.assign(work, { state: 'running', release }),
      () => (work.state = 'refused'),
    );
  }

  function end(work: Work): void {
    work.state = 'ended';
    work.release!();
  }
  return { limiter, all, having, load, arrive, end };
}

test('the limiter is bounded, never idles, shares fairly and starves nobody', async () => {
  let unfairChances = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const { limiter, having, load, arrive, end } = createWorld();
      for (const next of steps) {
        if (next.type === 'arrive') {
          for (let count = 0; count < next.count; count += 1) arrive(next.client);
          await settle();
        } else {
          const running = having('running');
          if (running.length === 0) continue;
          end(running[next.pick % running.length]!);
          const waiting = having('queued').map((work) => ({ work, loadBefore: load(work) }));
          await settle();
          const [started] = waiting.filter(({ work }) => work.state === 'running');
          const others = waiting.filter((entry) => entry !== started);
          if (started && started.loadBefore >= SHARE && others.length > 0) {
            unfairChances += 1;
            // A client that has its share, a tenth of the slots, gets another slot only if all waiting clients have as
            // many.
            expect(Math.min(...others.map(({ loadBefore }) => loadBefore))).toBeGreaterThanOrEqual(started.loadBefore);
          }
        }
        const [running, queued] = [having('running').length, having('queued').length];
        expect(running).toBeLessThanOrEqual(SLOTS);
        expect(queued).toBeLessThanOrEqual(QUEUE);
        if (queued > 0) expect(running).toBe(SLOTS);
        expect(limiter.state()).toMatchObject({ running, queued });
      }
      // Once no work arrives any more, all queued work runs.
      for (let running = having('running'); running.length > 0; running = having('running')) {
        end(running[0]!);
        await settle();
      }
      expect(limiter.state()).toMatchObject({ running: 0, queued: 0 });
    }),
    { numRuns: fuzzBudget(150) },
  );
  expect(unfairChances).toBeGreaterThan(100);
});

test('a client waits for one request of each other client, even if more clients than slots flood the server', async () => {
  const { having, all, arrive, end } = createWorld();
  const clients = SLOTS + 5;
  for (let count = 0; count < SLOTS + QUEUE; count += 1) arrive([`flood ${count % clients}`, null]);
  await settle();
  for (let round = 0; round < 20; round += 1) {
    const before = all.length;
    arrive([`home ${round}`, `user ${round}`]);
    await settle();
    const newcomer = all[before]!;
    let ends = 0;
    for (; newcomer.state === 'queued'; ends += 1) {
      const ended = having('running')[0]!;
      end(ended);
      arrive([ended.context.address, null]);
      await settle();
    }
    expect(newcomer.state).toBe('running');
    expect(ends).toBeLessThanOrEqual(clients);
    end(newcomer);
    await settle();
  }
});

test('a client with one request waits for few others while another client keeps the queue full', async () => {
  const { having, all, arrive, end } = createWorld();
  const flood = ['flood', 'flood'] as const;
  for (let count = 0; count < SLOTS + QUEUE; count += 1) arrive(flood);
  await settle();
  for (let round = 0; round < 100; round += 1) {
    arrive([`home ${round}`, `user ${round}`]);
    arrive(flood);
    await settle();
    const newcomer = all.findLast(({ context }) => context.address !== 'flood')!;
    end(having('running').find(({ context }) => context.address === 'flood')!);
    await settle();
    expect(newcomer.state).toBe('running');
    end(newcomer);
    await settle();
  }
  expect(having('refused').every(({ context }) => context.address === 'flood')).toBe(true);
});
