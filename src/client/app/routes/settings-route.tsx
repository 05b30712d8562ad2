/** Connects the settings screen to the unsaved text, which an export must include. */
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { SettingsScreen } from '#client/features/settings/settings-screen.tsx';

export function SettingsRoute() {
  const { savers } = useJournal();
  return <SettingsScreen sendAll={() => savers.sendAll()} />;
}
