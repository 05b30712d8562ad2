/** Hands the settings screen its way to the upgrade dialog. */
import { SettingsScreen } from '#client/features/settings/settings-screen.tsx';
import { useUpgrade } from './upgrade-context.ts';

export function SettingsRoute() {
  const upgrade = useUpgrade();
  return <SettingsScreen onUpgrade={upgrade} />;
}
