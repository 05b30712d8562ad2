/** A short word at the top of the page: it leaves by itself after five seconds, or when it is sent away. */
import { CircleAlert, CircleCheck, Info, X } from 'lucide-react';
import { createContext, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, IconButton } from './button.tsx';
import styles from './toast.module.css';

const TOAST_MS = 5_000;

export type Toast = {
  kind: 'success' | 'error' | 'info';
  text: string;
  /** What can be done about it. A word with such a button stays until somebody sends it away. */
  action?: { label: string; run: () => void };
};
type ShownToast = Toast & { id: number };

const ToastContext = createContext<((toast: Toast) => void) | null>(null);

/** Answers a function that shows a toast. */
export function useToast(): (toast: Toast) => void {
  const show = use(ToastContext);
  if (!show) throw new Error('useToast needs a ToastProvider above it');
  return show;
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<ShownToast[]>([]);
  const nextId = useRef(1);

  const show = useCallback((toast: Toast) => {
    const id = nextId.current++;
    // The same words twice in a row are one message, shown anew.
    setToasts((shown) => [...shown.filter((other) => other.text !== toast.text), { ...toast, id }].slice(-3));
  }, []);
  const dismiss = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);

  const of = useMemo(() => (isError: boolean) => toasts.filter(({ kind }) => (kind === 'error') === isError), [toasts]);
  return (
    <ToastContext value={show}>
      {children}
      {/* Both regions are always there: screen readers announce what is added to a region, not a region that is added. */}
      <div className={styles.region}>
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
      </div>
    </ToastContext>
  );
}

function ToastCard({ toast, onDismiss }: { toast: ShownToast; onDismiss: (id: number) => void }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    // While somebody reads with the pointer on it, or stands on its button, it stays (WCAG 2.2.1).
    if (held || toast.action) return;
    const timer = setTimeout(() => onDismiss(toast.id), TOAST_MS);
    return () => clearTimeout(timer);
  }, [held, onDismiss, toast.action, toast.id]);

  return (
    <div
      className={styles.toast}
      data-kind={toast.kind}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {toast.kind === 'success' && <CircleCheck aria-label="Done:" />}
      {toast.kind === 'info' && <Info aria-hidden />}
      {toast.kind === 'error' && <CircleAlert aria-label="Problem:" />}
      <p>{toast.text}</p>
      {toast.action && (
        <Button tone="text" onClick={toast.action.run}>
          {toast.action.label}
        </Button>
      )}
      <IconButton label="Dismiss" onClick={() => onDismiss(toast.id)}>
        <X aria-hidden />
      </IconButton>
    </div>
  );
}
