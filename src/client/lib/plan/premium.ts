/** Whether the signed-in user is a Closer today, for comfort on the screen; the database decides. */
import { isPremium } from '#domain/plan/plan.ts';
import { useSession } from '../session/session.ts';
import { useToday } from '../hooks/use-today.ts';

/** Null while nobody knows: the profile is being read, or could not be. Then nothing is refused and nothing offered. */
export function usePremium(): boolean | null {
  const { profile, profileState } = useSession();
  const today = useToday();
  const known = profileState === 'ready' || profileState === 'missing';
  return known ? isPremium(profile, today) : null;
}
