import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  FIRST_RETRY_MS,
  MAX_FAILURES,
  STABLE_MS,
  createPool,
  reducePool,
  type PoolAction,
  type PoolEvent,
  type WorkerId,
} from './worker-pool.ts';

/** Drives a pool; `actions` holds what the last events asked for. */
function simulate(workers: number) {
  let pool = createPool(workers);
  let actions: PoolAction[] = [];
  const send = (...events: PoolEvent[]): PoolAction[] => {
    actions = [];
    for (const event of events) {
      const [changed, more] = reducePool(pool, event);
      pool = changed;
      actions.push(...more);
    }
    return actions;
  };
  const of = <Type extends PoolAction['type']>(type: Type) =>
    actions.filter((action): action is Extract<PoolAction, { type: Type }> => action.type === type);
  return { send, of, current: () => pool };
}

const ready = (worker: WorkerId, at = 0): PoolEvent => ({ type: 'ready', worker, at });
const ended = (worker: WorkerId, at = 0, reason = 'exit code 1'): PoolEvent => ({ type: 'ended', worker, at, reason });

function running(workers: number) {
  const pool = simulate(workers);
  pool.send({ type: 'start' });
  for (let worker = 1; worker <= workers; worker += 1) pool.send(ready(worker));
  return pool;
}

describe('the start', () => {
  test('starts one worker first, the others when it is ready, and announces once', () => {
    const pool = simulate(3);
    expect(pool.send({ type: 'start' })).toEqual([{ type: 'fork', worker: 1, slot: 1 }]);
    expect(pool.send(ready(1))).toEqual([
      { type: 'fork', worker: 2, slot: 2 },
      { type: 'fork', worker: 3, slot: 3 },
    ]);
    expect(pool.send(ready(3))).toEqual([]);
    expect(pool.send(ready(2))).toEqual([{ type: 'announce ready' }]);
  });

  test('ends with code 1 when a worker cannot start', () => {
    const pool = simulate(2);
    pool.send({ type: 'start' }, ready(1), ended(2));
    expect(pool.of('print error')).toHaveLength(1);
    expect(pool.of('stop')).toEqual([{ type: 'stop', worker: 1 }]);
    expect(pool.send(ended(1))).toEqual([{ type: 'exit', code: 1 }]);
  });

  test('a reload during the start replaces the workers afterwards', () => {
    const pool = simulate(2);
    pool.send({ type: 'start' }, { type: 'reload' }, ready(1), ready(2));
    expect(pool.of('fork').at(-1)).toEqual({ type: 'fork', worker: 3, slot: 1 });
  });

  test('a reload before the first worker replaces none', () => {
    const pool = simulate(1);
    pool.send({ type: 'reload' }, { type: 'start' }, ready(1));
    expect(pool.of('fork')).toEqual([{ type: 'fork', worker: 1, slot: 1 }]);
  });
});

describe('a worker that ends by itself', () => {
  test('is started again after a pause that doubles, and shortens after a stable time', () => {
    const pool = running(2);
    const pauses = [];
    for (let worker = 1; worker < 4; worker += 1) {
      pool.send(ended(worker === 1 ? 1 : worker + 1));
      pauses.push(pool.of('retry later')[0]!.ms);
      pool.send({ type: 'retry', slot: 1 }, ready(worker + 2));
    }
    expect(pauses).toEqual([FIRST_RETRY_MS, 2 * FIRST_RETRY_MS, 4 * FIRST_RETRY_MS]);
    pool.send(ended(5, STABLE_MS));
    expect(pool.of('retry later')).toEqual([{ type: 'retry later', slot: 1, ms: FIRST_RETRY_MS }]);
  });

  function crash(pool: ReturnType<typeof simulate>, slot: number, times: number): PoolAction[] {
    for (let count = 0; count < times; count += 1) {
      const { worker } = pool.current().slots[slot - 1]!;
      if (worker !== null) pool.send(ended(worker));
      if (count < times - 1) pool.send({ type: 'retry', slot });
    }
    return pool.of('print error');
  }

  test('ends the program with code 1 after repeated failures, unless another worker serves', () => {
    const served = running(2);
    expect(crash(served, 1, MAX_FAILURES + 5)).toEqual([]);
    expect(served.of('retry later')).toHaveLength(1);

    const alone = running(2);
    alone.send(ended(2));
    const [error] = crash(alone, 1, MAX_FAILURES - 1);
    expect(error).toMatchObject({ message: expect.stringContaining(`${MAX_FAILURES} in a row`) });
    expect(alone.of('exit')).toEqual([{ type: 'exit', code: 1 }]);
  });
});

describe('a rolling restart', () => {
  test('drains each worker only when its successor is ready, one after another', () => {
    const pool = running(2);
    expect(pool.send({ type: 'reload' })).toContainEqual({ type: 'fork', worker: 3, slot: 1 });
    expect(pool.of('drain')).toEqual([]);
    expect(pool.send(ready(3))).toContainEqual({ type: 'drain', worker: 1 });
    expect(pool.of('fork')).toEqual([]);
    expect(pool.send(ended(1))).toEqual([{ type: 'fork', worker: 4, slot: 2 }]);
    pool.send(ready(4));
    expect(pool.of('drain')).toEqual([{ type: 'drain', worker: 2 }]);
    expect(pool.send(ended(2))).toEqual([expect.objectContaining({ message: 'all workers were replaced' })]);
  });

  test('goes on while an old worker still finishes long requests', () => {
    const pool = running(2);
    pool.send({ type: 'reload' }, ready(3));
    expect(pool.of('wait for drain')).toHaveLength(1);
    expect(pool.send({ type: 'drain waited', worker: 1 })).toEqual([{ type: 'fork', worker: 4, slot: 2 }]);
    expect(pool.send(ended(1))).toEqual([]);
  });

  test('leaves the running workers when the new version cannot start', () => {
    const pool = running(2);
    pool.send({ type: 'reload' });
    expect(pool.send(ended(3))).toEqual([expect.objectContaining({ type: 'log', level: 'error' })]);
    expect(pool.current().slots.map(({ worker }) => worker)).toEqual([1, 2]);
    expect(pool.send({ type: 'reload' })).toContainEqual({ type: 'fork', worker: 4, slot: 1 });
  });

  test('runs once more when a reload arrived meanwhile', () => {
    const pool = running(1);
    pool.send({ type: 'reload' }, { type: 'reload' }, { type: 'reload' }, ready(2), ended(1));
    expect(pool.of('fork').at(-1)).toEqual({ type: 'fork', worker: 3, slot: 1 });
    pool.send(ready(3), ended(2));
    expect(pool.of('fork')).toEqual([]);
  });

  test('begins again when a reload arrives before the new version fails to start', () => {
    const pool = running(2);
    pool.send({ type: 'reload' }, { type: 'reload' });
    expect(pool.send(ended(3))).toContainEqual({ type: 'fork', worker: 4, slot: 1 });
    pool.send(ended(4));
    expect(pool.of('fork')).toEqual([]);
  });

  test('starts no second worker in a slot that waited for its restart', () => {
    const pool = running(2);
    pool.send(ended(1), { type: 'reload' });
    expect(pool.of('fork')).toEqual([{ type: 'fork', worker: 3, slot: 1 }]);
    expect(pool.send({ type: 'retry', slot: 1 })).toEqual([]);
    expect(pool.send(ready(3), { type: 'retry', slot: 1 })).toEqual([{ type: 'fork', worker: 4, slot: 2 }]);
  });

  test('survives the crash of the worker that it replaces', () => {
    const pool = running(2);
    pool.send({ type: 'reload' });
    expect(pool.send(ended(1))).toEqual([expect.objectContaining({ type: 'log' })]);
    expect(pool.send(ready(3))).toEqual([{ type: 'fork', worker: 4, slot: 2 }]);
    // The successor ends as well, before it is ready: the slot must not stay empty.
    const other = running(2);
    other.send({ type: 'reload' }, ended(1), ended(3));
    expect(other.of('retry later')).toEqual([{ type: 'retry later', slot: 1, ms: FIRST_RETRY_MS }]);
  });
});

test('a stop ends old, new and starting workers, and exits once after the last', () => {
  const pool = running(2);
  pool.send({ type: 'reload' }, ready(3), { type: 'drain waited', worker: 1 });
  expect(
    pool
      .send({ type: 'stop' })
      .map((action) => ('worker' in action ? action.worker : 0))
      .toSorted(),
  ).toEqual([1, 2, 3, 4]);
  expect(pool.send({ type: 'stop' }, { type: 'reload' }, { type: 'retry', slot: 1 }, ready(4))).toEqual([]);
  expect(pool.send(ended(1), ended(2), ended(4))).toEqual([]);
  expect(pool.send(ended(3))).toEqual([{ type: 'exit', code: 0 }]);
});

/** A schedule of steps that a real machine can take: only processes that live become ready or end. */
test('in any order of events each slot keeps a worker or a pending start, and serves while a successor starts', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('ready', 'end', 'timer', 'reload'), fc.nat()), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (count, schedule) => {
      const pool = simulate(count);
      const living = new Set<WorkerId>();
      const serving = new Set<WorkerId>();
      const slotOf = new Map<WorkerId, number>();
      const timers: PoolEvent[] = [];
      let at = 0;
      const send = (event: PoolEvent): void => {
        for (const action of pool.send(event)) {
          if (action.type === 'fork') {
            living.add(action.worker);
            slotOf.set(action.worker, action.slot);
          }
          if (action.type === 'drain') {
            serving.delete(action.worker);
            const own = pool.current().slots.find(({ slot }) => slot === slotOf.get(action.worker));
            expect(serving.has(own!.worker!), 'the successor serves before the old worker drains').toBe(true);
          }
          if (action.type === 'retry later') timers.push({ type: 'retry', slot: action.slot });
          if (action.type === 'wait for drain') timers.push({ type: 'drain waited', worker: action.worker });
        }
      };
      const pick = <T>(from: readonly T[], index: number): T | undefined => from[index % from.length];
      send({ type: 'start' });
      for (const [step, index] of schedule) {
        at += 1_000;
        const starting = [...living].filter(
          (worker) => !serving.has(worker) && !pool.current().leaving.includes(worker),
        );
        const worker = step === 'ready' ? pick(starting, index) : pick([...living], index);
        if (step === 'ready' && worker !== undefined) {
          serving.add(worker);
          send({ type: 'ready', worker, at });
        } else if (step === 'end' && worker !== undefined) {
          living.delete(worker);
          serving.delete(worker);
          send({ type: 'ended', worker, at, reason: 'signal SIGKILL' });
        } else if (step === 'timer' && timers.length > 0) send(timers.splice(index % timers.length, 1)[0]!);
        else if (step === 'reload') send({ type: 'reload' });

        const { phase, slots, leaving } = pool.current();
        const known = slots.flatMap(({ worker: own, successor }) => [own, successor]).filter((each) => each !== null);
        expect(new Set([...known, ...leaving])).toEqual(living);
        if (phase === 'stopping') return;
        for (const { slot, worker: own, successor } of phase === 'running' ? slots : []) {
          const isPending = timers.some((timer) => timer.type === 'retry' && timer.slot === slot);
          expect(own !== null || successor !== null || isPending, `slot ${slot}`).toBe(true);
        }
      }
    }),
  );
});
