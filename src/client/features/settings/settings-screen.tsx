/** The settings screen: import for every plan, export and editor font for premium users. */
import { useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { WEEK_STARTS } from '#domain/day/month.ts';
import { useSession } from '#client/lib/session/session.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { BackToJournal, Page, Section } from '#client/ui/page/page.tsx';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import {
  chooseEditorFont,
  storedEditorFont,
  chooseWeekStart,
  chosenWeekStart,
  type EditorFont,
} from '#client/lib/session/preferences.ts';
import { ExportCard } from './export/export-card.tsx';
import { ImportCard, ImportFrame } from './import/import-card.tsx';
import { UpgradePrompt } from './settings-parts.tsx';
import styles from './settings.module.css';

type SettingsScreenProps = {
  /** Saves all drafts; returns the days that could not be saved. */
  sendAll: () => Promise<readonly Day[]>;
};

export function SettingsScreen({ sendAll }: SettingsScreenProps) {
  useTitle('Settings');
  const premium = usePremium();
  const isLoading = useSession().profileState === 'loading';
  return (
    <Page title="Settings" back={<BackToJournal />}>
      {isLoading && <ImportFrame />}
      {premium === null && <PlanPlaceholder />}
      {/* The cards have other heights on each plan, so they would shift if they were visible before. */}
      <div hidden={isLoading}>
        {premium !== null && <ImportCard />}
        <ExportCard premium={premium} sendAll={sendAll} />
        <FontCard premium={premium} />
        <WeekCard />
      </div>
    </Page>
  );
}

const FONTS: readonly { value: EditorFont; label: string }[] = [
  { value: 'default', label: 'Sans-serif' },
  { value: 'serif', label: 'Serif' },
  { value: 'monospace', label: 'Monospace' },
];

/** The Editor Font card: three fonts, each with a sample. */
function FontCard({ premium }: { premium: boolean | null }) {
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
        <UpgradePrompt feature="font-options" id="font-lock" text="Upgrade to Closer to choose the editor font." />
      )}
    </Section>
  );
}

/** The Week card: the day on which the calendar's weeks begin. */
function WeekCard() {
  const [chosen, setChosen] = useState(chosenWeekStart);
  return (
    <Section title="Week">
      <div className={styles.body}>
        <p className={styles.text}>Choose the day on which the calendar and the year begin a week.</p>
        <fieldset className={styles.choices}>
          <legend className="unseen">Week</legend>
          {WEEK_STARTS.map((start) => (
            <label key={start} className={styles.choice}>
              <input
                type="radio"
                name="weekStart"
                value={start}
                checked={chosen === start}
                onChange={() => {
                  setChosen(start);
                  chooseWeekStart(start);
                }}
              />
              <span>
                {start}
                {start === 'Sunday' && <span className={styles.note}> (default)</span>}
              </span>
            </label>
          ))}
        </fieldset>
      </div>
    </Section>
  );
}
