/**
 * Keys of localStorage and sessionStorage, some of which the boot script reads too, and the names of databases. Some
 * features have further keys of their own.
 */
export const THEME_KEY = 'theme';
export const FONT_KEY = 'fontFamily';
export const WEEK_START_KEY = 'weekStart';
/** The hour at which the days of the signed-in user end. The server has it too (the table `preferences`). */
export const DAY_END_KEY = 'hustle-forge:day-ends-at';
/** The chosen font of a user whose plan has ended, restored when the plan starts again. */
export const SUSPENDED_FONT_KEY = 'hustle-forge:resting-font';
/** The plain text that a visitor typed on the landing page. After sign-up it becomes an item of the first log. */
export const FIRST_LINE_KEY = 'hustle-forge:first-line';
/**
 * Texts that other apps shared and that no log contains yet, as a JSON array. The journal adds those in localStorage
 * without a question, and asks about those in sessionStorage. Followed by the id of the signed-in user. Without an id,
 * the next user who signs in gets them.
 */
export const SHARED_TEXTS_PREFIX = 'hustle-forge:shared:';
/** The keys of the shared texts that this user gets. */
export const sharedTextsKeys = (userId: string): readonly string[] => [
  SHARED_TEXTS_PREFIX,
  SHARED_TEXTS_PREFIX + userId,
];
/** The email address typed on one account screen, to prefill the next. In sessionStorage. */
export const TYPED_ADDRESS_KEY = 'hustle-forge:typed-address';
/** The sign-in method that was used last in this browser (last-way.ts); stays after a sign-out. */
export const LAST_WAY_KEY = 'hustle-forge:last-way';
/** The requested deletion of an account, which the landing page of this tab offers to undo. In sessionStorage. */
export const DELETION_KEY = 'hustle-forge:deletion';
/** The id of the user who asked to sign out and the time, so that every tab can tell a sign-out from an expiry. */
export const SIGNED_OUT_KEY = 'hustle-forge:signed-out';

/** Unsent text. Followed by the id of the user, the day and the id of the page that wrote it, separated by colons. */
export const DRAFT_PREFIX = 'hustle-forge:draft:';
/** The profile row of a user with the premium plan. Followed by the id of the user. */
export const PROFILE_PREFIX = 'hustle-forge:profile:';
/** The preferences of a user as they were last read. Followed by the id of the user. */
export const PREFERENCES_PREFIX = 'hustle-forge:preferences:';
/** This browser as a device that shows reminders (push-device.ts). Followed by the id of the user. */
export const PUSH_DEVICE_PREFIX = 'hustle-forge:push-device:';
/** The local copy of today's log. Followed by the id of the user. */
export const TODAY_COPY_PREFIX = 'hustle-forge:today:';

/** Drafts of wins documents. Followed by the ids of the user, the document and the page that writes. */
export const DOCUMENT_DRAFT_PREFIX = 'hustle-forge:document:';

/** The IndexedDB database of a user. */
export const userDatabaseName = (userId: string): string => `${DATABASE_PREFIX}${userId}`;
export const DATABASE_PREFIX = 'hustle-forge:';

/**
 * The key that supabase-js uses, so that any Supabase client on this origin finds the session
 * (docs/specification/api.md 18).
 */
export const sessionStorageKey = (apiUrl: string): string => `sb-${new URL(apiUrl).hostname.split('.')[0]}-auth-token`;

/** The keys that start with `prefix`; none where the browser blocks storage. */
export function keysUnder(storage: Storage, prefix: string): string[] {
  try {
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
    return keys.filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}
