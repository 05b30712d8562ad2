/** Editor Font: three hands to write in, each shown in its own. */
import { useState } from 'react';
import { chooseEditorFont, storedEditorFont } from '#client/lib/session/preferences.ts';
import type { EditorFont } from '#client/lib/session/preferences.ts';
import { Section } from '#client/ui/page/page.tsx';
import { LockedOffer } from './upgrade-prompt.tsx';
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
        <p className={styles.text}>The page your words stand on. It changes how a log looks, never what is stored.</p>
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
        <LockedOffer id="font-lock" what="Closers write in the hand that suits them." onUpgrade={onUpgrade} />
      )}
    </Section>
  );
}
