/** The preview of an import, with the choice for days that differ. */
import { useId, useState, type ReactNode } from 'react';
import { dateLabel, type Day } from '#domain/day/day.ts';
import { OWN_PROGRAM, type Choice, type Verdict } from '#domain/journals/import-plan.ts';
import { SKIP_REASONS, type Skipped, type SkipReason } from '#domain/journals/journal-reader.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { Button } from '#client/ui/button.tsx';
import { Choices } from '#client/ui/form/choices.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Buttons, Quiet } from '#client/ui/stack.tsx';
import { countLocked, daysToWrite, type ImportPlan, type PlannedDay } from './import-run.ts';
import { pluralize } from '../settings-parts.tsx';
import { Summary } from '#client/ui/page/folded-section.tsx';
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
  // The text of another program is added to the user's own by default. An export of this journal may be older than the
  // logs, so it changes none of them by default.
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
        <Quiet>
          <Span plan={plan} /> Nothing has been imported yet.
        </Quiet>
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
        <Choices
          legend={`For ${pluralize(differing.length, 'day')} with a log of yours`}
          isLegendShown
          name="importChoice"
          choices={CHOICES}
          chosen={choice}
          onChoose={(value) => {
            setChoice(value);
            setSingle(new Map());
          }}
        />
      )}
      {differing.length > 1 && differing.length <= MAX_SINGLE_CHOICES && (
        <details className={styles.details}>
          <Summary>Day by day</Summary>
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
          {locked === 1
            ? '1 of these days is older than 30 days. We keep it for you: it is imported now and opens when you become a Closer.'
            : `${locked.toLocaleString('en-US')} of these days are older than 30 days. We keep them for you: they are imported now and open when you become a Closer.`}
        </Notice>
      )}
      <Buttons>
        {dates.length > 0 ? (
          <Button tone="primary" onClick={() => onImport(plan, choiceOf)}>
            Import {pluralize(dates.length, 'Day')}
          </Button>
        ) : (
          <Quiet>There is nothing to import.</Quiet>
        )}
        <Button tone="text" onClick={onCancel}>
          Cancel
        </Button>
      </Buttons>
    </div>
  );
}

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

const MAX_LISTED = 200;
/** Up to this number, the entries that are left out are one list, which is open from the start. */
const MAX_OPEN = 5;

type LongListProps<Item> = {
  label: ReactNode;
  items: readonly Item[];
  children: (item: Item) => ReactNode;
  isOpen?: boolean;
};

function LongList<Item>({ label, items, children, isOpen = false }: LongListProps<Item>) {
  const [open, setOpen] = useState(isOpen);
  const rest = items.length - MAX_LISTED;
  return (
    <details className={styles.details} open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <Summary>{label}</Summary>
      {open && (
        <ul>
          {items.slice(0, MAX_LISTED).map((item, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- files may contain the same line several times
            <li key={index}>{children(item)}</li>
          ))}
          {rest > 0 && <li>and {rest.toLocaleString('en-US')} more</li>}
        </ul>
      )}
    </details>
  );
}

export function DayList({ days, label }: { days: readonly Day[]; label: string }) {
  if (days.length === 0) return null;
  return (
    <LongList label={`${pluralize(days.length, 'day')} ${label}`} items={days}>
      {(date) => <a href={`/journal?date=${date}`}>{dateLabel(date)}</a>}
    </LongList>
  );
}

const textOf = (source: string): string => (source === '' ? 'An entry without a date' : source);

/** One list if few entries are left out. Otherwise one list for each reason, the most frequent reason first. */
export function SkippedLists({ skipped }: { skipped: readonly Pick<Skipped, 'source' | 'reason'>[] }) {
  if (skipped.length === 0) return null;
  const isShort = skipped.length <= MAX_OPEN;
  if (isShort) {
    return (
      <LongList label={`${pluralize(skipped.length, 'entry', 'entries')} left out`} items={skipped} isOpen>
        {({ source, reason }) => (
          <>
            {textOf(source)}: {SKIP_REASONS[reason]}
          </>
        )}
      </LongList>
    );
  }
  const byReason = new Map<SkipReason, Pick<Skipped, 'source'>[]>();
  for (const one of skipped) {
    const ofReason = byReason.get(one.reason);
    if (ofReason) ofReason.push(one);
    else byReason.set(one.reason, [one]);
  }
  return [...byReason]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([reason, items]) => (
      <LongList
        key={reason}
        label={`${pluralize(items.length, 'entry', 'entries')} left out: ${SKIP_REASONS[reason]}`}
        items={items}
      >
        {({ source }) => textOf(source)}
      </LongList>
    ));
}

/** Logs are text: pictures, recordings and other attachments of these days stay in the other journal. */
function PictureList({ days }: { days: readonly PlannedDay[] }) {
  const withPictures = days.filter(({ day }) => day.pictures > 0);
  const count = withPictures.reduce((sum, { day }) => sum + day.pictures, 0);
  if (count === 0) return null;
  return (
    <LongList
      label={`${pluralize(count, 'picture or other attachment', 'pictures or other attachments')} left out`}
      items={withPictures}
    >
      {({ day: { date, pictures } }) => `${dateLabel(date)}: ${pictures.toLocaleString('en-US')}`}
    </LongList>
  );
}

/** Takes an import back. A click on the button first replaces it by a question. */
export function UndoButton({ days, onUndo }: { days: number; onUndo: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  if (!isAsking) return <Button onClick={() => setIsAsking(true)}>Undo Import</Button>;
  return (
    <div className={styles.question} role="group" aria-label="Undo this import">
      <p>
        Take back {pluralize(days, 'day')}? Added logs are deleted, replaced logs get their earlier text back. Logs that
        you changed since stay.
      </p>
      <Buttons>
        <Button tone="primary" autoFocus onClick={onUndo}>
          Undo {pluralize(days, 'Day')}
        </Button>
        <Button tone="text" onClick={() => setIsAsking(false)}>
          Keep them
        </Button>
      </Buttons>
    </div>
  );
}
