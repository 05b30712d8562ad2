/** The preview of an import, with the choice for days that differ. */
import { useId, useState } from 'react';
import { dateLabel, type Day } from '#domain/day/day.ts';
import { OWN_PROGRAM, type Choice, type Verdict } from '#domain/export/import-plan.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { countLocked, daysToWrite, type ImportPlan } from './import-run.ts';
import { pluralize } from '../pluralize.ts';
import { PictureList, SkippedLists } from './skipped-lists.tsx';
import common from '../settings.module.css';
import styles from './import.module.css';

const CHOICES: readonly { value: Choice; label: string; hint: string }[] = [
  { value: 'both', label: 'Keep both', hint: 'The file’s text is added below yours.' },
  { value: 'mine', label: 'Keep mine', hint: 'These days do not change.' },
  {
    value: 'file',
    label: 'Use the file’s',
    hint: 'The file’s text replaces yours, which stays as an earlier version.',
  },
];
/** Longer lists have only one choice for all days. */
const MAX_SINGLE_CHOICES = 100;

type ImportPlanViewProps = {
  plan: ImportPlan;
  onImport: (plan: ImportPlan, choiceOf: (date: Day) => Choice) => void;
  onCancel: () => void;
};

export function ImportPlanView({ plan, onImport, onCancel }: ImportPlanViewProps) {
  // Words from elsewhere are brought along; a copy of one's own logs may be older than they are.
  const [choice, setChoice] = useState<Choice>(plan.program === OWN_PROGRAM ? 'mine' : 'both');
  const [single, setSingle] = useState<ReadonlyMap<Day, Choice>>(new Map());
  const premium = usePremium();
  const today = useToday();
  const id = useId();
  const choiceOf = (date: Day): Choice => single.get(date) ?? choice;
  const count = (verdict: Verdict): number => plan.days.filter((one) => one.verdict === verdict).length;
  const differing = plan.days.filter((one) => one.verdict === 'differs');
  const dates = daysToWrite(plan, choiceOf);
  const locked = premium === false ? countLocked(dates, premium, today) : 0;

  return (
    <div className={styles.plan} role="group" aria-labelledby={id}>
      <div id={id} role="status" className={styles.found}>
        <p className={styles.headline}>
          {plan.program}: {pluralize(plan.days.length, 'day')}
        </p>
        <p className={common.text}>
          <Span plan={plan} /> Nothing has been imported yet.
        </p>
      </div>
      <dl className={styles.counts}>
        <Count of={count('new')} label="new, will be added" />
        <Count of={count('same')} label="identical, nothing to do" />
        <Count of={count('feedback')} label="identical, the feedback in the file will be added" />
        <Count of={differing.length} label="with a log of yours, see below" />
        <Count of={count('locked')} label="with a locked log of yours, which stays as it is" />
      </dl>
      {(plan.skipped.length > 0 || plan.days.some(({ day }) => day.pictures > 0)) && (
        <div className={styles.lists}>
          <SkippedLists skipped={plan.skipped} />
          <PictureList days={plan.days} />
        </div>
      )}
      {differing.length > 0 && (
        <fieldset className={common.choices}>
          <legend className={common.question}>For {pluralize(differing.length, 'day')} with a log of yours</legend>
          {CHOICES.map(({ value, label, hint }) => (
            <label key={value} className={common.choice}>
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
                <span className={common.hint}>{hint}</span>
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
      {locked > 0 && (
        <Notice kind="info">
          {locked.toLocaleString('en-US')} of these days {locked === 1 ? 'is' : 'are'} older than 30 days. We keep them
          for you: they are imported now and open when you become a Closer.
        </Notice>
      )}
      <div className={common.actions}>
        {dates.length > 0 ? (
          <Button tone="primary" onClick={() => onImport(plan, choiceOf)}>
            Import {pluralize(dates.length, 'Day')}
          </Button>
        ) : (
          <p className={common.text}>There is nothing to import.</p>
        )}
        <Button tone="text" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

/** From when to when. */
function Span({ plan: { days } }: { plan: ImportPlan }) {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return null;
  if (first === last) return <>{dateLabel(first.day.date)}.</>;
  return (
    <>
      From {dateLabel(first.day.date)} to {dateLabel(last.day.date)}.
    </>
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
