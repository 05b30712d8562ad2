/** The feedback sheet. On a wide screen it is non-modal beside the log; on a narrow one it is a modal overlay. */
import { useEffect, useId, useLayoutEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { DialogFrame } from '#client/ui/dialog.tsx';
import { useAttachToasts } from '#client/ui/toast.tsx';
import styles from './coach-panel.module.css';

/** The width at which log and sheet fit side by side; the same as in coach-panel.module.css. */
const WIDE = '(min-width: 66rem)';

function subscribeToWidth(listener: () => void): () => void {
  const query = matchMedia(WIDE);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

let isWide = false;
/** Printing changes the media width, so keep the last value while printing. */
const getIsWide = (): boolean => (isWide = matchMedia('print').matches ? isWide : matchMedia(WIDE).matches);

export const useIsWide = (): boolean => useSyncExternalStore(subscribeToWidth, getIsWide);

type CoachSheetProps = { title: string; onClose: () => void; children: ReactNode };

export function CoachSheet({ title, onClose, children }: CoachSheetProps) {
  const sheet = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const wide = useIsWide();
  const follow = useAttachToasts();

  // The cleanup of a layout effect runs before React removes the sheet, so it can tell whether the sheet has the focus.
  useLayoutEffect(() => {
    const element = sheet.current;
    if (!element) return;
    const previousFocus = document.activeElement;
    if (wide) element.show();
    else element.showModal();
    const unfollow = wide ? null : follow(element);
    return () => {
      unfollow?.();
      const hadFocus = element.contains(document.activeElement);
      element.close();
      // Focus restore, unless the user has moved to the log.
      if (hadFocus && previousFocus instanceof HTMLElement && previousFocus.isConnected) previousFocus.focus();
    };
  }, [follow, wide]);

  // A non-modal dialog gets no cancel event for Escape. The editor handles Escape itself.
  useEffect(() => {
    if (!wide) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog:modal')) return;
      const { activeElement } = document;
      if (!(activeElement instanceof HTMLElement && activeElement.isContentEditable)) onClose();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onClose, wide]);

  return (
    <dialog
      ref={sheet}
      className={styles.sheet}
      data-beside={wide}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (!wide && event.target === sheet.current) onClose();
      }}
    >
      <DialogFrame title={title} titleId={titleId} onClose={onClose}>
        {children}
      </DialogFrame>
    </dialog>
  );
}
