/** The layout of both legal pages. */
import type { ReactNode } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { Brand } from '#client/ui/page/brand.tsx';
import styles from './legal-page.module.css';

export type LegalSection = { id: string; title: string; body: ReactNode };

type LegalPageProps = { title: string; updated: ReactNode; intro: ReactNode; sections: readonly LegalSection[] };

export function LegalPage({ title, updated, intro, sections }: LegalPageProps) {
  return (
    <div className={styles.page} id="top">
      <header className={styles.top}>
        <a className={styles.back} href={ROUTES.landing.path}>
          <span aria-hidden="true">← </span>Back to <Brand />
        </a>
      </header>
      <main>
        <h1>{title}</h1>
        <p className={styles.updated}>{updated}</p>
        <div className={styles.intro}>{intro}</div>
        <nav className={styles.contents} aria-label="On this page">
          <ol>
            {sections.map((section) => (
              <li key={section.id}>
                <a href={`#${section.id}`}>{section.title}</a>
              </li>
            ))}
          </ol>
        </nav>
        {sections.map((section, index) => (
          <section key={section.id} id={section.id} className={styles.section}>
            <h2>
              <span className={styles.number}>{index + 1}.</span> {section.title}
            </h2>
            {section.body}
          </section>
        ))}
        <a className={styles.up} href="#top">
          <span aria-hidden="true">↑ </span>Back to top
        </a>
      </main>
      <footer className={styles.footer}>
        <hf-slot name="operator" />
        <p>
          <a href={ROUTES.terms.path}>Terms of Service</a> <a href={ROUTES.privacy.path}>Privacy Policy</a>{' '}
          <hf-slot name="contact" /> <hf-slot name="support" />
        </p>
      </footer>
    </div>
  );
}
