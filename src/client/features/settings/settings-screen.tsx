/** Settings: export and the editor's font, both a Closer's. */
import { useState } from 'react';
import type { UpgradeFeature } from '#domain/upgrade.ts';
import { chooseEditorFont, storedEditorFont } from '#client/lib/preferences.ts';
import type { EditorFont } from '#client/lib/preferences.ts';
import { PlanWait } from '#client/ui/plan-wait.tsx';
import { usePremium } from '#client/lib/premium.ts';
import { useTitle } from '#client/lib/use-title.ts';
import { BackToJournal } from '#client/ui/back-to-journal.tsx';
import { Button } from '#client/ui/button.tsx';
import { LockedCrown } from '#client/ui/crown.tsx';
import { Page, Section } from '#client/ui/page.tsx';
import styles from './settings.module.css';

type SettingsScreenProps = { onUpgrade: (feature: UpgradeFeature) => void };

export function SettingsScreen({ onUpgrade }: SettingsScreenProps) {
  useTitle('Settings');
  const premium = usePremium();
  return (
    <Page title="Settings" back={<BackToJournal />}>
      {premium === null && <PlanWait />}
      <ExportCard premium={premium} onUpgrade={() => onUpgrade('export')} />
      <FontCard premium={premium} onUpgrade={() => onUpgrade('font-options')} />
    </Page>
  );
}

type CardProps = { premium: boolean | null; onUpgrade: () => void };

function ExportCard({ premium, onUpgrade }: CardProps) {
  return (
    <Section title="Export Data">
      <p className={styles.text}>All your logs in one plain text file, oldest first.</p>
      {/* There is nothing behind this button yet, and it says so rather than pretending. */}
      <Button disabled aria-describedby="export-note">
        Export All Entries
      </Button>
      {premium === true && (
        <p id="export-note" className={styles.note}>
          Export is not set up on this server yet. Your logs are safe, and nothing about them is lost by waiting.
        </p>
      )}
      {premium === false && <Locked id="export-note" onUpgrade={onUpgrade} />}
    </Section>
  );
}

const FONTS: readonly { value: EditorFont; label: string }[] = [
  { value: 'default', label: 'Sans-serif' },
  { value: 'serif', label: 'Serif' },
  { value: 'monospace', label: 'Monospace' },
];

function FontCard({ premium, onUpgrade }: CardProps) {
  const [chosen, setChosen] = useState(storedEditorFont);
  const shown = premium === false ? 'default' : chosen;
  return (
    <Section title="Editor Font">
      <fieldset className={styles.fonts} disabled={premium !== true}>
        <legend className={styles.legend}>Editor Font</legend>
        {FONTS.map(({ value, label }) => (
          <label key={value} className={styles.font}>
            <input
              type="radio"
              name="fontFamily"
              value={value}
              checked={shown === value}
              onChange={() => {
                setChosen(value);
                chooseEditorFont(value);
              }}
            />
            <span>
              {label}
              {value === 'default' && <span className={styles.note}> (default)</span>}
              <span className={styles.sample} data-font={value} aria-hidden="true">
                1. Shipped the thing I kept putting off
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      {premium === false && <Locked onUpgrade={onUpgrade} />}
    </Section>
  );
}

function Locked({ id, onUpgrade }: { id?: string; onUpgrade: () => void }) {
  return (
    <div className={styles.locked}>
      <p {...(id ? { id } : {})} className={`${styles.note} ${styles.closers}`}>
        <LockedCrown aria-hidden="true" /> Closers only
      </p>
      <Button tone="primary" onClick={onUpgrade}>
        Upgrade to Closer
      </Button>
    </div>
  );
}
