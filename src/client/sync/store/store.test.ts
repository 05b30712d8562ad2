/** The outbox, the copies and the wiping of a user's database, on an IndexedDB in memory. */
import 'fake-indexeddb/auto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { addDays, day } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { readTodayCopy } from '#client/lib/boot/today-copy.ts';
import { wipeDatabase } from '#client/lib/session/wipe-user-data.ts';
import { MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { createDayDrafts } from '../day-drafts.ts';
import type { DayDraft, Outbox } from '../day-drafts.ts';
import type { MergeModule } from '../merge-loader.ts';
import type { EntryTransport } from '../save-requests.ts';
import { createLocalCopies } from './local-copies.ts';
import { createOutbox } from './outbox.ts';
import { pruneCopies, reviewCopyKey, shouldKeepLocally } from './prune-copies.ts';
import { createTabs } from './tabs.ts';
import { openUserDatabase } from './user-database.ts';
import type { UserDatabase } from './user-database.ts';
import { wipeOtherUsers } from './wipe-other-users.ts';

const DATE = day('2026-11-21');
const DRAFT: DayDraft = {
  html: '<p>a</p>',
  baseRevision: 3,
  baseId: 'row',
  at: 5,
  base: '<p>b</p>',
  sent: ['<p>c</p>'],
};
const KEY = `hustle-forge:draft:ada:${DATE}`;
const concat: MergeModule['mergeLogs'] = (_base, mine, theirs) => ({
  ...mergeLogs('', '', ''),
  html: mine + theirs,
});
const names = async (): Promise<string[]> => (await indexedDB.databases()).map(({ name = '' }) => name).sort();

let storage: MemoryStorage;
let alive: Set<string>;
let databases: UserDatabase[];
const open = (userId = 'ada'): UserDatabase => {
  const database = openUserDatabase(userId);
  databases.push(database);
  return database;
};
function openPage(writer: string, userId = 'ada') {
  const outbox = createOutbox(open(userId), { aliveWriters: async () => alive });
  return { outbox, drafts: createDayDrafts(storage, userId, writer, outbox) };
}
/** Waits for all requests before this one: a database runs them in order. */
const settle = async ({ outbox }: { outbox: Outbox }): Promise<void> => {
  await outbox.readAll();
  await outbox.readAll();
};

beforeEach(async () => {
  for (const database of databases ?? []) database.close();
  databases = [];
  storage = new MemoryStorage();
  alive = new Set();
  for (const name of await names()) indexedDB.deleteDatabase(name);
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('sessionStorage', new MemoryStorage());
});

describe('a draft', () => {
  test('is in localStorage at once, and later only in the database, with a marker', async () => {
    const page = openPage('one');
    expect(page.drafts.store(DATE, DRAFT)).toBe(true);
    expect(JSON.parse(storage.getItem(`${KEY}:one`)!)).toEqual(DRAFT);
    await settle(page);
    expect(storage.getItem(`${KEY}:one`)).toBe('');
    expect(await page.outbox.readAll()).toEqual([{ date: DATE, writer: 'one', draft: DRAFT }]);
  });

  test('is claimed by the next page with its base, row and sent texts', async () => {
    const page = openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    const next = openPage('two');
    await next.drafts.load();
    expect(next.drafts.abandonedDays()).toEqual([DATE]);
    expect(next.drafts.claim(DATE, concat)).toEqual(DRAFT);
    await settle(next);
    expect(await next.outbox.readAll()).toEqual([{ date: DATE, writer: 'two', draft: DRAFT }]);
    next.drafts.drop(DATE);
    expect(await next.outbox.readAll()).toEqual([]);
    expect(storage.length).toBe(0);
  });

  test.each([
    { name: 'in localStorage', at: 6, newest: 'newer' },
    { name: 'in the database', at: 4, newest: '<p>a</p>' },
  ])('is the newer of both places: $name', async ({ at, newest }) => {
    const page = openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    storage.setItem(`${KEY}:one`, JSON.stringify({ ...DRAFT, html: 'newer', at }));
    const next = openPage('two');
    await next.drafts.load();
    expect(next.drafts.claim(DATE, concat)?.html).toBe(newest);
  });

  test('that replaces another while it is written keeps the newer text in localStorage until that is written too', async () => {
    const page = openPage('one');
    void page.drafts.store(DATE, DRAFT);
    void page.drafts.store(DATE, { ...DRAFT, html: 'newer', at: 6 });
    await page.outbox.readAll();
    await settle(page);
    expect(storage.getItem(`${KEY}:one`)).toBe('');
    expect((await page.outbox.readAll())[0]?.draft.html).toBe('newer');
  });

  test('that is dropped while it is written leaves nothing', async () => {
    const page = openPage('one');
    void page.drafts.store(DATE, DRAFT);
    page.drafts.drop(DATE);
    await settle(page);
    expect(await page.outbox.readAll()).toEqual([]);
    expect(storage.length).toBe(0);
    expect(page.drafts.days()).toEqual([]);
  });

  test('of an open page stays with that page, except at a sign-out', async () => {
    const page = openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    alive = new Set(['one']);
    const other = openPage('two');
    await other.drafts.load();
    expect(other.drafts.abandonedDays()).toEqual([]);
    expect(other.drafts.days()).toEqual([DATE]);
    expect(other.drafts.claim(DATE, concat)).toBe(null);
    expect(other.drafts.claim(DATE, concat, true)).toEqual(DRAFT);
  });

  test('of a closed page is merged into the own one, and only the merged one stays', async () => {
    const [one, two] = [openPage('one'), openPage('two')];
    void one.drafts.store(DATE, { ...DRAFT, html: 'old', at: 1, sent: ['x'] });
    await settle(one);
    void two.drafts.store(DATE, DRAFT);
    await two.drafts.load();
    expect(two.drafts.claim(DATE, concat)).toMatchObject({ html: '<p>a</p>old', sent: ['<p>c</p>', 'x'] });
    await settle(two);
    expect((await two.outbox.readAll()).map(({ writer }) => writer)).toEqual(['two']);
    expect([...Array(storage.length).keys()].map((index) => storage.key(index))).toEqual([`${KEY}:two`]);
  });

  test('of forty days, too large for localStorage, are all found by the next page', async () => {
    storage.maxValueLength = 10;
    const page = openPage('one');
    const days = Array.from({ length: 40 }, (_, index): Day => addDays(DATE, -index));
    const results = days.map(async (date) => page.drafts.store(date, { ...DRAFT, html: date }));
    expect(await Promise.all(results)).toEqual(days.map(() => true));
    const next = openPage('two');
    await next.drafts.load();
    expect(next.drafts.abandonedDays()).toEqual(days.toSorted());
    for (const date of days) expect(next.drafts.claim(date, concat)?.html).toBe(date);
  });

  test('that neither place takes is reported', async () => {
    storage.maxValueLength = 0;
    const page = openPage('one');
    page.outbox.close();
    expect(await page.drafts.store(DATE, DRAFT)).toBe(false);
  });

  test('that localStorage takes is safe without a database', async () => {
    const page = openPage('one');
    page.outbox.close();
    expect(page.drafts.store(DATE, DRAFT)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.parse(storage.getItem(`${KEY}:one`)!)).toEqual(DRAFT);
  });

  test('has no marker once the browser has cleared the database', async () => {
    storage.setItem(`${KEY}:one`, '');
    const page = openPage('two');
    await page.drafts.load();
    expect(page.drafts.days()).toEqual([]);
  });
});

describe('a wiped database', () => {
  test('is gone although another tab has it open, and no late draft creates it again', async () => {
    const [one, two] = [openPage('one'), openPage('two')];
    void one.drafts.store(DATE, DRAFT);
    await Promise.all([settle(one), settle(two)]);
    one.drafts.close();
    wipeDatabase('ada');
    await expect.poll(names).toEqual([]);
    storage.maxValueLength = 0;
    expect(await two.drafts.store(DATE, DRAFT)).toBe(false);
    expect(one.drafts.store(DATE, DRAFT)).toBe(true);
    await two.drafts.load();
    expect(await names()).toEqual([]);
  });

  test('takes no request after its page has closed it, not even one that waited for it to open', async () => {
    const database = open();
    const waiting = database.use((connection) => connection.put('days', { date: DATE, stored: null, seenAt: 1 }));
    database.close();
    await expect(waiting).rejects.toThrow('closed');
    const page = openPage('one');
    await settle(page);
    page.drafts.close();
    await expect(page.outbox.readAll()).rejects.toThrow('closed');
  });

  test('of another user goes when somebody else signs in, unless text in it is unsent', async () => {
    const copies = createLocalCopies(open('ben'), 'ben', () => 1);
    await copies.storeDay(DATE, null);
    const cleo = openPage('one', 'cleo');
    await createLocalCopies(open('cleo'), 'cleo', () => 1).storeDay(DATE, null);
    void cleo.drafts.store(DATE, DRAFT);
    localStorage.setItem('hustle-forge:profile:cleo', '{}');
    await settle(cleo);
    await createLocalCopies(open('ada'), 'ada', () => 1).storeDay(DATE, null);
    await wipeOtherUsers('ada');
    await expect.poll(names).toEqual(['hustle-forge:ada', 'hustle-forge:cleo']);
    expect(await createLocalCopies(open('cleo'), 'cleo', () => 1).readDays()).toEqual([]);
    expect(localStorage.getItem('hustle-forge:profile:cleo')).toBe(null);
    expect(await openPage('two', 'cleo').outbox.readAll()).toHaveLength(1);
    expect(await createLocalCopies(open('ada'), 'ada', () => 1).readDays()).toHaveLength(1);
  });
});

describe('copies', () => {
  const stored = { id: 'row', revision: 2, html: '<p>a</p>', savedAt: 3 };

  test('return what was kept and when', async () => {
    const copies = createLocalCopies(open(), 'ada', () => 7);
    await copies.storeDay(DATE, stored);
    await copies.storeCopy('entry-dates', [DATE]);
    expect(await copies.readDay(DATE)).toEqual({ date: DATE, stored, seenAt: 7 });
    expect(await copies.readDay(addDays(DATE, 1))).toBe(null);
    expect(await copies.readCopy('entry-dates')).toEqual({ value: [DATE], at: 7 });
    expect(await copies.readCopy('other')).toBe(null);
  });

  test('are empty without a database', async () => {
    const database = open();
    const copies = createLocalCopies(database, 'ada', () => 7);
    await copies.storeDay(DATE, stored);
    database.close();
    expect([await copies.readDay(DATE), await copies.readDays(), await copies.readCopy('x')]).toEqual([null, [], null]);
    await copies.storeDay(DATE, null);
    await copies.pruneDays(() => false);
  });

  test('of days that a plan no longer opens, or that were not seen for long, are pruned', async () => {
    const at = (date: Day): number => new Date(`${date}T12:00`).getTime();
    const day60 = addDays(DATE, -60);
    const seen = (date: Day, on: Day) => ({ date, stored, seenAt: at(on) });
    expect(shouldKeepLocally(seen(addDays(DATE, -29), day60), false, DATE)).toBe(true);
    expect(shouldKeepLocally(seen(addDays(DATE, -30), DATE), false, DATE)).toBe(false);
    expect(shouldKeepLocally(seen(day60, addDays(DATE, -29)), true, DATE)).toBe(true);
    expect(shouldKeepLocally(seen(day60, addDays(DATE, -30)), true, DATE)).toBe(false);

    const copies = createLocalCopies(open(), 'ada', () => at(DATE));
    await copies.storeDay(DATE, stored);
    await copies.storeDay(day60, stored);
    await pruneCopies(copies, false, DATE);
    expect((await copies.readDays()).map(({ date }) => date)).toEqual([DATE]);
  });

  test('of reviews stay for 30 days, and only as long as the plan has reviews', async () => {
    const copies = createLocalCopies(open(), 'ada', Date.now);
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
  const stored = { id: 'row', revision: 2, html: '<p>a</p>', savedAt: 3 };
  const noon = (): number => new Date(`${DATE}T12:00`).getTime();
  const shown = () => readTodayCopy(storage, 'ada', DATE);

  test('follows the copy of the day', async () => {
    const copies = createLocalCopies(open(), 'ada', noon);
    await copies.storeDay(DATE, stored);
    await copies.storeDay(addDays(DATE, -1), null);
    expect(shown()).toEqual(stored);
    await copies.pruneDays(({ date }) => date === DATE);
    expect(shown()).toEqual(stored);
    await copies.pruneDays(() => false);
    expect(shown()).toBeNull();
  });

  test('is not written after a sign-out has wiped the storage', async () => {
    const database = open();
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
    await createLocalCopies(open('ben'), 'ben', noon).storeDay(DATE, stored);
    wipeDatabase('ben');
    await expect.poll(names).toEqual([]);
    expect(readTodayCopy(storage, 'ben', DATE)).toEqual(stored);
    await createLocalCopies(open(), 'ada', noon).storeDay(DATE, stored);
    await wipeOtherUsers('ada');
    expect(shown()).toEqual(stored);
    expect(readTodayCopy(storage, 'ben', DATE)).toBeNull();
  });
});

describe('tabs', () => {
  const held: string[] = [];
  const requested: string[] = [];
  const locks = {
    request: (name: string, ...rest: unknown[]) => {
      requested.push(name);
      held.push(name);
      return (rest.at(-1) as () => Promise<unknown>)().finally(() => void held.splice(held.indexOf(name), 1));
    },
    query: async () => ({ held: held.map((name) => ({ name })) }),
  };
  const page = new EventTarget();
  beforeEach(() => {
    held.length = requested.length = 0;
    vi.stubGlobal('navigator', { locks });
    vi.stubGlobal('document', { visibilityState: 'visible' });
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  });
  const removed = { kind: 'removed' } as const;
  const transport = { remove: async () => removed } as unknown as EntryTransport;

  test('know the writers of open pages of this user alone', async () => {
    const one = createTabs('ada', 'one', () => {});
    const leave = [one, createTabs('ada', 'two', () => {}), createTabs('ben', 'three', () => {})].map((tab) =>
      tab.join(),
    );
    expect([...(await one.aliveWriters())].sort()).toEqual(['one', 'two']);
    leave[1]!();
    await new Promise((resolve) => setImmediate(resolve));
    expect([...(await one.aliveWriters())]).toEqual(['one']);
    for (const end of leave) end();
  });

  test('send in turn, also while they are hidden, but a page that is being closed sends at once', async () => {
    vi.stubGlobal('document', { visibilityState: 'hidden' });
    const tabs = createTabs('ada', 'one', () => {});
    const leave = tabs.join();
    const version = { id: 'row', revision: 1 };
    expect(await tabs.serializeWrites(transport).remove(DATE, version)).toEqual(removed);
    const send = `hustle-forge:ada:send:${DATE}`;
    expect(requested.filter((name) => name === send)).toHaveLength(1);
    page.dispatchEvent(new Event('pagehide'));
    expect(await tabs.serializeWrites(transport).remove(DATE, version)).toEqual(removed);
    expect(requested.filter((name) => name === send)).toHaveLength(1);
    leave();
  });

  test('hear what another tab of the same user stored', async () => {
    const heard: unknown[] = [];
    const [one, two] = [createTabs('ada', 'one', () => {}), createTabs('ada', 'two', (message) => heard.push(message))];
    const leave = [one.join(), two.join()];
    one.announce({ date: DATE, stored: null, at: 5 });
    await expect.poll(() => heard).toEqual([{ date: DATE, stored: null, at: 5 }]);
    for (const end of leave) end();
  });
});
