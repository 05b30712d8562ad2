/** What replaces a premium screen on the free plan: what the feature is, and the upgrade. */
import type { ReactNode } from 'react';
import styles from './pitch.module.css';
import { LockedCrown } from './upgrade-button.tsx';

export const Pitch = ({ lead, children }: { lead: string | null; children: ReactNode }) => (
  <section className={styles.pitch}>
    <h2 className={styles.flag}>
      <LockedCrown aria-hidden="true" /> Premium Feature
    </h2>
    {lead !== null && <p className={styles.lead}>{lead}</p>}
    {children}
  </section>
);
