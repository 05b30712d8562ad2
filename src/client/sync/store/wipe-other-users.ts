/** Removes the data of users who used this browser earlier without signing out. */
import type { PageMessage } from '#client/lib/service-worker-rules.ts';
import {
  DATABASE_PREFIX,
  keysUnder,
  PREFERENCES_PREFIX,
  PROFILE_PREFIX,
  PUSH_DEVICE_PREFIX,
  TODAY_COPY_PREFIX,
  userDatabaseName,
} from '#client/lib/session/storage-keys.ts';
import { removeDataOf } from '#client/lib/session/wipe-user-data.ts';
import { draftsOfOthers, userOfDraft } from '../day-drafts.ts';
import { openUserDatabase } from './user-database.ts';

/** Copies of rows in localStorage, found without the databases: IndexedDB may be denied, or its databases lost. */
const COPIES = [TODAY_COPY_PREFIX, PROFILE_PREFIX, PREFERENCES_PREFIX];

/** Another user's unsent text stays until that user signs in or somebody discards it. The copies are removed. */
export async function wipeOtherUsers(userId: string): Promise<void> {
  for (const prefix of COPIES)
    for (const key of keysUnder(localStorage, prefix)) if (key !== prefix + userId) localStorage.removeItem(key);
  await endDevicesOfOthers(userId).catch(() => {});
  const found = await indexedDB.databases();
  for (const { name = '' } of found) {
    if (!name.startsWith(DATABASE_PREFIX) || name === userDatabaseName(userId)) continue;
    const other = name.slice(DATABASE_PREFIX.length);
    const database = openUserDatabase(other);
    // A database that cannot be read may have unsent text that has no key in localStorage.
    const hasUnsent = await database.use((connection) => connection.count('drafts')).then(Boolean, () => true);
    const isInStorage = draftsOfOthers(localStorage, userId).some((key) => userOfDraft(key) === other);
    if (hasUnsent || isInStorage) {
      // Best effort: if these copies cannot be cleared, those of the next user still are.
      await database
        .use((connection) => Promise.all([connection.clear('days'), connection.clear('copies')]))
        .catch(() => {});
      database.close();
    } else {
      database.close();
      removeDataOf(other);
    }
  }
}

/**
 * Threat: the session of another user lives on at the server. This browser would go on showing that user's reminders,
 * whose button writes to that user's journal. The browser has one device, which is this user's if this user has one.
 */
async function endDevicesOfOthers(userId: string): Promise<void> {
  const own = PUSH_DEVICE_PREFIX + userId;
  const others = keysUnder(localStorage, PUSH_DEVICE_PREFIX).filter((key) => key !== own);
  if (others.length === 0) return;
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  const worker = (await workers?.getRegistration())?.active;
  if (localStorage.getItem(own) === null) worker?.postMessage({ type: 'signedOut' } satisfies PageMessage);
  for (const key of others) localStorage.removeItem(key);
}
