/** The signed-in user's profile row: read once per user, once more after two seconds when there is none (docs/specification/accounts.md 10). */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Profile } from '#domain/log/entry.ts';
import type { SessionState } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { Supabase } from '#client/lib/api/supabase.ts';

const PROFILE_TIMEOUT_MS = 10_000;
const PROFILE_RETRY_MS = 2_000;

/**
 * A row, null where there is none (a new user, docs/specification/accounts.md 10), or that the reading failed: that says nothing about the
 * plan. `late` is a reading that nobody should have to wait for twice.
 */
type Reading = Profile | null | 'failed' | 'late';

async function readProfile(supabase: Supabase, userId: string): Promise<Reading> {
  const limit = AbortSignal.timeout(PROFILE_TIMEOUT_MS);
  try {
    const { createDataClient } = await import('#client/lib/api/data-client.ts');
    const { data, error } = await createDataClient(supabase)
      .from('profiles')
      .select('*')
      .eq('id', userId)
      // The second reading after two seconds is the only one: the library's own would take the whole ten.
      .retry(false)
      .abortSignal(limit)
      .maybeSingle();
    if (!error) return data;
  } catch {
    // Nothing that the screen could tell apart.
  }
  return limit.aborted ? 'late' : 'failed';
}

type Known = { userId: string; reading: Reading };
type ProfileView = Pick<SessionState, 'profile' | 'profileState' | 'refreshProfile'>;

export function useProfile(userId: string | null, paused: boolean): ProfileView {
  const supabase = useSupabase();
  const [known, setKnown] = useState<Known | null>(null);
  const current = useRef(userId);
  current.current = userId;

  const refreshProfile = useCallback(async () => {
    if (userId === null) return false;
    const reading = await readProfile(supabase, userId);
    // An answer for somebody who has left meanwhile is dropped.
    if (current.current !== userId) return false;
    setKnown((before) => ({ userId, reading: next(before?.userId === userId ? before.reading : undefined, reading) }));
    return isProfile(reading);
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

  const own = known?.userId === userId ? known.reading : undefined;
  return { profile: isProfile(own) ? own : null, profileState: stateOf(own), refreshProfile };
}

const isProfile = (reading: Reading | undefined): reading is Profile => typeof reading === 'object' && reading !== null;

/** A reading that found nothing does not take away what is known; the second that failed is not waited for again. */
function next(before: Reading | undefined, now: Reading): Reading {
  // The same row once more is no news to any screen.
  if (isProfile(now) && isProfile(before) && JSON.stringify(now) === JSON.stringify(before)) return before;
  if (isProfile(now) || before === undefined) return now;
  if (isProfile(before)) return before;
  if (now === null) return null;
  return before === null ? null : 'late';
}

/** One failure is a hitch, and the wait goes on until the second reading. */
function stateOf(reading: Reading | undefined): SessionState['profileState'] {
  if (reading === undefined || reading === 'failed') return 'loading';
  if (reading === null) return 'missing';
  return reading === 'late' ? 'unavailable' : 'ready';
}
