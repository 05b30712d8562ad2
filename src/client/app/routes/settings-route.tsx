/** Connects the settings screen to the upgrade dialog and to the unsaved text, which an export must include. */
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { SettingsScreen } from '#client/features/settings/settings-screen.tsx';
import { useUpgrade } from '../layout/upgrade-context.ts';

export function SettingsRoute() {
  const upgrade = useUpgrade();
  const { savers } = useJournal();
  return <SettingsScreen onUpgrade={upgrade} sendAll={() => savers.sendAll()} />;
}
