import { beforeEach, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createTestSavers, log, MemoryStorage } from '../../../tests/support/day-saver-harness.ts';
import type { Failure } from './save-requests.ts';
import { requestPersistence, watchWaitingText } from './background-tasks.tsx';

let requests: number;
let isInstalled: boolean;
let isPersisted: boolean;

beforeEach(() => {
  requests = 0;
  isInstalled = isPersisted = false;
  const storage = {
    persisted: async () => isPersisted,
    persist: async () => {
      requests += 1;
      return false;
    },
  };
  vi.stubGlobal('localStorage', new MemoryStorage());
  vi.stubGlobal('navigator', { storage });
  vi.stubGlobal('matchMedia', () => ({ matches: isInstalled }));
});

test('asks once, however often the browser refuses, and once more in the installed app, not in turn', async () => {
  await Promise.all([requestPersistence(), requestPersistence()]);
  await requestPersistence();
  expect(requests).toBe(1);
  isInstalled = true;
  await requestPersistence();
  await requestPersistence();
  expect(requests).toBe(2);
  isInstalled = false;
  await requestPersistence();
  expect(requests).toBe(2);
});

test('does not ask a browser that already keeps the storage', async () => {
  isPersisted = true;
  await requestPersistence();
  expect(requests).toBe(0);
});

test('does nothing in a browser without the API', async () => {
  vi.stubGlobal('navigator', {});
  await requestPersistence();
});

/** A page with an unsaved day. Its saves fail with `failure`; if `failure` is null, they succeed. */
function openPage(failure: Failure | null) {
  const savers = createTestSavers({
    transport: {
      read: async () => ({ kind: 'read', stored: null }),
      insert: async () => failure ?? { kind: 'stored', id: 'row', revision: 1, savedAt: 0 },
      update: async () => ({ kind: 'changed' }),
      remove: async () => ({ kind: 'changed' }),
    },
  });
  savers.open(day('2026-11-16'), null, 0).rewrite(() => log('a'), 2_000);
  return savers;
}
/** Lets the page ask the browser. */
const settle = () => new Promise((resolve) => void setImmediate(resolve));

test.each([
  ['cannot be reached', { kind: 'unreachable' } as const, 1],
  ['refuses the text', { kind: 'refused', reason: 'no' } as const, 0],
  ['stores the text', null, 0],
])('asks for persistent storage only if text has to wait: the server %s', async (_what, failure, expected) => {
  const savers = openPage(failure);
  const stop = watchWaitingText(savers);
  await settle();
  expect(requests).toBe(0);
  await savers.flush();
  await settle();
  expect(requests).toBe(expected);
  stop();
});

test('the browser is asked for text that waited before the page began to watch', async () => {
  const savers = openPage({ kind: 'unreachable' });
  await savers.flush();
  watchWaitingText(savers);
  await settle();
  expect(requests).toBe(1);
});
