/** Opens the dialog that makes a read-only link to a document or a review. */
import { useState } from 'react';
import Link2 from 'lucide-react/icons/link-2';
import { Button } from '../button.tsx';
import { lazyChunk, useOpenChunk } from '../lazy-chunk.ts';
import type { LinkTarget } from './links.tsx';

const shareDialog = lazyChunk(async () => (await import('./share-dialog.tsx')).ShareDialog);

type ShareButtonProps = {
  target: LinkTarget;
  /** Runs before the dialog opens. The dialog stays closed if it resolves with false. */
  prepare?: () => Promise<boolean>;
};

export function ShareButton({ target, prepare }: ShareButtonProps) {
  const openChunk = useOpenChunk();
  const [isOpen, setOpen] = useState(false);
  const open = async (): Promise<void> => {
    if (prepare === undefined || (await prepare())) openChunk(shareDialog, () => setOpen(true));
  };
  return (
    <>
      <Button onClick={() => void open()}>
        <Link2 size={18} strokeWidth={1.6} aria-hidden /> Link
      </Button>
      {isOpen && <shareDialog.View target={target} onClose={() => setOpen(false)} />}
    </>
  );
}
