/** The preview of an import, with the choice for days that differ. */
import { useId, useState } from 'react';
import { dateLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { Choice } from '#domain/export/import-plan.ts';
import { Button } from '#client/ui/button.tsx';
import { daysToWrite } from './import-run.ts';
import type { ImportPlan } from './import-run.ts';
import { pluralize } from '../pluralize.ts';
import { RefusedDays } from './refused-days.tsx';
import styles from '../settings.module.css';

const CHOICES: readonly { value: Choice; label: string; hint: string }[] = [
  { value: 'mine', label: 'Keep mine', hint: 'These days do not change.' },
  { value: 'file', label: 'Use the file’s', hint: 'The file’s version replaces yours.' },
  { value: 'both', label: 'Keep both', hint: 'The file’s text is added below yours.' },
];
/** Longer lists have only one choice for all days. */
const MAX_SINGLE_CHOICES = 100;

type ImportPlanViewProps = {
  plan: ImportPlan;
  onImport: (plan: ImportPlan, choiceOf: (date: Day) => Choice) => void;
  onOther: () => void;
  onCancel: () => void;
};

export function ImportPlanView({ plan, onImport, onOther, onCancel }: ImportPlanViewProps) {
  const [choice, setChoice] = useState<Choice>('mine');
  const [single, setSingle] = useState<ReadonlyMap<Day, Choice>>(new Map());
  const id = useId();
  const choiceOf = (date: Day): Choice => single.get(date) ?? choice;
  const count = (verdict: string): number => plan.days.filter((one) => one.verdict === verdict).length;
  const differing = plan.days.filter((one) => one.verdict === 'differs');
  const toWrite = daysToWrite(plan, choiceOf);

  return (
    <div className={styles.plan} role="group" aria-labelledby={id}>
      <p id={id} className={styles.file} role="status">
        <strong>{plan.name}</strong> contains {pluralize(plan.days.length + plan.refused.length, 'day')}. Nothing has
        been imported yet.
      </p>
      <dl className={styles.counts}>
        <Count of={count('new')} label="new, will be added" />
        <Count of={count('same')} label="identical, nothing to do" />
        <Count of={count('feedback')} label="identical, the feedback in the file will be added" />
        <Count of={differing.length} label="different from yours" />
        <Count of={plan.refused.length} label="skipped, see the reasons below" />
      </dl>
      <RefusedDays refused={plan.refused} />
      {differing.length > 0 && (
        <fieldset className={styles.choices}>
          <legend className={styles.question}>For days that are different</legend>
          {CHOICES.map(({ value, label, hint }) => (
            <label key={value} className={styles.choice}>
              <input
                type="radio"
                name="importChoice"
                value={value}
                checked={choice === value}
                onChange={() => {
                  setChoice(value);
                  setSingle(new Map());
                }}
              />
              <span>
                {label}
                <span className={styles.hint}>{hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {differing.length > 1 && differing.length <= MAX_SINGLE_CHOICES && (
        <details className={styles.details}>
          <summary>Day by day</summary>
          <ul>
            {differing.map(({ day: { date } }) => (
              <li key={date}>
                <label className={styles.single}>
                  {dateLabel(date)}
                  <select
                    value={choiceOf(date)}
                    onChange={(event) => setSingle(new Map(single).set(date, event.currentTarget.value as Choice))}
                  >
                    {CHOICES.map(({ value, label }) => (
                      <option key={value} value={value}>
                        {label}
                      </option>
                    ))}
                  </select>
                </label>
              </li>
            ))}
          </ul>
        </details>
      )}
      <div className={styles.actions}>
        {toWrite > 0 ? (
          <Button tone="primary" onClick={() => onImport(plan, choiceOf)}>
            Import {pluralize(toWrite, 'Day')}
          </Button>
        ) : (
          <p className={styles.text}>There is nothing to import.</p>
        )}
        <Button onClick={onOther}>Choose Another File</Button>
        <Button tone="text" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

function Count({ of, label }: { of: number; label: string }) {
  if (of === 0) return null;
  return (
    <div>
      <dt>{of.toLocaleString('en-US')}</dt>
      <dd>{label}</dd>
    </div>
  );
}
