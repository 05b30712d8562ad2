/**
 * The rules of the supervisor as a pure function: which worker processes to start, replace and stop
 * (docs/operations/scaling.md). `supervisor.ts` carries the actions out.
 */

/** A worker that served at least this long before it ended is not a sign of a crash loop. */
export const STABLE_MS = 30_000;
export const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;
/** After this many ends in a row without a stable worker the program ends, unless some worker still serves. */
export const MAX_FAILURES = 10;
/** After this time a rolling restart goes on with the next worker, although the old one still finishes long requests. */
const MAX_DRAIN_WAIT_MS = 15_000;

export type WorkerId = number;

type Slot = {
  /** From 1. It stays when its worker is replaced. */
  readonly slot: number;
  readonly worker: WorkerId | null;
  /** When the worker became ready, in milliseconds; null while it starts. */
  readonly readyAt: number | null;
  /** The worker that is starting in order to replace `worker`. */
  readonly successor: WorkerId | null;
};

export type WorkerPool = {
  readonly phase: 'starting' | 'running' | 'stopping';
  readonly slots: readonly Slot[];
  /** Workers that were told to finish and have not ended yet. */
  readonly leaving: readonly WorkerId[];
  /** Exits in a row since a worker last was stable; the exit of that one is the first. */
  readonly failures: number;
  readonly started: number;
  /** The rolling restart under way: the slots to replace, and the old worker to wait for. */
  readonly rolling: { readonly queue: readonly number[]; readonly waitsFor: WorkerId | null } | null;
  /** A reload arrived during the start or a rolling restart. Another restart follows: some workers may run older code. */
  readonly reloadAgain: boolean;
  readonly exitCode: number;
};

export type PoolEvent =
  | { type: 'start' }
  | { type: 'ready'; worker: WorkerId; at: number }
  | { type: 'ended'; worker: WorkerId; at: number; reason: string }
  | { type: 'retry'; slot: number }
  | { type: 'drain waited'; worker: WorkerId }
  | { type: 'reload' }
  | { type: 'stop' };

export type PoolAction =
  | { type: 'fork'; worker: WorkerId; slot: number }
  /** The worker accepts no more connections, finishes its requests and ends. */
  | { type: 'drain'; worker: WorkerId }
  /** As `drain`, within the time of a shutdown. */
  | { type: 'stop'; worker: WorkerId }
  | { type: 'retry later'; slot: number; ms: number }
  | { type: 'wait for drain'; worker: WorkerId; ms: number }
  | { type: 'announce ready' }
  | { type: 'log'; level: 'info' | 'warn' | 'error' | 'fatal'; message: string; fields?: object }
  /** Before `exit`: tells the operator why. */
  | { type: 'print error'; message: string }
  | { type: 'exit'; code: number };

export const createPool = (workers: number): WorkerPool => ({
  phase: 'starting',
  slots: Array.from({ length: workers }, (_, index) => ({
    slot: index + 1,
    worker: null,
    readyAt: null,
    successor: null,
  })),
  leaving: [],
  failures: 0,
  started: 0,
  rolling: null,
  reloadAgain: false,
  exitCode: 0,
});

type Step = readonly [WorkerPool, readonly PoolAction[]];

export function reducePool(pool: WorkerPool, event: PoolEvent): Step {
  switch (event.type) {
    case 'start':
      // One worker first: it applies the migrations, and a wrong setting is reported once.
      return forkWorker(pool, 1, 'worker');
    case 'ready':
      return becomeReady(pool, event);
    case 'ended':
      return handleWorkerEnd(pool, event);
    case 'retry': {
      const { worker, successor } = findSlot(pool, event.slot);
      if (pool.phase === 'stopping' || worker !== null || successor !== null) return [pool, []];
      return forkWorker(pool, event.slot, 'worker');
    }
    case 'drain waited':
      return pool.rolling?.waitsFor === event.worker ? replaceNext(pool) : [pool, []];
    case 'reload':
      return reloadWorkers(pool);
    case 'stop':
      return pool.phase === 'stopping' ? [pool, []] : stopWorkers(pool, 0);
  }
}

const findSlot = (pool: WorkerPool, slot: number): Slot => pool.slots[slot - 1]!;
const changeSlot = (pool: WorkerPool, slot: number, change: Partial<Slot>): WorkerPool => ({
  ...pool,
  slots: pool.slots.map((each) => (each.slot === slot ? { ...each, ...change } : each)),
});

function chain(step: Step, next: (pool: WorkerPool) => Step): Step {
  const [pool, actions] = step;
  const [changed, more] = next(pool);
  return [changed, [...actions, ...more]];
}

function forkWorker(pool: WorkerPool, slot: number, as: 'worker' | 'successor'): Step {
  const worker = pool.started + 1;
  const change = as === 'worker' ? { worker, readyAt: null } : { successor: worker };
  return [{ ...changeSlot(pool, slot, change), started: worker }, [{ type: 'fork', worker, slot }]];
}

function becomeReady(pool: WorkerPool, { worker, at }: { worker: WorkerId; at: number }): Step {
  const found = pool.slots.find((each) => each.worker === worker || each.successor === worker);
  if (found === undefined || pool.phase === 'stopping') return [pool, []];
  if (found.successor === worker) return takeOver(pool, found, at);
  const ready = changeSlot(pool, found.slot, { readyAt: at });
  if (pool.phase === 'running') {
    return [ready, [{ type: 'log', level: 'info', message: 'the worker is back', fields: { worker: found.slot } }]];
  }
  if (ready.slots.every(({ readyAt }) => readyAt !== null)) {
    const running: Step = [{ ...ready, phase: 'running', reloadAgain: false }, [{ type: 'announce ready' }]];
    return pool.reloadAgain ? chain(running, reloadWorkers) : running;
  }
  return ready.slots
    .filter((each) => each.worker === null)
    .reduce<Step>((step, { slot }) => chain(step, (changed) => forkWorker(changed, slot, 'worker')), [ready, []]);
}

function takeOver(pool: WorkerPool, { slot, worker: old, successor }: Slot, at: number): Step {
  const replaced = changeSlot(pool, slot, { worker: successor, readyAt: at, successor: null });
  if (old === null) return replaceNext(replaced);
  return [
    {
      ...replaced,
      leaving: [...pool.leaving, old],
      rolling: replaced.rolling && { ...replaced.rolling, waitsFor: old },
    },
    [
      { type: 'drain', worker: old },
      { type: 'wait for drain', worker: old, ms: MAX_DRAIN_WAIT_MS },
    ],
  ];
}

function reloadWorkers(pool: WorkerPool): Step {
  // Before the first worker is forked there is nothing to replace: all will run the files that are on disk now.
  if (pool.phase === 'stopping' || pool.started === 0) return [pool, []];
  if (pool.phase === 'starting' || pool.rolling !== null) return [{ ...pool, reloadAgain: true }, []];
  const reloading = { ...pool, rolling: { queue: pool.slots.map(({ slot }) => slot), waitsFor: null } };
  return chain(
    [reloading, [{ type: 'log', level: 'info', message: 'replacing the workers one after another' }]],
    replaceNext,
  );
}

function replaceNext(pool: WorkerPool): Step {
  if (pool.rolling === null) return [pool, []];
  const [slot, ...queue] = pool.rolling.queue;
  if (slot !== undefined) return forkWorker({ ...pool, rolling: { queue, waitsFor: null } }, slot, 'successor');
  const replaced: Step = [
    { ...pool, rolling: null, reloadAgain: false },
    [{ type: 'log', level: 'info', message: 'all workers were replaced' }],
  ];
  return pool.reloadAgain ? chain(replaced, reloadWorkers) : replaced;
}

function handleWorkerEnd(pool: WorkerPool, event: { worker: WorkerId; at: number; reason: string }): Step {
  const { worker, reason } = event;
  const left = { ...pool, leaving: pool.leaving.filter((each) => each !== worker) };
  const found = pool.slots.find((each) => each.worker === worker || each.successor === worker);
  const emptied = found
    ? changeSlot(left, found.slot, found.worker === worker ? { worker: null, readyAt: null } : { successor: null })
    : left;
  if (pool.phase === 'stopping') return exitIfEmpty(emptied);
  if (found === undefined) return pool.rolling?.waitsFor === worker ? replaceNext(emptied) : [emptied, []];
  if (found.successor === worker) return abandonRestart(emptied, found, reason);
  if (pool.phase === 'starting' && found.readyAt === null) {
    return chain(
      [emptied, [{ type: 'print error', message: `a worker ended before it was ready: ${reason}` }]],
      (failed) => stopWorkers(failed, 1),
    );
  }
  return restartWorker(emptied, found, event);
}

/** The old worker keeps serving. Threat: an upgrade whose code cannot start must not end the running version. */
function abandonRestart(pool: WorkerPool, { slot, worker }: Slot, reason: string): Step {
  const fields = { worker: slot, reason };
  const message = 'the rolling restart stopped: the new worker cannot start, and the others keep serving';
  const abandoned = { ...pool, rolling: null, reloadAgain: false };
  const actions: PoolAction[] = [{ type: 'log', level: 'error', message, fields }];
  // The old worker has crashed meanwhile, so nothing serves in this slot.
  if (worker === null) actions.push({ type: 'retry later', slot, ms: FIRST_RETRY_MS });
  // The operator has sent another reload meanwhile, probably after fixing the upgrade.
  return pool.reloadAgain ? chain([abandoned, actions], reloadWorkers) : [abandoned, actions];
}

function restartWorker(
  pool: WorkerPool,
  { slot, readyAt, successor }: Slot,
  ended: { at: number; reason: string },
): Step {
  const wasStable = readyAt !== null && ended.at - readyAt >= STABLE_MS;
  const failures = wasStable ? 1 : pool.failures + 1;
  const counted = { ...pool, failures };
  const fields = { worker: slot, reason: ended.reason };
  const isServed = counted.slots.some((each) => each.readyAt !== null);
  if (failures >= MAX_FAILURES && !isServed) {
    const message = `the workers keep ending: ${failures} in a row before they served for ${STABLE_MS / 1000} s, the last with ${ended.reason}`;
    return chain([counted, [{ type: 'print error', message }]], (looping) => stopWorkers(looping, 1));
  }
  const ms = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
  const level = failures >= MAX_FAILURES ? 'fatal' : 'error';
  const log: PoolAction = {
    type: 'log',
    level,
    message: 'a worker ended, starting another',
    fields: { ...fields, ms },
  };
  // No retry: the ended worker's successor is starting and takes the slot over once it is ready.
  if (successor !== null) return [counted, [log]];
  return [counted, [log, { type: 'retry later', slot, ms }]];
}

function stopWorkers(pool: WorkerPool, exitCode: number): Step {
  const living = [...pool.slots.flatMap(({ worker, successor }) => [worker, successor]), ...pool.leaving].filter(
    (worker) => worker !== null,
  );
  const stopping: WorkerPool = { ...pool, phase: 'stopping', rolling: null, reloadAgain: false, exitCode };
  return chain([stopping, living.map((worker) => ({ type: 'stop', worker }))], exitIfEmpty);
}

function exitIfEmpty(pool: WorkerPool): Step {
  const isEmpty =
    pool.leaving.length === 0 && pool.slots.every(({ worker, successor }) => worker === null && successor === null);
  return [pool, isEmpty ? [{ type: 'exit', code: pool.exitCode }] : []];
}
