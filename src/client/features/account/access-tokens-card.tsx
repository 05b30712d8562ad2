/** The Access tokens card of the settings. The list loads when the user opens it. */
import { useState } from 'react';
import { Button } from '#client/ui/button.tsx';
import { lazyChunk, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { Section } from '#client/ui/page/page.tsx';
import { Quiet, Stack } from '#client/ui/stack.tsx';

const panel = lazyChunk(async () => (await import('./access-tokens-panel.tsx')).AccessTokensPanel);

export function AccessTokensCard() {
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
