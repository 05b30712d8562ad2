/** Asks for a confirmation before a second factor, a passkey or another way to sign in is removed or replaced. */
import type { ReactNode } from 'react';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './security.module.css';

type ConfirmChangeDialogProps = {
  title: ReactNode;
  label?: string;
  busyLabel?: string;
  children: ReactNode;
  /** Returns the error to show, or null. */
  onConfirm: () => Promise<Outcome>;
  onClose: () => void;
};

export function ConfirmChangeDialog({
  title,
  label = 'Remove',
  busyLabel = 'Removing...',
  children,
  onConfirm,
  onClose,
}: ConfirmChangeDialogProps) {
  const { outcome, busy, onSubmit } = useSubmit(() => onConfirm());
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.panel} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        {children}
        <div className={styles.buttons}>
          <Button tone="primary" type="submit" busy={busy} busyLabel={busyLabel} data-autofocus>
            {label}
          </Button>
          <Button tone="text" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
