/** Whether the signed-in user has the premium plan today. For display only; the database enforces the plan. */
import { isPremium } from '#domain/plan/plan.ts';
import { useSession } from '../session/session.ts';
import { useDate } from '../hooks/use-clock.ts';

/** Null while the profile is loading or unavailable. Screens then neither lock features nor offer an upgrade. */
export function usePremium(): boolean | null {
  const { profile, profileState } = useSession();
  const today = useDate();
  const isKnown = profileState === 'ready' || profileState === 'missing';
  return isKnown ? isPremium(profile, today) : null;
}
