/** Something that lies over the page: the browser's own modal dialog, so focus, Escape and inertness are its work. */
import { X } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';
import styles from './dialog.module.css';

type DialogProps = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** A card in the middle, or a sheet along one edge. */
  placement?: 'center' | 'start' | 'end';
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

  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const cameFrom = document.activeElement;
    element.showModal();
    // React's own autoFocus comes too early, while the dialog is still closed.
    element.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      element.close();
      // A dialog removed from the page while open does not give the focus back by itself.
      if (cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus();
    };
  }, []);

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
      <div className={styles.body}>
        <header className={styles.header}>
          {heading}
          <h2 id={titleId} className={heading === undefined ? styles.title : 'unseen'}>
            {title}
          </h2>
          {dismissible && (
            <IconButton label="Close" className={styles.close} onClick={onClose}>
              <X aria-hidden />
            </IconButton>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
