/** The signed-in user's profile row: read once per user, once more after two seconds when it is missing (product.md 4). */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Profile } from '#domain/entry.ts';
import type { SessionState } from '#client/lib/session.ts';
import { useSupabase } from '#client/lib/supabase.ts';
import type { Supabase } from '#client/lib/supabase.ts';

const PROFILE_TIMEOUT_MS = 10_000;
const PROFILE_RETRY_MS = 2_000;

/** A missing row, an error and a time-out are all "no profile" (product.md 8). */
async function readProfile(supabase: Supabase, userId: string): Promise<Profile | null> {
  try {
    const { createDataClient } = await import('#client/lib/data-client.ts');
    const { data } = await createDataClient(supabase)
      .from('profiles')
      .select('*')
      .eq('id', userId)
      .abortSignal(AbortSignal.timeout(PROFILE_TIMEOUT_MS))
      .maybeSingle();
    return data;
  } catch {
    return null;
  }
}

type Known = { userId: string; profile: Profile | null };
type ProfileView = Pick<SessionState, 'profile' | 'profileState' | 'refreshProfile'>;

export function useProfile(userId: string | null, paused: boolean): ProfileView {
  const supabase = useSupabase();
  const [known, setKnown] = useState<Known | null>(null);
  const current = useRef(userId);
  current.current = userId;

  const refreshProfile = useCallback(async () => {
    if (userId === null) return false;
    const profile = await readProfile(supabase, userId);
    // An answer for somebody who has left meanwhile is dropped; one that failed does not take away what is known.
    if (current.current !== userId) return false;
    setKnown((before) =>
      profile === null && before?.userId === userId && before.profile ? before : { userId, profile },
    );
    return profile !== null;
  }, [supabase, userId]);

  useEffect(() => {
    if (userId === null || paused) return;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let left = false;
    void refreshProfile().then((found) => {
      if (!found && !left) retry = setTimeout(() => void refreshProfile(), PROFILE_RETRY_MS);
    });
    return () => {
      left = true;
      clearTimeout(retry);
    };
  }, [paused, refreshProfile, userId]);

  const own = known?.userId === userId ? known : null;
  const profileState = own === null ? 'loading' : own.profile ? 'ready' : 'missing';
  return { profile: own?.profile ?? null, profileState, refreshProfile };
}
