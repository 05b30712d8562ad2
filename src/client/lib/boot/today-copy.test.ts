import { beforeEach, describe, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { readTodayCopy, storeTodayCopy } from './today-copy.ts';

const TODAY = day('2026-11-23');
const YESTERDAY = day('2026-11-22');
const LOG = { id: 'row', html: '<p>a</p>', revision: 3, savedAt: 7 };
const KEY = 'hustle-forge:today:ada';

let storage: MemoryStorage;
beforeEach(() => (storage = new MemoryStorage()));
const storeCopy = (date = TODAY, log: typeof LOG | null = LOG): void =>
  storeTodayCopy(storage, 'ada', TODAY, date, log);
const read = (userId = 'ada', today = TODAY) => readTodayCopy(storage, userId, today);

describe('a copy of today is read', () => {
  test('by its user, on its day', () => {
    storeCopy();
    expect(read()).toEqual(LOG);
    expect(read('ben')).toBeNull();
    expect(read('ada', day('2026-11-24'))).toBeNull();
  });

  test.each(['hustle-forge:draft:ada:2026-11-23:tab', 'hustle-forge:draft:ada:2026-11-23'])(
    'not beside a draft of the day at %s',
    (key) => {
      storeCopy();
      storage.setItem('hustle-forge:draft:ben:2026-11-23:tab', '');
      storage.setItem('hustle-forge:draft:ada:2026-11-22:tab', '');
      expect(read()).toEqual(LOG);
      storage.setItem(key, '');
      expect(read()).toBeNull();
    },
  );

  test.each([
    'not JSON',
    'null',
    JSON.stringify({ ...LOG, date: TODAY, html: 4 }),
    JSON.stringify({ ...LOG, date: TODAY, id: undefined }),
    JSON.stringify({ ...LOG, date: TODAY, revision: '3' }),
    JSON.stringify({ ...LOG, date: TODAY, savedAt: null }),
    JSON.stringify(LOG),
  ])('only if it is complete: %s', (value) => {
    storage.setItem(KEY, value);
    expect(read()).toBeNull();
  });
});

describe('an answer of the server replaces the copy', () => {
  test('if it is about today', () => {
    storeCopy();
    storeCopy(YESTERDAY, null);
    storeCopy(YESTERDAY, { ...LOG, html: '<p>b</p>' });
    expect(read()).toEqual(LOG);
    storeCopy(TODAY, { ...LOG, revision: 4 });
    expect(read()?.revision).toBe(4);
  });

  test('by nothing, if the day has no log or a long one, or the storage is full', () => {
    for (const log of [null, { ...LOG, html: 'a'.repeat(64 * 1024 + 1) }]) {
      storeCopy();
      storeCopy(TODAY, log);
      expect(storage.getItem(KEY)).toBeNull();
    }
    storeCopy();
    storage.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    storeCopy(TODAY, { ...LOG, html: '<p>longer</p>' });
    expect(storage.getItem(KEY)).toBeNull();
  });
});
