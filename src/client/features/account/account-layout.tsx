/** The page that all account forms stand on: the name, one headline, one sentence, one form. */
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { Brand } from '#client/ui/page/brand.tsx';
import styles from './account.module.css';

type AccountLayoutProps = { title: string; lead?: ReactNode; children?: ReactNode; footer?: ReactNode };

export function AccountLayout({ title, lead, children, footer }: AccountLayoutProps) {
  useTitle(title);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // A state that takes the place of a form takes the focus with it; a form's first field has taken it already.
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);

  return (
    <div className={styles.page}>
      <header className={styles.top}>
        {/* A document of its own, so a link and no route. */}
        <a className={styles.home} href="/">
          <Brand />
        </a>
      </header>
      <main className={styles.main}>
        <h1 ref={heading} className={styles.title} tabIndex={-1}>
          {title}
        </h1>
        {lead && <p className={styles.lead}>{lead}</p>}
        {children}
        {footer && <p className={styles.footer}>{footer}</p>}
      </main>
    </div>
  );
}
