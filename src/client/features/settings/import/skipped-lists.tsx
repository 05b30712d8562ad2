/** Lists of the days of an outcome, and of the entries left out. They can be long, so they render when opened. */
import { useState, type ReactNode } from 'react';
import { SKIP_REASONS, type Skipped, type SkipReason } from '#domain/journals/journal-reader.ts';
import { dateLabel, type Day } from '#domain/day/day.ts';
import { pluralize } from '../pluralize.ts';
import type { PlannedDay } from './import-run.ts';
import styles from './import.module.css';

const MAX_LISTED = 200;
/** A shorter list of reasons is open from the start. */
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
      <summary>{label}</summary>
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

/** Links to the days. */
export function DayList({ days, label }: { days: readonly Day[]; label: string }) {
  if (days.length === 0) return null;
  return (
    <LongList label={`${pluralize(days.length, 'day')} ${label}`} items={days}>
      {(date) => <a href={`/journal?date=${date}`}>{dateLabel(date)}</a>}
    </LongList>
  );
}

const textOf = (source: string): string => (source === '' ? 'An entry without a date' : source);

/** One list for each reason, the most frequent one first. */
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
export function PictureList({ days }: { days: readonly PlannedDay[] }) {
  const withPictures = days.filter(({ day }) => day.pictures > 0);
  const count = withPictures.reduce((sum, { day }) => sum + day.pictures, 0);
  if (count === 0) return null;
  return (
    <LongList label={`${pluralize(count, 'picture')} and other attachments left out`} items={withPictures}>
      {({ day: { date, pictures } }) => `${dateLabel(date)}: ${pictures.toLocaleString('en-US')}`}
    </LongList>
  );
}
