import { beforeEach, expect, test, vi } from 'vitest';
import { MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { requestPersistence } from './request-persistence.ts';

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

test('asks once, however often the browser refuses, and once more in the installed app', async () => {
  await Promise.all([requestPersistence(), requestPersistence()]);
  await requestPersistence();
  expect(requests).toBe(1);
  isInstalled = true;
  await requestPersistence();
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
