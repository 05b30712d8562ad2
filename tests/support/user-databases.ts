/** Databases of users on an IndexedDB in memory, and pages that open them. */
import 'fake-indexeddb/auto';
import { beforeEach, vi } from 'vitest';
import { createDayDrafts, type DayDraft, type Outbox } from '#client/sync/day-drafts.ts';
import { createOutbox } from '#client/sync/journal.ts';
import { openUserDatabase, type UserDatabase } from '#client/sync/store/user-database.ts';
import { day } from '#domain/day/day.ts';
import { MemoryStorage } from './day-saver-harness.ts';

export const DATE = day('2026-11-21');
export const DRAFT: DayDraft = {
  html: '<p>a</p>',
  baseRevision: 3,
  baseId: 'row',
  at: 5,
  base: '<p>b</p>',
  sent: ['<p>c</p>'],
};
/** Resolves once the database has run all earlier requests. */
export const settle = ({ outbox }: { outbox: Outbox }): Promise<unknown> => outbox.readAll();
export const listDatabases = async (): Promise<string[]> =>
  (await indexedDB.databases()).map(({ name = '' }) => name).sort();

/** Call once per file: each test starts with an empty browser. `alive`: the ids (`writer`) of the pages that are open. */
export function setUpBrowser() {
  let databases: UserDatabase[] = [];
  const browser = { storage: new MemoryStorage(), alive: new Set<string>(), open, openPage };
  function open(userId = 'ada'): UserDatabase {
    const database = openUserDatabase(userId);
    databases.push(database);
    return database;
  }
  function openPage(writer: string, userId = 'ada') {
    const outbox = createOutbox(open(userId), { aliveWriters: async () => browser.alive });
    return { outbox, drafts: createDayDrafts(browser.storage, userId, writer, outbox) };
  }
  beforeEach(async () => {
    for (const database of databases) database.close();
    databases = [];
    browser.storage = new MemoryStorage();
    browser.alive = new Set();
    for (const name of await listDatabases()) indexedDB.deleteDatabase(name);
    vi.stubGlobal('localStorage', browser.storage);
    vi.stubGlobal('sessionStorage', new MemoryStorage());
  });
  return browser;
}
