import { afterEach, expect, test, vi } from 'vitest';
import { MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { FIRST_LINE_KEY, SHARED_TEXTS_PREFIX, THEME_KEY, TYPED_ADDRESS_KEY } from './storage-keys.ts';
import { wipeUserData } from './wipe-user-data.ts';

afterEach(() => void vi.unstubAllGlobals());

test('a sign-out removes the data of this user from localStorage and sessionStorage, and leaves the rest', () => {
  const [local, tab] = [new MemoryStorage(), new MemoryStorage()];
  const deleteDatabase = vi.fn();
  vi.stubGlobal(
    'localStorage',
    new Proxy(local, { ownKeys: () => names(local), getOwnPropertyDescriptor: () => LISTED }),
  );
  vi.stubGlobal('sessionStorage', tab);
  vi.stubGlobal('indexedDB', { deleteDatabase });
  for (const storage of [local, tab]) {
    for (const key of [SHARED_TEXTS_PREFIX, `${SHARED_TEXTS_PREFIX}ada`, `${SHARED_TEXTS_PREFIX}bob`])
      storage.setItem(key, '["text"]');
  }
  local.setItem(FIRST_LINE_KEY, 'line');
  local.setItem(THEME_KEY, 'dark');
  local.setItem('hustle-forge:draft:ada:2026-11-22:one', '{}');
  tab.setItem(TYPED_ADDRESS_KEY, 'ada@example.com');

  wipeUserData('ada');
  expect(names(local)).toEqual([`${SHARED_TEXTS_PREFIX}bob`, THEME_KEY].sort());
  expect(names(tab)).toEqual([`${SHARED_TEXTS_PREFIX}bob`]);
  expect(deleteDatabase).toHaveBeenCalledExactlyOnceWith('hustle-forge:ada');
});

/** Makes `Object.keys` list the keys of the storage, as in a browser. */
const LISTED = { enumerable: true, configurable: true };
const names = (storage: MemoryStorage): string[] =>
  Array.from({ length: storage.length }, (_, index) => storage.key(index)!).sort();
