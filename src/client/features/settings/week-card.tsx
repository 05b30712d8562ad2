/** The Week card: the day on which the calendar's weeks begin. */
import { useState } from 'react';
import { WEEK_STARTS } from '#domain/day/month.ts';
import { chooseWeekStart, chosenWeekStart } from '#client/lib/session/preferences.ts';
import { Section } from '#client/ui/page/page.tsx';
import styles from './settings.module.css';

export function WeekCard() {
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
