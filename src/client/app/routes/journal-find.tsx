/** The Find dialog over the journal. Its results include unsaved text of this page. */
import { useState } from 'react';
import { FindDialog } from '#client/features/find/find-dialog.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import type { OverlayProps } from './overlay-props.ts';

export function JournalFind({ onClose }: OverlayProps) {
  const { savers } = useJournal();
  const [unsaved] = useState(() =>
    savers.unsavedDays().flatMap((date) => {
      const saver = savers.getUnsaved(date);
      return saver ? { date, html: saver.text() } : [];
    }),
  );
  return <FindDialog unsaved={unsaved} onClose={onClose} />;
}
