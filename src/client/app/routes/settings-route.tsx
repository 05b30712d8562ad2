/** Connects the settings screen to the unsaved text, which an export must include, and to the cards of other features. */
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { AccessTokensCard } from '#client/features/account/access-tokens-card.tsx';
import { SettingsScreen } from '#client/features/settings/settings-screen.tsx';

export function SettingsRoute() {
  const { savers } = useJournal();
  return <SettingsScreen sendAll={() => savers.sendAll()} tokens={<AccessTokensCard />} />;
}
