/** The Editor Font card: three fonts, each with a sample. */
import { useState } from 'react';
import { chooseEditorFont, storedEditorFont, type EditorFont } from '#client/lib/session/preferences.ts';
import { Section } from '#client/ui/page/page.tsx';
import { UpgradePrompt } from './upgrade-prompt.tsx';
import styles from './settings.module.css';

const FONTS: readonly { value: EditorFont; label: string }[] = [
  { value: 'default', label: 'Sans-serif' },
  { value: 'serif', label: 'Serif' },
  { value: 'monospace', label: 'Monospace' },
];

export function FontCard({ premium, onUpgrade }: { premium: boolean | null; onUpgrade: () => void }) {
  const [chosen, setChosen] = useState(storedEditorFont);
  const shown = premium === false ? 'default' : chosen;
  return (
    <Section title="Editor Font" locked={premium === false}>
      <div className={styles.body} data-locked={premium === false || undefined}>
        <p className={styles.text}>Choose the font of the editor. Your logs do not change.</p>
        <fieldset className={styles.choices} disabled={premium !== true}>
          <legend className="unseen">Editor Font</legend>
          {FONTS.map(({ value, label }) => (
            <label key={value} className={styles.choice}>
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
                  1. Shipped what I put off
                </span>
              </span>
            </label>
          ))}
        </fieldset>
      </div>
      {premium === false && (
        <UpgradePrompt id="font-lock" text="Upgrade to Closer to choose the editor font." onUpgrade={onUpgrade} />
      )}
    </Section>
  );
}
