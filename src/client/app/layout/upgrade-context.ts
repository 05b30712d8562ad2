/** How any protected screen opens the upgrade dialog for the thing it could not do. */
import { createContext, use } from 'react';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';

export const UpgradeContext = createContext<((feature: UpgradeFeature) => void) | null>(null);

export function useUpgrade(): (feature: UpgradeFeature) => void {
  const open = use(UpgradeContext);
  if (!open) throw new Error('useUpgrade is for protected screens');
  return open;
}
