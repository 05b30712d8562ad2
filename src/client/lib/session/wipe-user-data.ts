/** Removes a signed-out user's data from this browser's storage. */
import type { PageMessage } from '#client/lib/service-worker-rules.ts';
import {
  DAY_END_KEY,
  FIRST_LINE_KEY,
  SHARED_TEXTS_PREFIX,
  sharedTextsKeys,
  TYPED_ADDRESS_KEY,
  userDatabaseName,
} from './storage-keys.ts';

/**
 * Removes all keys that contain the user's id, the user's database, and the user's keys without an id. The preferences
 * of the browser, such as its theme, stay (docs/specification/product.md 5).
 */
export function wipeUserData(userId: string): void {
  removeDataOf(userId);
  localStorage.removeItem(DAY_END_KEY);
  // Threat: the next user of this browser sees this user's email address and text, and finds the text in their own new
  // journal.
  localStorage.removeItem(FIRST_LINE_KEY);
  localStorage.removeItem(SHARED_TEXTS_PREFIX);
  for (const key of sharedTextsKeys(userId)) sessionStorage.removeItem(key);
  sessionStorage.removeItem(TYPED_ADDRESS_KEY);
  // Threat: this device goes on showing this user's reminders, because the sign-out did not reach the server.
  navigator.serviceWorker?.controller?.postMessage({ type: 'signedOut' } satisfies PageMessage);
}

/** Leaves the keys without a user id, unlike `wipeUserData`: they may belong to the user who is signed in now. */
export function removeDataOf(userId: string): void {
  for (const key of Object.keys(localStorage)) if (key.includes(userId)) localStorage.removeItem(key);
  wipeDatabase(userId);
}

/**
 * An open connection would block the deletion. Every tab therefore closes its connection on `versionchange` and does
 * not open the database again (user-database.ts).
 */
export function wipeDatabase(userId: string): void {
  try {
    indexedDB.deleteDatabase(userDatabaseName(userId));
  } catch {
    // A browser without IndexedDB has no database.
  }
}
