/** Tests the ids of events with a stubbed database. tests/api/live tests the streams of a real server. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { EntryChange } from '../database/changes/change-listener.ts';
import type { Database } from '../database/database.ts';
import type { Caller } from '../http/authenticate.ts';
import { createLimiters } from '../load/limiters.ts';
import { createRequestContext, runInRequestContext } from '../load/request-context.ts';
import { createLog } from '../log.ts';
import { createChangeStreams, type StreamEvent } from './change-streams.ts';

const deletionOf = (date: string) => ({ userId: 'ada', date, id: 'row', revision: null }) as EntryChange;

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

function createWorld(limiters = createLimiters()) {
  let listener!: Parameters<Database['listenToChanges']>[0];
  const database = { listenToChanges: (given: typeof listener) => ((listener = given), async () => undefined) };
  const streams = createChangeStreams({
    database: database as unknown as Database,
    clock: { now: () => new Date('2026-11-20T12:00:00Z') },
    limiters,
    log: createLog('error'),
  });
  streams.start();
  listener.onGap(null);
  const open = (lastEventId: string | undefined, authenticate: () => Promise<Caller>) =>
    streams.open({ userId: 'ada', lastEventId, authenticate })!(new AbortController().signal);
  return { listener, open, streams };
}

const next = async (events: AsyncGenerator<StreamEvent>): Promise<StreamEvent> => (await events.next()).value;

test('a change that arrives while an earlier one is sent is replayed after a lost connection', async () => {
  const { listener, open } = createWorld();
  let letPass!: (caller: Caller) => void;
  const authentications = [
    Promise.resolve({} as Caller),
    new Promise<Caller>((resolve) => {
      letPass = resolve;
    }),
  ];
  const events = open(undefined, () => authentications.shift()!);
  expect(await next(events)).toMatchObject({ event: 'resync' });
  vi.advanceTimersByTime(10);
  listener.onChange(deletionOf('2026-11-18'));
  const first = next(events);
  vi.advanceTimersByTime(10);
  listener.onChange(deletionOf('2026-11-19'));
  vi.advanceTimersByTime(10);
  letPass({} as Caller);
  const { id } = await first;

  const again = open(id, async () => ({}) as Caller);
  const replayed = [await next(again), await next(again), await next(again)];
  expect(replayed.map(({ event, data }) => [event, 'date' in data ? data.date : null])).toEqual([
    ['change', '2026-11-18'],
    ['change', '2026-11-19'],
    ['ready', null],
  ]);
  expect(replayed.map((event) => event.id !== undefined)).toEqual([false, false, true]);
});

test('a reconnecting client gets a resync after missed changes of its own user, but not of another user', async () => {
  const { listener, open } = createWorld();
  const opened = open(undefined, async () => ({}) as Caller);
  const { id } = await next(opened);
  listener.onGap('bob');
  expect(await next(open(id, async () => ({}) as Caller))).toMatchObject({ event: 'ready' });
  listener.onGap('ada');
  expect(await next(opened)).toMatchObject({ event: 'resync' });
  expect(await next(open(id, async () => ({}) as Caller))).toMatchObject({ event: 'resync' });
});

test('delays the answer to a stream that the quota refuses', () => {
  const limiters = createLimiters();
  const { streams } = createWorld({ ...limiters, createQuota: (name) => limiters.createQuota(name, 0) });
  const context = createRequestContext('192.0.2.1');
  const request = { userId: 'ada', lastEventId: undefined, authenticate: async () => ({}) as Caller };
  expect(runInRequestContext(context, () => streams.open(request))).toBeNull();
  expect(context.wasRefused).toBe(true);
});
