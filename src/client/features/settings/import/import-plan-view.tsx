/** What an import would do, before it does it, and the choice for the days that differ. */
import { useId, useState } from 'react';
import { dateLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { Choice } from '#domain/export/import-plan.ts';
import { Button } from '#client/ui/button.tsx';
import { daysToWrite } from './import-run.ts';
import type { ImportPlan } from './import-run.ts';
import { counted } from '../pluralize.ts';
import { RefusedDays } from './refused-days.tsx';
import styles from '../settings.module.css';

const CHOICES: readonly { value: Choice; label: string; what: string }[] = [
  { value: 'mine', label: 'Keep mine', what: 'The file’s version of these days is left out.' },
  { value: 'file', label: 'Take the file’s', what: 'Your version of these days is replaced.' },
  { value: 'both', label: 'Keep both', what: 'The file’s words are added below yours.' },
];
/** More are decided together: nobody goes through a longer list by hand. */
const LISTED = 100;

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
        <strong>{plan.name}</strong> holds {counted(plan.days.length + plan.refused.length, 'day')}. Nothing is written
        yet.
      </p>
      <dl className={styles.counts}>
        <Count of={count('new')} what="new: they will be added" />
        <Count of={count('same')} what="the same as yours already" />
        <Count of={count('feedback')} what="the same as yours: the feedback in the file will be added" />
        <Count of={differing.length} what="not the same as yours" />
        <Count of={plan.refused.length} what="left out, for the reasons below" />
      </dl>
      <RefusedDays refused={plan.refused} />
      {differing.length > 0 && (
        <fieldset className={styles.choices}>
          <legend className={styles.question}>For the days that are not the same</legend>
          {CHOICES.map(({ value, label, what }) => (
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
                <span className={styles.hint}>{what}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {differing.length > 1 && differing.length <= LISTED && (
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
            Import {counted(toWrite, 'Day')}
          </Button>
        ) : (
          <p className={styles.text}>There is nothing to write.</p>
        )}
        <Button onClick={onOther}>Choose Another File</Button>
        <Button tone="text" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

function Count({ of, what }: { of: number; what: string }) {
  if (of === 0) return null;
  return (
    <div>
      <dt>{of.toLocaleString('en-US')}</dt>
      <dd>{what}</dd>
    </div>
  );
}
