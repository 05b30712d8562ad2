/** The preferences of a user as this browser last read them, such as the hour at which the user's day ends. */
import { DEFAULT_PREFERENCES, parsePreferences, type Preferences } from '#domain/habit/preferences.ts';
import { storeDayEnd } from './preferences.ts';
import { PREFERENCES_PREFIX } from './storage-keys.ts';

/** Known at the start, without the server. Never throws: a browser that blocks storage has stored none. */
export function storedPreferences(userId: string): Preferences {
  try {
    return parsePreferences(JSON.parse(localStorage.getItem(PREFERENCES_PREFIX + userId)!));
  } catch {
    return DEFAULT_PREFERENCES;
  }
}

export function storePreferences(userId: string, preferences: Preferences): void {
  try {
    localStorage.setItem(PREFERENCES_PREFIX + userId, JSON.stringify(preferences));
    storeDayEnd(preferences.day_ends_at === 3 ? 3 : 0);
  } catch {
    // Best effort: the next page reads them from the server.
  }
}
