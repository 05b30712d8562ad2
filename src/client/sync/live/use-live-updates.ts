/** Shows changes that were made elsewhere while a signed-in user's screen is open. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { fetchAsUser } from '#client/lib/api/fetch-as-user.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useJournal } from '../day-savers-provider.tsx';
import { browserTimers } from '../journal.ts';
import { startLiveSync } from './live-sync.ts';
import { createRemoteChanges } from './remote-changes.ts';

export function useLiveUpdates(): void {
  const queries = useQueryClient();
  const { copies, savers } = useJournal();
  const { id: userId } = useUser();
  const { expired } = useSession();
  const { apiUrl, withSession } = useSupabase();

  useEffect(() => {
    // After a new sign-in the effect runs again.
    if (expired) return;
    const changes = createRemoteChanges({ savers, copies, queries, timers: browserTimers });
    const stop = startLiveSync({
      userId,
      url: `${apiUrl}/functions/v1/changes`,
      send: withSession(fetchAsUser(userId, fetch)),
      timers: browserTimers,
      applyChange: (change) => changes.apply(change),
      catchUp: () => changes.catchUp(),
    });
    return () => {
      stop();
      changes.close();
    };
  }, [apiUrl, copies, expired, queries, savers, userId, withSession]);
}
