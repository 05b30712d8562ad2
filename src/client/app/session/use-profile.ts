/**
 * Reads the signed-in user's profile row (docs/specification/accounts.md 10). If there is no row or the read fails,
 * reads once more after two seconds. Without an answer, uses the row that stored-profile.ts keeps of a premium user.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Profile } from '#domain/log/entry.ts';
import type { SessionState } from '#client/lib/session/session.ts';
import { readProfile } from '#client/lib/api/first-reads.ts';
import { useSupabase, type Supabase } from '#client/lib/api/supabase.ts';

const PROFILE_TIMEOUT_MS = 10_000;
const PROFILE_RETRY_MS = 2_000;

/**
 * A row; null for a new user without one (docs/specification/accounts.md 10); or a failure, which says nothing about
 * the plan. After `timedOut` the screen stops waiting; after the first `failed` it waits for the retry.
 */
type ReadResult = Profile | null | 'failed' | 'timedOut';

async function requestProfile(supabase: Supabase, userId: string): Promise<ReadResult> {
  const timeout = AbortSignal.timeout(PROFILE_TIMEOUT_MS);
  try {
    const { createDataClient } = await import('#client/lib/api/data-client.ts');
    const { data, error } = await readProfile(createDataClient(supabase), userId)
      // This hook retries after two seconds. The library's own retries would use up the time-out.
      .retry(false)
      .abortSignal(timeout)
      .maybeSingle();
    if (!error) return data;
  } catch {
    // The screen shows all failures alike.
  }
  return timeout.aborted ? 'timedOut' : 'failed';
}

/** Null also if the chunk cannot be loaded: the plan then stays unknown. */
const readStored = (userId: string): Promise<Profile | null> =>
  import('#client/lib/plan/stored-profile.ts').then(
    (module) => module.readStoredProfile(userId),
    () => null,
  );

type LastRead = { userId: string; result: ReadResult };
type ProfileView = Pick<SessionState, 'profile' | 'profileState' | 'refreshProfile'>;

export function useProfile(userId: string | null, paused: boolean): ProfileView {
  const supabase = useSupabase();
  const [last, setLast] = useState<LastRead | null>(null);
  const currentUserId = useRef(userId);
  currentUserId.current = userId;

  const refreshProfile = useCallback(async () => {
    if (userId === null) return false;
    const result = await requestProfile(supabase, userId);
    const shown = typeof result === 'object' ? result : ((await readStored(userId)) ?? result);
    // Drop a response for a user who has signed out in the meantime.
    if (currentUserId.current !== userId) return false;
    setLast((before) => ({
      userId,
      result: mergeResults(before?.userId === userId ? before.result : undefined, shown),
    }));
    return isProfile(result);
  }, [supabase, userId]);

  useEffect(() => {
    if (userId === null || paused) return;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let isCancelled = false;
    void refreshProfile().then((found) => {
      if (!found && !isCancelled) retry = setTimeout(() => void refreshProfile(), PROFILE_RETRY_MS);
    });
    return () => {
      isCancelled = true;
      clearTimeout(retry);
    };
  }, [paused, refreshProfile, userId]);

  const own = last?.userId === userId ? last.result : undefined;
  return { profile: isProfile(own) ? own : null, profileState: stateOf(own), refreshProfile };
}

const isProfile = (result: ReadResult | undefined): result is Profile => typeof result === 'object' && result !== null;

/** A later failure does not replace a known row. A second failure ends the wait. */
function mergeResults(before: ReadResult | undefined, now: ReadResult): ReadResult {
  // Keep the object of an unchanged row, so that no screen re-renders.
  if (isProfile(now) && isProfile(before) && JSON.stringify(now) === JSON.stringify(before)) return before;
  if (isProfile(now) || before === undefined) return now;
  if (isProfile(before)) return before;
  if (now === null) return null;
  return before === null ? null : 'timedOut';
}

/** After a first failure the state stays `loading` until the retry. */
function stateOf(result: ReadResult | undefined): SessionState['profileState'] {
  if (result === undefined || result === 'failed') return 'loading';
  if (result === null) return 'missing';
  return result === 'timedOut' ? 'unavailable' : 'ready';
}
