/**
 * The preferences with the changes that the server has not answered yet. One change is one request, and the next one
 * waits for its answer: of two requests at once, the server might store the later choice first.
 */
import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import type { Preferences } from '#domain/habit/preferences.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useToast } from '#client/ui/toast.tsx';
import {
  PREFERENCES_KEY,
  storePreferences,
  usePreferences,
  type PreferencesState,
} from '#client/ui/use-preferences.ts';

type Change = Partial<Preferences>;

const mutationKey = PREFERENCES_KEY;
const TIMEOUT_MS = 20_000;

export type ChangeablePreferences = PreferencesState & { change: (change: Change) => void };

export function useChangePreferences(): ChangeablePreferences {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const toast = useToast();
  const state = usePreferences();
  const pending = useMutationState({
    filters: { mutationKey, status: 'pending' },
    select: ({ state: { variables } }) => variables as Change,
  });
  const { mutate } = useMutation({
    mutationKey,
    scope: { id: 'preferences' },
    networkMode: 'always',
    mutationFn: async (change: Change) =>
      data
        .from('preferences')
        .upsert({ user_id: userId, ...change })
        .abortSignal(AbortSignal.timeout(TIMEOUT_MS))
        .throwOnError(),
    async onSuccess(_, change) {
      // A read that is under way may have missed the change.
      await queries.cancelQueries({ queryKey: PREFERENCES_KEY });
      const read = queries.getQueryData<Preferences>(PREFERENCES_KEY);
      if (!read) return queries.invalidateQueries({ queryKey: PREFERENCES_KEY });
      const stored = { ...read, ...change };
      queries.setQueryData(PREFERENCES_KEY, stored);
      storePreferences(userId, stored);
    },
    onError() {
      // The server may have stored the change, and the answer was lost: read again once no other change is pending.
      if (queries.isMutating({ mutationKey }) === 1) void queries.invalidateQueries({ queryKey: PREFERENCES_KEY });
      toast({ kind: 'error', topic: 'preferences', text: "Couldn't save this setting. Please try again." });
    },
  });
  return { ...state, preferences: Object.assign({}, state.preferences, ...pending) as Preferences, change: mutate };
}
