/** Copies of what the server has, for reading offline. */
import { describe, expect, test, vi } from 'vitest';
import { addDays, type Day } from '#domain/day/day.ts';
import { readTodayCopy } from '#client/lib/boot/today-copy.ts';
import { wipeDatabase } from '#client/lib/session/wipe-user-data.ts';
import { DATE, listDatabases, setUpBrowser } from '../../../../tests/support/user-databases.ts';
import { createLocalCopies } from './local-copies.ts';
import { pruneCopies, reviewCopyKey, shouldKeepLocally } from './prune-copies.ts';
import type { UserDatabase } from './user-database.ts';
import { wipeOtherUsers } from './wipe-other-users.ts';

const browser = setUpBrowser();

const stored = { id: 'row', revision: 2, html: '<p>a</p>', savedAt: 3 };

describe('copies', () => {
  test('return what was kept and when', async () => {
    const copies = createLocalCopies(browser.open(), 'ada', () => 7);
    await copies.storeDay(DATE, stored);
    await copies.storeCopy('entry-dates', [DATE]);
    expect(await copies.readDay(DATE)).toEqual({ date: DATE, stored, seenAt: 7 });
    expect(await copies.readDay(addDays(DATE, 1))).toBe(null);
    expect(await copies.readCopy('entry-dates')).toEqual({ value: [DATE], at: 7 });
    expect(await copies.readCopy('other')).toBe(null);
  });

  test('are empty without a database', async () => {
    const database = browser.open();
    const copies = createLocalCopies(database, 'ada', () => 7);
    await copies.storeDay(DATE, stored);
    database.close();
    expect([await copies.readDay(DATE), await copies.readDays(), await copies.readCopy('x')]).toEqual([null, [], null]);
    await copies.storeDay(DATE, null);
    await copies.pruneDays(() => false);
  });

  test('are empty in a browser that refuses databases', async () => {
    using refused = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    const copies = createLocalCopies(browser.open(), 'ada', () => 7);
    await copies.storeDay(DATE, stored);
    expect(await copies.readDay(DATE)).toBe(null);
    expect(refused).toHaveBeenCalledOnce();
  });

  test('of days that a plan no longer opens, or that were not seen for long, are pruned', async () => {
    const at = (date: Day): number => new Date(`${date}T12:00`).getTime();
    const day60 = addDays(DATE, -60);
    const seen = (date: Day, on: Day) => ({ date, stored, seenAt: at(on) });
    expect(shouldKeepLocally(seen(addDays(DATE, -29), day60), false, DATE)).toBe(true);
    expect(shouldKeepLocally(seen(addDays(DATE, -30), DATE), false, DATE)).toBe(false);
    expect(shouldKeepLocally(seen(day60, addDays(DATE, -29)), true, DATE)).toBe(true);
    expect(shouldKeepLocally(seen(day60, addDays(DATE, -30)), true, DATE)).toBe(false);

    const copies = createLocalCopies(browser.open(), 'ada', () => at(DATE));
    await copies.storeDay(DATE, stored);
    await copies.storeDay(day60, stored);
    await pruneCopies(copies, false, DATE);
    expect((await copies.readDays()).map(({ date }) => date)).toEqual([DATE]);
  });

  test('of reviews stay for 30 days, and only as long as the plan has reviews', async () => {
    const copies = createLocalCopies(browser.open(), 'ada', Date.now);
    const keys = (['7-day', '30-day'] as const).map(reviewCopyKey);
    const storeBoth = async (): Promise<void> => {
      for (const [index, key] of keys.entries())
        await copies.storeCopy(key, key, new Date(`${addDays(DATE, -29 - index)}T12:00`).getTime());
    };
    const left = async (): Promise<unknown[]> =>
      (await Promise.all(keys.map((key) => copies.readCopy(key)))).map((copy) => copy?.value ?? null);
    await storeBoth();
    await pruneCopies(copies, true, DATE);
    expect(await left()).toEqual([keys[0], null]);
    await pruneCopies(copies, false, DATE);
    expect(await left()).toEqual([null, null]);
  });
});

describe('the copy of today that the boot script shows', () => {
  const noon = (): number => new Date(`${DATE}T12:00`).getTime();
  const shown = () => readTodayCopy(browser.storage, 'ada', DATE);

  test('follows the copy of the day', async () => {
    const copies = createLocalCopies(browser.open(), 'ada', noon);
    await copies.storeDay(DATE, stored);
    await copies.storeDay(addDays(DATE, -1), null);
    expect(shown()).toEqual(stored);
    await copies.pruneDays(({ date }) => date === DATE);
    expect(shown()).toEqual(stored);
    await copies.pruneDays(() => false);
    expect(shown()).toBeNull();
  });

  test('is not written after a sign-out has wiped the storage', async () => {
    const database = browser.open();
    const { promise: requested, resolve } = Promise.withResolvers<void>();
    const watched: UserDatabase = {
      ...database,
      use: (request) =>
        database.use((connection) => {
          const answer = request(connection);
          resolve();
          return answer;
        }),
    };
    const keeping = createLocalCopies(watched, 'ada', noon).storeDay(DATE, stored);
    await requested;
    database.close();
    await keeping;
    expect(shown()).toBeNull();
  });

  test('is removed when another user signs in, even if the browser has lost the database', async () => {
    await createLocalCopies(browser.open('ben'), 'ben', noon).storeDay(DATE, stored);
    wipeDatabase('ben');
    await expect.poll(listDatabases).toEqual([]);
    expect(readTodayCopy(browser.storage, 'ben', DATE)).toEqual(stored);
    await createLocalCopies(browser.open(), 'ada', noon).storeDay(DATE, stored);
    await wipeOtherUsers('ada');
    expect(shown()).toEqual(stored);
    expect(readTodayCopy(browser.storage, 'ben', DATE)).toBeNull();
  });
});
