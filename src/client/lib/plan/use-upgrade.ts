/** Opens the upgrade dialog for a feature from any protected screen. The app mounts the dialog (members-layout.tsx). */
import { createContext, use } from 'react';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';

export const UpgradeContext = createContext<((feature: UpgradeFeature) => void) | null>(null);

export function useUpgrade(): (feature: UpgradeFeature) => void {
  const open = use(UpgradeContext);
  if (!open) throw new Error('useUpgrade needs an UpgradeContext above it');
  return open;
}
