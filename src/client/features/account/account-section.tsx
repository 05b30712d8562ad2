/** A section of the profile page with one line of state. Its controls are loaded when it is opened. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Button } from '#client/ui/button.tsx';
import { useOpenChunk, type LazyChunk } from '#client/ui/lazy-chunk.ts';
import { Section } from '#client/ui/page/page.tsx';
import styles from './security.module.css';

export type PanelProps = {
  /** Closes the panel. */
  onClose: () => void;
  /** Hides the button that closes the panel, while closing it would lose something. */
  setClosable: (isClosable: boolean) => void;
};

type AccountSectionProps = {
  title: string;
  /** The state in a few words. */
  summary: ReactNode;
  /** The label of the button that opens the panel. */
  openLabel: string;
  panel: LazyChunk<PanelProps>;
  /** A link with this hash opens the panel. */
  hash?: string;
};

export function AccountSection({ title, summary, openLabel, panel, hash }: AccountSectionProps) {
  const panelId = useId();
  const openChunk = useOpenChunk();
  const [isOpen, setOpen] = useState(false);
  const [isClosable, setClosable] = useState(true);
  const toggle = (): void => (isOpen ? setOpen(false) : openChunk(panel, () => setOpen(true)));
  const summaryElement = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (hash === undefined) return;
    const show = (): void => {
      setOpen(true);
      summaryElement.current?.closest('section')?.scrollIntoView();
    };
    const openLinked = (): void => void (location.hash === hash && openChunk(panel, show, false));
    openLinked();
    addEventListener('hashchange', openLinked);
    return () => removeEventListener('hashchange', openLinked);
  }, [hash, openChunk, panel]);
  const label = isOpen ? 'Close' : openLabel;
  return (
    <Section title={title} isPart>
      <div ref={summaryElement} className={styles.summary}>
        <div>{summary}</div>
        {isClosable && (
          <Button
            aria-expanded={isOpen}
            aria-controls={isOpen ? panelId : undefined}
            // Tells the buttons of the sections apart.
            aria-label={`${label}: ${title}`}
            onClick={toggle}
          >
            {label}
          </Button>
        )}
      </div>
      {isOpen && (
        <div id={panelId} className={styles.panel}>
          <panel.View onClose={() => setOpen(false)} setClosable={setClosable} />
        </div>
      )}
    </Section>
  );
}
