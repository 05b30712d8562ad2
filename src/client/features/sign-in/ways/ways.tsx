/** The frame around the buttons of the other ways to sign in. */
import type { ReactNode } from 'react';
import styles from './sign-in-ways.module.css';

export function Ways({ children }: { children: ReactNode }) {
  return (
    <section className={styles.ways} aria-label="Other ways to sign in">
      <p className={styles.or} aria-hidden="true">
        or
      </p>
      {children}
    </section>
  );
}
