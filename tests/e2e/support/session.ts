/** Ends sessions, and signs in with a password. */
import type { APIRequestContext, Page } from '@playwright/test';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import type { Session } from './journal.ts';
import { expect, type Person } from './test.ts';

/** Signs in over HTTP, outside the page. Fails if the server refuses the password. */
export async function signInByPassword(
  request: APIRequestContext,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<Session> {
  const answer = await request.post('/auth/v1/token?grant_type=password', { data: { email, password } });
  expect(answer.status(), await answer.text()).toBe(200);
  return (await answer.json()) as Session;
}

/** Makes the next token refresh fail for good, as after the session has ended elsewhere. */
export async function endSession(page: Page): Promise<void> {
  await page.evaluate((key) => {
    const session = JSON.parse(localStorage.getItem(key)!) as Record<string, unknown>;
    localStorage.setItem(key, JSON.stringify({ ...session, expires_at: 1, refresh_token: 'ended' }));
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, sessionStorageKey(page.url()));
}

/**
 * Everything in this tab that could retain a link's tokens: the address, both storages, the state of the history entry.
 */
export const tracesOf = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([location.href, localStorage, sessionStorage, history.state]));

/** The content of localStorage, sessionStorage and every IndexedDB database, with the names of the databases. */
export const readAllStorage = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error!));
      });
    const databases: unknown[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        databases.push([name, store, await settled(database.transaction(store).objectStore(store).getAll())]);
      }
      database.close();
      // Opening a database that was deleted meanwhile creates an empty one.
      if (database.objectStoreNames.length === 0) indexedDB.deleteDatabase(name);
    }
    return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), databases]);
  });
