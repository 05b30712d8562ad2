/** The layout of the reviews, settings and profile screens: a back link, a heading and one column. */
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

/** A section with a heading. `locked` marks a section that the user's plan does not include. */
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
