/** Lets any protected screen open the upgrade dialog for a feature. */
import { createContext, use } from 'react';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';

export const UpgradeContext = createContext<((feature: UpgradeFeature) => void) | null>(null);

export function useUpgrade(): (feature: UpgradeFeature) => void {
  const open = use(UpgradeContext);
  if (!open) throw new Error('useUpgrade needs an UpgradeContext above it');
  return open;
}
