/** The frame of the quiet pages beside the journal: a way back, a headline, one column. */
import type { ReactNode } from 'react';
import styles from './page.module.css';

export function Page({ title, back, children }: { title: string; back: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.page}>
      <header className={styles.top}>{back}</header>
      <main className={styles.main}>
        <h1 className={styles.title} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
    </div>
  );
}

/** A part of such a page: a rule, its name, and what is in it. */
export function Section({
  title,
  children,
  locked = false,
}: {
  title: ReactNode;
  children: ReactNode;
  locked?: boolean;
}) {
  return (
    <section className={styles.section} data-locked={locked || undefined}>
      <h2 className={styles.heading}>{title}</h2>
      <div className={styles.content}>{children}</div>
    </section>
  );
}
