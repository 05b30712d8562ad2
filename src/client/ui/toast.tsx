/**
 * Toasts: short messages at the top of the page. They disappear after some seconds, except an error with a button,
 * which the user dismisses.
 */
import CircleAlert from 'lucide-react/icons/circle-exclamation-point';
import CircleCheck from 'lucide-react/icons/circle-check';
import Info from 'lucide-react/icons/info';
import X from 'lucide-react/icons/x';
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { createPortal } from 'react-dom';
import { Button, IconButton } from './button.tsx';
import styles from './toast.module.css';

const TOAST_MS = 5_000;
/** For a toast with a link or a button. Not longer, because a toast covers the page. */
const LONG_TOAST_MS = 20_000;
/**
 * A dialog often closes as its toast is shown, and the live region then moves out of the dialog. Screen readers
 * announce only text that is added after the move, so the toast waits for it.
 */
const ANNOUNCE_DELAY_MS = 100;

export type Toast = {
  kind: 'success' | 'error' | 'info';
  text: string;
  /** A toast replaces the earlier one of its topic, whose button is stale. A toast about a log has its day as topic. */
  topic?: string;
  action?: { label: string; run: () => void };
  /** Shown after the text. A toast with a link stays longer. */
  link?: { label: string; href: string };
};
type ShownToast = Toast & { id: number };

/** The action of an error is the only way forward. Other actions, such as Undo, are optional. */
const isLasting = ({ kind, action }: Toast): boolean => kind === 'error' && action !== undefined;

type Toasts = {
  show: (toast: Toast) => void;
  /** Moves the toasts into an opened modal dialog. Returns a function that moves them out. */
  attach: (dialog: HTMLElement) => () => void;
  clear: () => void;
};

const ToastContext = createContext<Toasts | null>(null);

function useToasts(): Toasts {
  const toasts = use(ToastContext);
  if (!toasts) throw new Error('useToasts needs a ToastProvider above it');
  return toasts;
}

/** Returns a function that shows a toast. */
export const useToast = (): Toasts['show'] => useToasts().show;

/** For modal dialogs, which would otherwise cover the toasts and make them inert. */
export const useAttachToasts = (): Toasts['attach'] => useToasts().attach;

/**
 * Removes the toasts of a user whose session is replaced. Threat: a toast that quotes text or names days of the
 * previous user stays on the screen of the next one.
 */
export function useClearToastsOf(userId: string | undefined): void {
  const { clear } = useToasts();
  useEffect(() => (userId === undefined ? undefined : clear), [clear, userId]);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<ShownToast[]>([]);
  const nextId = useRef(1);
  const { region, attach } = useRegion();

  const show = useCallback((toast: Toast) => {
    const id = nextId.current++;
    const { text, topic } = toast;
    const withoutReplaced = (shown: ShownToast[]): ShownToast[] =>
      shown.filter((other) => other.text !== text && (topic === undefined || other.topic !== topic));
    setToasts(withoutReplaced);
    setTimeout(() => {
      setToasts((shown) => {
        const all = [...withoutReplaced(shown), { ...toast, id }];
        return all.filter((one, index) => isLasting(one) || index >= all.length - 3);
      });
    }, ANNOUNCE_DELAY_MS);
  }, []);
  const dismiss = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);

  const clear = useCallback(() => setToasts([]), []);

  const context = useMemo(() => ({ show, attach, clear }), [attach, clear, show]);
  const filterToasts = useMemo(
    () => (isError: boolean) => toasts.filter(({ kind }) => (kind === 'error') === isError),
    [toasts],
  );
  return (
    <ToastContext value={context}>
      {children}
      {createPortal(
        // Both regions are always mounted: screen readers announce changes in a live region, not a new region.
        <>
          <div role="status">
            {filterToasts(false).map((toast) => (
              <ToastCard key={toast.id} toast={toast} onDismiss={dismiss} />
            ))}
          </div>
          <div role="alert">
            {filterToasts(true).map((toast) => (
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
 * The element that contains the toasts. Everything outside a modal dialog is inert, so the region moves into the
 * topmost dialog. It is a popover, so that the dialog neither clips nor transforms it.
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
    // Moving a popover closes it. Browsers without popovers render it as a normal element.
    if ('showPopover' in region) region.showPopover();
  }, [region]);

  useLayoutEffect(() => {
    place();
    return () => region.remove();
  }, [place, region]);

  const attach = useCallback(
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
  return { region, attach };
}

function ToastCard({ toast, onDismiss }: { toast: ShownToast; onDismiss: (id: number) => void }) {
  const card = useRef<HTMLDivElement>(null);
  const previousFocus = useRef<Element>(null);
  const dismiss = (): void => {
    // Restore the focus: removing the focused button would move it to the start of the page or out of the dialog.
    if (card.current?.contains(document.activeElement)) (previousFocus.current as HTMLElement | null)?.focus();
    onDismiss(toast.id);
  };
  const [hasArrived, setHasArrived] = useState(false);
  useEffect(() => {
    if (isLasting(toast)) return;
    const timer = setInterval(
      () => {
        // Keep the toast while the pointer or the focus is on it (WCAG 2.2.1).
        if (!card.current?.matches(':hover, :focus-within')) onDismiss(toast.id);
      },
      toast.link || toast.action ? LONG_TOAST_MS : TOAST_MS,
    );
    return () => clearInterval(timer);
  }, [onDismiss, toast]);

  return (
    <div
      ref={card}
      className={styles.toast}
      data-kind={toast.kind}
      data-arrived={hasArrived}
      onAnimationEnd={() => setHasArrived(true)}
      onFocus={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget)) previousFocus.current = relatedTarget;
      }}
    >
      {toast.kind === 'success' && <CircleCheck aria-label="Done:" />}
      {toast.kind === 'info' && <Info aria-hidden />}
      {toast.kind === 'error' && <CircleAlert aria-label="Problem:" />}
      <div className={styles.content}>
        <div className={styles.text}>
          <p>{toast.text}</p>
          {toast.link && <a href={toast.link.href}>{toast.link.label}</a>}
        </div>
        <div className={styles.buttons}>
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
      </div>
    </div>
  );
}
