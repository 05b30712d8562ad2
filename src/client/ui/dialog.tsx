/** Something that lies over the page: the browser's own modal dialog, so focus, Escape and inertness are its work. */
import { X } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';
import styles from './dialog.module.css';
import { useAttachToasts } from './toast.tsx';

type DialogProps = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** A card in the middle, or a sheet along the edge where a line begins. */
  placement?: 'center' | 'start';
  /** False where the page behind is no use without an answer: no Escape, no close button, no click beside it. */
  dismissible?: boolean;
  /** Replaces the visible heading, for sheets that draw their own; the title stays the accessible name. */
  heading?: ReactNode;
  className?: string | undefined;
};

/** Mounting opens it, unmounting closes it; the browser then returns the focus to where it was. */
export function Dialog({
  title,
  onClose,
  children,
  placement = 'center',
  dismissible = true,
  heading,
  className,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const follow = useAttachToasts();

  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const cameFrom = document.activeElement;
    element.showModal();
    const leave = follow(element);
    // React's own autoFocus comes too early, while the dialog is still closed.
    element.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      leave();
      element.close();
      // A dialog removed from the page while open does not give the focus back by itself.
      if (cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus();
    };
  }, [follow]);

  return (
    <dialog
      ref={dialog}
      className={[styles.dialog, styles[placement], className].filter(Boolean).join(' ')}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // `cancel` also bubbles up from file inputs and dialogs inside.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        if (dismissible) onClose();
      }}
      onPointerDown={(event) => {
        if (dismissible && event.target === dialog.current) onClose();
      }}
    >
      <DialogFrame title={title} titleId={titleId} heading={heading} onClose={dismissible ? onClose : null}>
        {children}
      </DialogFrame>
    </dialog>
  );
}

type DialogFrameProps = {
  title: string;
  titleId: string;
  heading?: ReactNode;
  /** Null: there is no button to close it. */
  onClose: (() => void) | null;
  children: ReactNode;
};

/** The inside of a dialog: its title, the way out, and what it holds. */
export function DialogFrame({ title, titleId, heading, onClose, children }: DialogFrameProps) {
  return (
    <div className={styles.body}>
      <div className={styles.header}>
        {heading}
        <h2 id={titleId} className={heading === undefined ? styles.title : 'unseen'}>
          {title}
        </h2>
        {onClose && (
          <IconButton label="Close" className={styles.close} onClick={onClose}>
            <X aria-hidden />
          </IconButton>
        )}
      </div>
      {children}
    </div>
  );
}
