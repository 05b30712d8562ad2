/**
 * One step within a panel. It takes the focus if the focused button has disappeared, with a previous step or with a
 * removed row of a list.
 */
import { useEffect, useRef, type ReactNode } from 'react';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import styles from './security.module.css';

export function PanelView({ title, children }: { title?: string | undefined; children: ReactNode }) {
  const { fallbackRef, areaProps } = useFocusRestore();
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A first field with the focus keeps it, and so does the button that has opened the panel.
    if (document.activeElement === document.body) view.current?.focus();
  }, []);
  return (
    <div
      ref={(element) => {
        view.current = element;
        fallbackRef(element);
      }}
      className={styles.view}
      tabIndex={-1}
      role="group"
      aria-label={title}
      {...areaProps}
    >
      {title && <h3 className={styles.title}>{title}</h3>}
      {children}
    </div>
  );
}
