/** Whether the signed-in user has the premium plan today. For display only; the database enforces the plan. */
import { isPremium } from '#domain/plan/plan.ts';
import { useSession } from '../session/session.ts';
import { useDate } from '../hooks/use-clock.ts';
import { createContext, use } from 'react';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';

/** Null while the profile is loading or unavailable. Screens then offer no upgrade. */
export function usePremium(): boolean | null {
  const { profile, profileState } = useSession();
  const today = useDate();
  const isKnown = profileState === 'ready' || profileState === 'missing';
  return isKnown ? isPremium(profile, today) : null;
}

/** Opens the upgrade dialog for a feature from any protected screen. The app mounts the dialog (members-layout.tsx). */
export const UpgradeContext = createContext<((feature: UpgradeFeature) => void) | null>(null);

export function useUpgrade(): (feature: UpgradeFeature) => void {
  const open = use(UpgradeContext);
  if (!open) throw new Error('useUpgrade needs an UpgradeContext above it');
  return open;
}
