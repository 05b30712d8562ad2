/** Offers to delete the account. The dialog is a chunk of its own. */
import { useState } from 'react';
import { Button } from '#client/ui/button.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { lazyChunk, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import styles from './delete-account.module.css';

const dialog = lazyChunk(async () => (await import('./delete-account-dialog.tsx')).DeleteAccountDialog);

export function DeleteAccountSection() {
  const [isOpen, setOpen] = useState(false);
  const openChunk = useOpenChunk();
  return (
    <Section title="Delete account">
      <p className={styles.note}>
        Deletes your account and every log in it. You can download all your logs first, and undo the deletion for one
        hour.
      </p>
      <Button aria-haspopup="dialog" onClick={() => openChunk(dialog, () => setOpen(true))}>
        Delete account
      </Button>
      {isOpen && <dialog.View onClose={() => setOpen(false)} />}
    </Section>
  );
}
