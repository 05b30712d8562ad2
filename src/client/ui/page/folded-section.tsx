/** Sections and `details` that show one summary line until the user opens them. */
import { useId, useState, type ComponentProps, type ReactNode, type Ref } from 'react';
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
  // A section that was opened stays rendered, so its fields keep their text.
  const [wasOpened, setWasOpened] = useState(false);
  const isOpen = chosen ?? (isAsking || wasOpened);
  if (isOpen && !wasOpened) setWasOpened(true);
  const label = isOpen ? 'Close' : 'Change';
  return (
    <Section title={title}>
      <SummaryLine
        label={label}
        name={`${label}: ${title}`}
        isOpen={isOpen}
        contentId={wasOpened ? contentId : undefined}
        onToggle={() => setChosen(!isOpen)}
      >
        {summary}
      </SummaryLine>
      {wasOpened && (
        <div id={contentId} className={styles.content} hidden={!isOpen}>
          {children}
        </div>
      )}
    </Section>
  );
}

type SummaryLineProps = {
  ref?: Ref<HTMLDivElement>;
  /** The button's text. */
  label: string;
  /** The button's accessible name, which tells the buttons of the sections apart. */
  name: string;
  isOpen: boolean;
  /** The id of what the button opens; undefined while it is not in the page. */
  contentId: string | undefined;
  /** Null: there is no button. */
  onToggle: (() => void) | null;
  children: ReactNode;
};

/** A section's summary line, with the button that opens and closes the section. */
export const SummaryLine = ({ ref, label, name, isOpen, contentId, onToggle, children }: SummaryLineProps) => (
  <div ref={ref} className={styles.line}>
    <div>{children}</div>
    {onToggle && (
      <Button aria-expanded={isOpen} aria-controls={contentId} aria-label={name} onClick={onToggle}>
        {label}
      </Button>
    )}
  </div>
);

/** The `summary` of a `details` element, with a chevron. */
export const Summary = (props: Omit<ComponentProps<'summary'>, 'className'>) => (
  <summary {...props} className={styles.summary} />
);
