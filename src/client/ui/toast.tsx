/** A short word at the top of the page: it leaves by itself after some seconds, or when it is sent away. */
import { CircleAlert, CircleCheck, Info, X } from 'lucide-react';
import { createContext, use, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { Button, IconButton } from './button.tsx';
import styles from './toast.module.css';

const TOAST_MS = 5_000;
/** A link or a button takes longer. Not for good: on a phone a toast covers the way to the menu. */
const LONG_TOAST_MS = 20_000;
/** A dialog often closes in the moment in which its outcome is said: the region must be in its new place before the words. */
const ANNOUNCE_DELAY_MS = 100;

export type Toast = {
  kind: 'success' | 'error' | 'info';
  text: string;
  /** What can be done about it. An error with such a button stays until somebody sends it away. */
  action?: { label: string; run: () => void };
  /** Follows the text. A toast with a link stays longer. */
  link?: { label: string; href: string };
};
type ShownToast = Toast & { id: number };

type Toasts = {
  show: (toast: Toast) => void;
  /** Takes what is said into a modal dialog that has opened; answers how to take it out again. */
  follow: (dialog: HTMLElement) => () => void;
};

const ToastContext = createContext<Toasts | null>(null);

function useToasts(): Toasts {
  const toasts = use(ToastContext);
  if (!toasts) throw new Error('toasts need a ToastProvider above them');
  return toasts;
}

/** Answers a function that shows a toast. */
export const useToast = (): Toasts['show'] => useToasts().show;

/** For dialogs: whatever is said while one lies over the page would otherwise lie below it, where nobody is. */
export const useAttachToasts = (): Toasts['follow'] => useToasts().follow;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<ShownToast[]>([]);
  const nextId = useRef(1);
  const { region, follow } = useRegion();

  const show = useCallback((toast: Toast) => {
    const id = nextId.current++;
    setTimeout(() => {
      // The same words twice in a row are one message, shown anew.
      setToasts((shown) => [...shown.filter((other) => other.text !== toast.text), { ...toast, id }].slice(-3));
    }, ANNOUNCE_DELAY_MS);
  }, []);
  const dismiss = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);

  const context = useMemo(() => ({ show, follow }), [follow, show]);
  const of = useMemo(() => (isError: boolean) => toasts.filter(({ kind }) => (kind === 'error') === isError), [toasts]);
  return (
    <ToastContext value={context}>
      {children}
      {createPortal(
        // Both are always there: screen readers announce what is added to a live region, not a region that is added.
        <>
          <div role="status">
            {of(false).map((toast) => (
              <ToastCard key={toast.id} toast={toast} onDismiss={dismiss} />
            ))}
          </div>
          <div role="alert">
            {of(true).map((toast) => (
              <ToastCard key={toast.id} toast={toast} onDismiss={dismiss} />
            ))}
          </div>
        </>,
        region,
      )}
    </ToastContext>
  );
}

/**
 * Where toasts are shown: one element, which moves. Everything outside of a modal dialog is inert, so what is said then
 * must be said inside of the topmost one; a popover, so that neither its edges nor its motion hold it.
 */
function useRegion() {
  const [region] = useState(() => {
    const element = document.createElement('div');
    element.className = styles.region ?? '';
    element.popover = 'manual';
    return element;
  });
  const dialogs = useRef<HTMLElement[]>([]);

  const place = useCallback(() => {
    (dialogs.current.at(-1) ?? document.body).append(region);
    // A move closes a popover. Browsers without them show it as any other element.
    if ('showPopover' in region) region.showPopover();
  }, [region]);

  useLayoutEffect(() => {
    place();
    return () => region.remove();
  }, [place, region]);

  const follow = useCallback(
    (dialog: HTMLElement) => {
      dialogs.current = [...dialogs.current, dialog];
      place();
      return () => {
        const wasOnTop = dialogs.current.at(-1) === dialog;
        dialogs.current = dialogs.current.filter((other) => other !== dialog);
        if (wasOnTop) place();
      };
    },
    [place],
  );
  return { region, follow };
}

function ToastCard({ toast, onDismiss }: { toast: ShownToast; onDismiss: (id: number) => void }) {
  const card = useRef<HTMLDivElement>(null);
  const cameFrom = useRef<Element>(null);
  const dismiss = (): void => {
    // A removed button would leave keyboard users at the start of the page, or outside of the open dialog.
    if (card.current?.contains(document.activeElement)) (cameFrom.current as HTMLElement | null)?.focus();
    onDismiss(toast.id);
  };
  const [arrived, setArrived] = useState(false);
  useEffect(() => {
    // What an error offers is the way on; what a success offers, such as Undo, can be done in another way.
    if (toast.action && toast.kind === 'error') return;
    const timer = setInterval(
      () => {
        // While somebody reads with the pointer on it, or stands on its button, it stays (WCAG 2.2.1).
        if (!card.current?.matches(':hover, :focus-within')) onDismiss(toast.id);
      },
      toast.link || toast.action ? LONG_TOAST_MS : TOAST_MS,
    );
    return () => clearInterval(timer);
  }, [onDismiss, toast.action, toast.id, toast.kind, toast.link]);

  return (
    <div
      ref={card}
      className={styles.toast}
      data-kind={toast.kind}
      data-arrived={arrived}
      onAnimationEnd={() => setArrived(true)}
      onFocus={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget)) cameFrom.current = relatedTarget;
      }}
    >
      {toast.kind === 'success' && <CircleCheck aria-label="Done:" />}
      {toast.kind === 'info' && <Info aria-hidden />}
      {toast.kind === 'error' && <CircleAlert aria-label="Problem:" />}
      <div className={styles.words}>
        <p>{toast.text}</p>
        {toast.link && <a href={toast.link.href}>{toast.link.label}</a>}
      </div>
      {toast.action && (
        <Button
          tone="text"
          onClick={() => {
            dismiss();
            toast.action?.run();
          }}
        >
          {toast.action.label}
        </Button>
      )}
      <IconButton label="Dismiss" onClick={dismiss}>
        <X aria-hidden />
      </IconButton>
    </div>
  );
}
