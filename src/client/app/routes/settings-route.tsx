/** Connects the settings screen to the unsaved text, which an export must include, and to cards of other features. */
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { SettingsScreen } from '#client/features/settings/settings-screen.tsx';
import { useState } from 'react';
import { Button } from '#client/ui/button.tsx';
import { lazyChunk, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { Section } from '#client/ui/page/page.tsx';
import { Quiet, Stack } from '#client/ui/stack.tsx';

export function SettingsRoute() {
  const { savers } = useJournal();
  return <SettingsScreen sendAll={() => savers.sendAll()} tokens={<AccessTokensCard />} />;
}

const panel = lazyChunk(
  async () => (await import('#client/features/account/access-tokens-panel.tsx')).AccessTokensPanel,
);

/** The Access tokens card of the settings. The list loads when the user opens it. */
function AccessTokensCard() {
  const openChunk = useOpenChunk();
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Access tokens">
      <Stack>
        <Quiet>For programs that add to your journal or read it. None has access until you make a token for it.</Quiet>
        {isOpen ? <panel.View /> : <Button onClick={() => openChunk(panel, () => setOpen(true))}>Manage tokens</Button>}
      </Stack>
    </Section>
  );
}
