/** A line under the empty page of today about the same day a month or some years ago (docs/specification/year.md 3). */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { nearestAnniversary } from '#domain/day/anniversaries.ts';
import type { Day } from '#domain/day/day.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import { summarizeLog } from '#domain/log/log-outline.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { entryQuery } from '#client/sync/entries/entry-queries.ts';
import { usePageValue, type PageText } from './use-page-value.ts';
import styles from './journal.module.css';

type EarlierDayProps = PageText & { date: Day };

export function EarlierDay({ date: today, ...page }: EarlierDayProps) {
  const { saver, editor: handle } = page;
  const isEmpty = usePageValue(page, () =>
    handle ? handle.editor.state.doc.textContent.trim() === '' : isEmptyLog(saver.text()),
  );
  const { data: dates } = useEntryDates();
  const earlier = useMemo(() => dates && nearestAnniversary(today, dates), [dates, today]);
  const { savers } = useJournal();
  // Their list is in the place of this line.
  const hasUnsavedDays = useSyncExternalStore(savers.subscribe, () =>
    savers.unsavedDays().some((day) => day !== today),
  );
  if (!isEmpty || !earlier || hasUnsavedDays) return null;
  return <EarlierLog key={earlier.date} {...earlier} today={today} />;
}

function EarlierLog({ date, label, today }: { date: Day; label: string; today: Day }) {
  const journal = useJournal();
  const premium = usePremium();
  const { profileState } = useSession();
  // Without an answer about the plan, the copy on this device is shown: it is deleted when the plan ends.
  const isPlanKnown = premium !== null || profileState === 'unavailable';
  const isClosed = premium === false && isLocked(date, false, today);
  const { data, isError } = useQuery({
    ...entryQuery(journal, date),
    enabled: isPlanKnown && !isClosed,
    refetchOnWindowFocus: false,
  });
  const isUnread = isClosed || (isError && !data);
  const summary = data?.stored ? summarizeLog(data.stored.html) : null;
  if (!isUnread && !summary) return null;
  return (
    <p className={styles.earlier}>
      <Link to={dayPath(date)}>
        <span>{label}: </span>
        {summary ? (
          <>
            <bdi>{summary.first}</bdi>
            {summary.more > 0 && <span> and {summary.more} more</span>}
          </>
        ) : (
          <span>you kept a log</span>
        )}
      </Link>
    </p>
  );
}
