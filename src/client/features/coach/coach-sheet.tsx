/**
 * The sheet that the coach speaks on. On a wide screen it stands beside the log, which can be read and written on
 * meanwhile; on a narrow one it lies over the whole page, as every other sheet does.
 */
import { useEffect, useId, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { DialogFrame } from '#client/ui/dialog.tsx';
import { useAttachToasts } from '#client/ui/toast.tsx';
import styles from './coach-sheet.module.css';

/** Where the log keeps its measure beside the sheet; coach-sheet.module.css says the same. */
const WIDE = '(min-width: 66rem)';

function subscribeToWidth(listener: () => void): () => void {
  const query = matchMedia(WIDE);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

let isWide = false;
/** Paper has a width of its own, and a sheet that stood beside the log is no other one for being printed. */
const wideNow = (): boolean => (isWide = matchMedia('print').matches ? isWide : matchMedia(WIDE).matches);

export const useWide = (): boolean => useSyncExternalStore(subscribeToWidth, wideNow);

type CoachSheetProps = { title: string; onClose: () => void; children: ReactNode };

export function CoachSheet({ title, onClose, children }: CoachSheetProps) {
  const sheet = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const wide = useWide();
  const follow = useAttachToasts();

  // A layout effect is cleaned up while the sheet is still in the page, and so knows whether the focus is in it.
  useLayoutEffect(() => {
    const element = sheet.current;
    if (!element) return;
    const cameFrom = document.activeElement;
    if (wide) element.show();
    else element.showModal();
    const leave = wide ? null : follow(element);
    return () => {
      leave?.();
      const held = element.contains(document.activeElement);
      element.close();
      // Somebody who went on writing beside it keeps the caret.
      if (held && cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus();
    };
  }, [follow, wide]);

  // Beside the log the browser hears no Escape for it. In the editor the key has a meaning of its own.
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
