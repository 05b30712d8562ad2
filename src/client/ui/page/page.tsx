/** The layout of most screens beside the journal: a back link, a heading and one column. */
import type { ReactNode } from 'react';
import ArrowLeft from 'lucide-react/icons/arrow-left';
import { ROUTES } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import styles from './page.module.css';

export function Page({ title, back, children }: { title: ReactNode; back: ReactNode; children: ReactNode }) {
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

type SectionProps = {
  title: ReactNode;
  children: ReactNode;
  /** Marks a section that the user's plan does not include. */
  locked?: boolean;
  /** A subsection: its heading is an `h3`. */
  isPart?: boolean;
};

export function Section({ title, children, locked = false, isPart = false }: SectionProps) {
  const Heading = isPart ? 'h3' : 'h2';
  return (
    <section className={isPart ? styles.part : styles.section} data-locked={locked || undefined}>
      <Heading className={styles.heading}>{title}</Heading>
      <div className={styles.content}>{children}</div>
    </section>
  );
}

export function BackToJournal() {
  return (
    <Link to={ROUTES.journal.path}>
      <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> Back to Journal
    </Link>
  );
}
