/** Whether the signed-in user is a Closer today, for comfort on the screen; the database decides. */
import { dayOf } from '#domain/day.ts';
import { isPremium } from '#domain/plan.ts';
import { useSession } from './session.ts';

/** Null while the profile is being read. */
export function usePremium(): boolean | null {
  const { profile, profileState } = useSession();
  return profileState === 'loading' ? null : isPremium(profile, dayOf(new Date()));
}
