/** An inline message about the outcome of an action. An icon and a colour show its kind. */
import CircleAlert from 'lucide-react/icons/circle-exclamation-point';
import CircleCheck from 'lucide-react/icons/circle-check';
import Info from 'lucide-react/icons/info';
import type { ReactNode } from 'react';
import styles from './notice.module.css';

const ICONS = { success: CircleCheck, error: CircleAlert, info: Info } as const;
const ROLES = { success: 'status', error: 'alert', info: undefined } as const;

export const NoticeButtons = ({ children }: { children: ReactNode }) => (
  <div className={styles.buttons}>{children}</div>
);

export function Notice({ kind, children }: { kind: keyof typeof ICONS; children: ReactNode }) {
  const Icon = ICONS[kind];
  return (
    <div className={styles.notice} data-kind={kind} role={ROLES[kind]}>
      <Icon aria-hidden />
      <div>{children}</div>
    </div>
  );
}
