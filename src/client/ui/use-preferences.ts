/**
 * The user's preferences (docs/specification/habit.md 1): the last known ones at once, those of the server a moment later.
 * One change is one request. It shows at once, and is taken back with a message if the server refuses it.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { DEFAULT_PREFERENCES, parsePreferences, type Preferences } from '#domain/habit/preferences.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useToast } from './toast.tsx';
import { storeDayEnd } from '../lib/session/browser-preferences.ts';
import { PREFERENCES_PREFIX } from '../lib/session/storage-keys.ts';

const COLUMNS =
  'time_zone, workdays, remind_at, remind_by_mail, remind_by_push, digest, digest_review, day_ends_at, prompts' as const;

/** Of a change. The next one waits for it. */
const TIMEOUT_MS = 20_000;

/** Ends with the last change. Of two requests at once, the server might store the later choice first. */
let sent: Promise<unknown> = Promise.resolve();
let pending = 0;
/** The preferences that the server has stored. A change that fails is set back to these. */
let confirmed = DEFAULT_PREFERENCES;

export type PreferencesState = {
  preferences: Preferences;
  /** The server has told them: only then may a screen offer to change them. */
  isRead: boolean;
  isFailed: boolean;
  /** Resolves with whether the server has stored the change. */
  change: (change: Partial<Preferences>) => Promise<boolean>;
};

/** Reads the preferences once; until then it gives the last known ones. */
export function usePreferences(): PreferencesState {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const toast = useToast();
  const queryKey = ['preferences'] as const;
  const { data: read, isError } = useQuery({
    queryKey,
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
  const preferences = read ?? storedPreferences(userId);

  const change = useCallback(
    async (changed: Partial<Preferences>): Promise<boolean> => {
      // Not awaited: the choice must show in the turn of the click, or the control shows the old one again.
      void queries.cancelQueries({ queryKey: ['preferences'] });
      const shown = () => queries.getQueryData<Preferences>(['preferences']) ?? storedPreferences(userId);
      const show = (part: Partial<Preferences>): void => {
        const next = { ...shown(), ...part };
        queries.setQueryData(['preferences'], next);
        storePreferences(userId, next);
      };
      if (pending === 0) confirmed = shown();
      pending += 1;
      show(changed);
      const upsert = () =>
        data
          .from('preferences')
          .upsert({ user_id: userId, ...changed })
          .abortSignal(AbortSignal.timeout(TIMEOUT_MS));
      const answer = sent.then(upsert);
      sent = answer;
      const { error } = await answer;
      pending -= 1;
      if (!error) confirmed = { ...confirmed, ...changed };
      if (!error) return true;
      const now = shown();
      // A later choice stays.
      const columns = (Object.keys(changed) as (keyof Preferences)[]).filter((each) => now[each] === changed[each]);
      show(Object.fromEntries(columns.map((each) => [each, confirmed[each]])));
      // The server may have stored the change, and the answer was lost.
      if (pending === 0) void queries.invalidateQueries({ queryKey: ['preferences'] });
      toast({ kind: 'error', topic: 'preferences', text: "Couldn't save this setting. Please try again." });
      return false;
    },
    [data, queries, toast, userId],
  );
  return { preferences, isRead: read !== undefined, isFailed: isError, change };
}

/** Known at the start, without the server. Never throws: a browser that blocks storage has stored none. */
function storedPreferences(userId: string): Preferences {
  try {
    return parsePreferences(JSON.parse(localStorage.getItem(PREFERENCES_PREFIX + userId)!));
  } catch {
    return DEFAULT_PREFERENCES;
  }
}

function storePreferences(userId: string, preferences: Preferences): void {
  try {
    localStorage.setItem(PREFERENCES_PREFIX + userId, JSON.stringify(preferences));
    storeDayEnd(preferences.day_ends_at === 3 ? 3 : 0);
  } catch {
    // Best effort: the next page reads them from the server.
  }
}
