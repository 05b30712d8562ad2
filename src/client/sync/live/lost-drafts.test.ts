import { expect, test } from 'vitest';
import { DATE, DRAFT, listDatabases, setUpBrowser, settle } from '../../../../tests/support/user-databases.ts';
import { removeLostDrafts } from './closed-tabs.ts';

const browser = setUpBrowser();
const KEY = `hustle-forge:draft:ada:${DATE}`;
const lostDays = () => removeLostDrafts(browser.storage, 'ada', browser.openPage('next').outbox);

async function writeAndClose(writer: string): Promise<void> {
  const page = browser.openPage(writer);
  void page.drafts.store(DATE, DRAFT);
  await settle(page);
  page.drafts.close();
}

async function clearDatabases(): Promise<void> {
  for (const name of await listDatabases()) indexedDB.deleteDatabase(name);
  await expect.poll(listDatabases).toEqual([]);
}

test('a draft that the browser has cleared is reported once', async () => {
  await writeAndClose('one');
  await writeAndClose('two');
  await clearDatabases();
  expect(await lostDays()).toEqual([DATE]);
  expect(await lostDays()).toEqual([]);
  expect(browser.storage.length).toBe(0);
});

test('a draft in the database, in localStorage or of an open page is not lost', async () => {
  await writeAndClose('one');
  browser.storage.setItem(`${KEY}:two`, JSON.stringify(DRAFT));
  browser.storage.setItem(`${KEY}:three`, '');
  browser.storage.setItem(`hustle-forge:draft:ben:${DATE}:four`, '');
  browser.alive = new Set(['three']);
  expect(await lostDays()).toEqual([]);
  expect(browser.storage.length).toBe(4);
});

test('a draft that another tab takes over during the check is not lost', async () => {
  await writeAndClose('one');
  const { outbox } = browser.openPage('next');
  const checking = removeLostDrafts(browser.storage, 'ada', {
    ...outbox,
    async readAll() {
      browser.storage.removeItem(`${KEY}:one`);
      await outbox.remove(DATE, 'one');
      return outbox.readAll();
    },
  });
  expect(await checking).toEqual([]);
});

test('a draft that a page stores during the check, before it is closed, is not lost', async () => {
  await writeAndClose('one');
  browser.alive = new Set(['one']);
  const { outbox } = browser.openPage('next');
  await outbox.remove(DATE, 'one');
  const checking = removeLostDrafts(browser.storage, 'ada', {
    ...outbox,
    async aliveWriters() {
      await writeAndClose('one');
      return new Set();
    },
  });
  expect(await checking).toEqual([]);
});

test('a database that cannot be read may still have the draft', async () => {
  browser.storage.setItem(`${KEY}:one`, '');
  const { outbox } = browser.openPage('next');
  outbox.close();
  expect(await removeLostDrafts(browser.storage, 'ada', outbox)).toEqual([]);
  expect(browser.storage.length).toBe(1);
});
