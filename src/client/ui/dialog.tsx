/** A modal overlay. The native dialog element traps the focus, handles Escape and makes the page inert. */
import X from 'lucide-react/icons/x';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { IconButton } from './button.tsx';
import styles from './dialog.module.css';
import { useAttachToasts } from './toast.tsx';

type DialogProps = {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  /** A centered card, or a sheet along the inline-start edge. */
  placement?: 'center' | 'start';
  /** False: the user must answer. Escape, the close button and clicks on the backdrop are off. */
  dismissible?: boolean;
  /** Replaces the visible heading; `title` stays the accessible name. */
  heading?: ReactNode;
  className?: string | undefined;
};

/** Opens on mount. On unmount it closes and restores the focus. */
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
  const attachToasts = useAttachToasts();

  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const previousFocus = document.activeElement;
    element.showModal();
    const detachToasts = attachToasts(element);
    // React's autoFocus runs before showModal, which moves the focus again.
    element.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      detachToasts();
      element.close();
      // The browser does not restore the focus when an open dialog is removed from the page. If something else has
      // taken the focus by now, such as the log that Find has opened, leave it there.
      const { activeElement, body } = document;
      const isFree = activeElement === body || element.contains(activeElement);
      if (isFree && previousFocus instanceof HTMLElement && previousFocus.isConnected) previousFocus.focus();
    };
  }, [attachToasts]);

  return (
    <dialog
      ref={dialog}
      className={[styles.dialog, styles[placement], className].filter(Boolean).join(' ')}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // `cancel` also bubbles up from file inputs and nested dialogs.
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
  title: ReactNode;
  titleId: string;
  heading?: ReactNode;
  /** Null hides the close button. */
  onClose: (() => void) | null;
  children: ReactNode;
};

/** The content of a dialog: title, close button and children. */
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
