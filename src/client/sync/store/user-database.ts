/**
 * One IndexedDB database per user: unsent text, and copies of what the server answered. The name contains the user id,
 * so a page never opens another user's database.
 */
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { Day } from '#domain/day/day.ts';
import { userDatabaseName } from '#client/lib/session/storage-keys.ts';
import type { OutboxDraft } from '../day-drafts.ts';
import type { StoredLog } from '../save-requests.ts';

/** A day as the server last answered; null if it had no log. */
export type SeenDay = { date: Day; stored: StoredLog | null; seenAt: number };
/** Another answer of the server, as it was at `at`. */
export type Copy = { value: unknown; at: number };

interface Schema extends DBSchema {
  drafts: { key: [Day, string]; value: OutboxDraft };
  days: { key: Day; value: SeenDay };
  copies: { key: string; value: Copy };
}
export type Connection = IDBPDatabase<Schema>;

export type UserDatabase = {
  /** Runs a request. Rejects if the browser denies access, or after the database was closed or deleted. */
  use: <T>(request: (connection: Connection) => Promise<T>) => Promise<T>;
  isClosed: () => boolean;
  /** No later request reaches the database, not even to create it again. */
  close: () => void;
};

/**
 * Opens the database once. After it was closed, or wiped by any tab, this object does not open it again. Calls `onLost`
 * when another tab or the browser deletes it, with all drafts.
 */
export function openUserDatabase(userId: string, onLost = (): void => {}): UserDatabase {
  let isClosed = false;
  // Asynchronous, because `indexedDB.open` throws at once where the browser denies access.
  const open = async () =>
    openDB<Schema>(userDatabaseName(userId), 1, {
      upgrade(database) {
        database.createObjectStore('drafts', { keyPath: ['date', 'writer'] });
        database.createObjectStore('days', { keyPath: 'date' });
        database.createObjectStore('copies');
      },
      // Another tab deletes the database: an open connection would block it.
      blocking: lose,
      terminated: lose,
    });
  const opening = open();
  // Attach a handler now, or a browser without IndexedDB reports an unhandled rejection.
  opening.catch(() => {});

  function close(): void {
    isClosed = true;
    opening.then(
      (connection) => connection.close(),
      () => {},
    );
  }

  function lose(): void {
    close();
    onLost();
  }

  return {
    async use(request) {
      const connection = await opening;
      if (isClosed) throw new DOMException('the database is closed', 'InvalidStateError');
      return request(connection);
    },
    isClosed: () => isClosed,
    close,
  };
}
