/** A section that sums itself up in a line until it is opened. */
import { useId, useState, type ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Section } from './page.tsx';
import styles from './folded-section.module.css';

type FoldedSectionProps = {
  title: string;
  summary: ReactNode;
  /** For a section that asks the user something. It stays open after the answer. */
  isAsking?: boolean;
  children: ReactNode;
};

export function FoldedSection({ title, summary, isAsking = false, children }: FoldedSectionProps) {
  const contentId = useId();
  const [chosen, setChosen] = useState<boolean | null>(null);
  // What was typed stays when the section is closed.
  const [wasOpened, setWasOpened] = useState(false);
  const isOpen = chosen ?? (isAsking || wasOpened);
  if (isOpen && !wasOpened) setWasOpened(true);
  const label = isOpen ? 'Close' : 'Change';
  return (
    <Section title={title}>
      <div className={styles.summary}>
        <div>{summary}</div>
        <Button
          aria-expanded={isOpen}
          aria-controls={wasOpened ? contentId : undefined}
          // Tells the buttons of the sections apart.
          aria-label={`${label}: ${title}`}
          onClick={() => setChosen(!isOpen)}
        >
          {label}
        </Button>
      </div>
      {wasOpened && (
        <div id={contentId} className={styles.content} hidden={!isOpen}>
          {children}
        </div>
      )}
    </Section>
  );
}
