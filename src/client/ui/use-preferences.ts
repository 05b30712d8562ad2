/**
 * The user's preferences (docs/specification/habit.md 1): at once as this browser last stored them, then as the server
 * sends them.
 */
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { DEFAULT_PREFERENCES, parsePreferences, type Preferences } from '#domain/habit/preferences.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { storeDayEnd } from '../lib/session/browser-preferences.ts';
import { PREFERENCES_PREFIX } from '../lib/session/storage-keys.ts';

const COLUMNS =
  'time_zone, workdays, remind_at, remind_by_mail, remind_by_push, digest, digest_review, day_ends_at, prompts' as const;

export const PREFERENCES_KEY = ['preferences'] as const;

export type PreferencesState = {
  preferences: Preferences;
  /** True once the server has sent the preferences. Only then may a screen offer to change them. */
  isRead: boolean;
  request: UseQueryResult<Preferences>;
};

export function usePreferences(): PreferencesState {
  const data = useData();
  const { id: userId } = useUser();
  const request = useQuery({
    queryKey: PREFERENCES_KEY,
    queryFn: async ({ signal }): Promise<Preferences> => {
      const { data: row } = await data
        .from('preferences')
        .select(COLUMNS)
        .eq('user_id', userId)
        .abortSignal(signal)
        .maybeSingle()
        .throwOnError();
      const preferences = row ?? DEFAULT_PREFERENCES;
      storePreferences(userId, preferences);
      return preferences;
    },
    networkMode: 'always',
  });
  const { data: read } = request;
  return { preferences: read ?? storedPreferences(userId), isRead: read !== undefined, request };
}

/** The preferences that this browser stored. The defaults if it has none or blocks storage. */
function storedPreferences(userId: string): Preferences {
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
