/** A user's database is wiped at a sign-out, and when another user signs in. */
import { describe, expect, test, vi } from 'vitest';
import { wipeDatabase } from '#client/lib/session/wipe-user-data.ts';
import { DATE, DRAFT, listDatabases, settle, setUpBrowser } from '../../../../tests/support/user-databases.ts';
import { createLocalCopies } from './local-copies.ts';
import { wipeOtherUsers } from './wipe-other-users.ts';

const browser = setUpBrowser();

describe('a wiped database', () => {
  test('is gone although another tab has it open, and no late draft creates it again', async () => {
    const [one, two] = [browser.openPage('one'), browser.openPage('two')];
    void one.drafts.store(DATE, DRAFT);
    await Promise.all([settle(one), settle(two)]);
    one.drafts.close();
    wipeDatabase('ada');
    await expect.poll(listDatabases).toEqual([]);
    browser.storage.maxValueLength = 0;
    expect(await two.drafts.store(DATE, DRAFT)).toBe(false);
    expect(one.drafts.store(DATE, DRAFT)).toBe(true);
    await two.drafts.load();
    expect(await listDatabases()).toEqual([]);
  });

  test('takes no request after its page has closed it, not even one that waited for it to open', async () => {
    const database = browser.open();
    const waiting = database.use((connection) => connection.put('days', { date: DATE, stored: null, seenAt: 1 }));
    database.close();
    await expect(waiting).rejects.toThrow('closed');
    const page = browser.openPage('one');
    await settle(page);
    page.drafts.close();
    await expect(page.outbox.readAll()).rejects.toThrow('closed');
  });

  test('of another user is deleted when somebody else signs in, unless it has unsent text', async () => {
    const copies = createLocalCopies(browser.open('ben'), 'ben', () => 1);
    await copies.storeDay(DATE, null);
    const cleo = browser.openPage('one', 'cleo');
    await createLocalCopies(browser.open('cleo'), 'cleo', () => 1).storeDay(DATE, null);
    void cleo.drafts.store(DATE, DRAFT);
    localStorage.setItem('hustle-forge:profile:cleo', '{}');
    await createLocalCopies(browser.open('abe'), 'abe', () => 1).storeDay(DATE, null);
    localStorage.setItem('hustle-forge:shared:abe', '["shared by another app"]');
    await createLocalCopies(browser.open('dan'), 'dan', () => 1).storeDay(DATE, null);
    localStorage.setItem('hustle-forge:document:dan:1:tab', '{"document":{}}');
    await settle(cleo);
    await createLocalCopies(browser.open('ada'), 'ada', () => 1).storeDay(DATE, null);
    const deleteDatabase = vi.spyOn(indexedDB, 'deleteDatabase');
    await wipeOtherUsers('ada');
    expect(deleteDatabase.mock.calls).toEqual([['hustle-forge:ben']]);
    deleteDatabase.mockRestore();
    const kept = ['hustle-forge:abe', 'hustle-forge:ada', 'hustle-forge:cleo', 'hustle-forge:dan'];
    await expect.poll(listDatabases).toEqual(kept);
    expect(localStorage.getItem('hustle-forge:shared:abe')).toBe('["shared by another app"]');
    expect(localStorage.getItem('hustle-forge:document:dan:1:tab')).toBe('{"document":{}}');
    expect(await createLocalCopies(browser.open('cleo'), 'cleo', () => 1).readDays()).toEqual([]);
    expect(localStorage.getItem('hustle-forge:profile:cleo')).toBe(null);
    expect(await browser.openPage('two', 'cleo').outbox.readAll()).toHaveLength(1);
    expect(await createLocalCopies(browser.open('ada'), 'ada', () => 1).readDays()).toHaveLength(1);
  });

  test('of another user stays when somebody else signs in while its drafts cannot be counted', async () => {
    const page = browser.openPage('one', 'ben');
    // Full: the draft has no key in localStorage.
    browser.storage.maxValueLength = 0;
    expect(await page.drafts.store(DATE, DRAFT)).toBe(true);
    const count = vi.spyOn(IDBObjectStore.prototype, 'count').mockImplementation(() => {
      throw new DOMException('cannot be read', 'UnknownError');
    });
    const deleteDatabase = vi.spyOn(indexedDB, 'deleteDatabase');
    await wipeOtherUsers('ada');
    expect(deleteDatabase).not.toHaveBeenCalled();
    count.mockRestore();
    deleteDatabase.mockRestore();
  });

  test('of another user is cleared although that of a third user can be neither read nor cleared', async () => {
    await createLocalCopies(browser.open('abe'), 'abe', () => 1).storeDay(DATE, null);
    await createLocalCopies(browser.open('ben'), 'ben', () => 1).storeDay(DATE, null);
    localStorage.setItem('hustle-forge:shared:ben', '["shared by another app"]');
    const failForAbe = (method: 'count' | 'clear') => {
      const work = IDBObjectStore.prototype[method] as () => IDBRequest;
      return vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (this: IDBObjectStore) {
        if (this.transaction.db.name.endsWith('abe')) throw new DOMException('cannot be read', 'UnknownError');
        return work.call(this);
      });
    };
    const failures = [failForAbe('count'), failForAbe('clear')];
    await wipeOtherUsers('ada');
    for (const failure of failures) failure.mockRestore();
    expect(await createLocalCopies(browser.open('abe'), 'abe', () => 1).readDays()).toHaveLength(1);
    expect(await createLocalCopies(browser.open('ben'), 'ben', () => 1).readDays()).toEqual([]);
  });

  test('leaves no copies of its rows in localStorage when somebody else signs in, also without IndexedDB', async () => {
    const keysOf = (user: string) => ['profile', 'preferences', 'today'].map((copy) => `hustle-forge:${copy}:${user}`);
    for (const key of [...keysOf('ada'), ...keysOf('ben')]) localStorage.setItem(key, '{}');
    const databases = vi.spyOn(indexedDB, 'databases').mockRejectedValue(new DOMException('denied', 'SecurityError'));
    await expect(wipeOtherUsers('ada')).rejects.toThrow('denied');
    databases.mockRestore();
    expect(keysOf('ben').map((key) => localStorage.getItem(key))).toEqual([null, null, null]);
    expect(keysOf('ada').map((key) => localStorage.getItem(key))).toEqual(['{}', '{}', '{}']);
  });

  test.each([
    { own: null, ended: true },
    { own: '{"id":"device-of-ada"}', ended: false },
  ])("a device of another user's reminders ends, unless it is also the user's: $own", async ({ own, ended }) => {
    const postMessage = vi.fn();
    vi.stubGlobal('navigator', { serviceWorker: { getRegistration: async () => ({ active: { postMessage } }) } });
    localStorage.setItem('hustle-forge:push-device:ben', '{"id":"device-of-ben"}');
    if (own !== null) localStorage.setItem('hustle-forge:push-device:ada', own);
    await wipeOtherUsers('ada');
    await wipeOtherUsers('ada');
    expect(postMessage.mock.calls).toEqual(ended ? [[{ type: 'signedOut' }]] : []);
    expect(localStorage.getItem('hustle-forge:push-device:ben')).toBe(null);
    expect(localStorage.getItem('hustle-forge:push-device:ada')).toBe(own);
    vi.unstubAllGlobals();
  });
});
