/** One step within a panel. It takes the focus when it replaces another step, whose button has gone. */
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import styles from './security.module.css';

export function PanelView({ title, children }: { title?: string; children: ReactNode }) {
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A first field with the focus keeps it, and so does the button that has opened the panel.
    if (document.activeElement === document.body) view.current?.focus();
  }, []);
  return (
    <div ref={view} className={styles.view} tabIndex={-1} role="group" aria-label={title}>
      {title && <h3 className={styles.title}>{title}</h3>}
      {children}
    </div>
  );
}
