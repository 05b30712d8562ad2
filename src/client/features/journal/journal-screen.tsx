/** The journal: the bar with the day, and the page of the day. */
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { addDays, canOpenDay, dayLabel, FIRST_DAY, isBefore, type Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { DayBar } from './day/day-bar.tsx';
import { DayView } from './day/day-view.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryQuery } from '#client/sync/entries/entry-queries.ts';
import { ProfileGate } from './profile-gate.tsx';
import styles from './journal.module.css';
import { useOpenDay } from './day/use-open-day.ts';
import { UnsavedDays } from './day/unsaved-days.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const PageBehaviour = lazy(() =>
  import('./page-behaviour.tsx').then(
    (module) => ({ default: module.PageBehaviour }),
    // Best effort: the page works without it.
    () => ({ default: () => null }),
  ),
);

type JournalScreenProps = {
  onOpen: (overlay: 'menu' | 'day' | 'calendar' | 'find' | 'move', date: Day | null) => void;
  onOpenFeedback: (date: Day) => void;
  onUpgrade: (feature: UpgradeFeature) => void;
};

export function JournalScreen({ onOpen, onOpenFeedback, onUpgrade }: JournalScreenProps) {
  const today = useToday();
  const premium = usePremium();
  const { profileState } = useSession();
  // An unavailable plan counts as the free one here, so the journal opens without waiting.
  const { date, datesWithEntries, open, replaceInitial } = useOpenDay(
    today,
    profileState === 'unavailable' ? false : premium,
  );
  const locked = date && isDayLocked(date, premium, today);
  const travel = useTravel(date);
  const page = useRef<HTMLDivElement>(null);
  usePrefetch(date, today, premium === true);

  const nextDay = date && addDays(date, 1);
  const hasNext = nextDay !== null && canOpenDay(nextDay, today, datesWithEntries.includes(nextDay));
  const previous = (): void => void (date && date !== FIRST_DAY && open(addDays(date, -1)));
  const next = (): void => void (hasNext && open(nextDay));
  useShortcuts({
    previous,
    next,
    today: () => open(today),
    calendar: () => onOpen('calendar', date),
    move: () => void (date && onOpen('move', date)),
    find: () => onOpen('find', date),
  });

  useEffect(() => {
    if (date) document.title = `${dayLabel(date)} · Hustle Forge`;
  }, [date]);

  return (
    <div className={styles.journal} ref={page}>
      <DayBar
        date={date}
        today={today}
        onPrevious={previous}
        onNext={hasNext ? next : null}
        onToday={() => open(today)}
        onOpen={(overlay) => onOpen(overlay, date)}
        onOpenFeedback={() => void (date && onOpenFeedback(date))}
      />
      <main className={styles.page} data-travel={travel}>
        <ProfileGate isReady={date !== null && locked !== null}>
          {date !== null && locked !== null && (
            <DayView
              key={date}
              date={date}
              today={today}
              locked={locked}
              onUpgrade={() => onUpgrade('historical-logs')}
              isFirstLog={datesWithEntries.length === 0}
            />
          )}
        </ProfileGate>
        {date !== null && <UnsavedDays except={date} onOpenDay={open} />}
      </main>
      {date !== null && (
        <Suspense>
          <PageBehaviour page={page} date={date} onReturn={replaceInitial} onGoBack={open} />
        </Suspense>
      )}
    </div>
  );
}

/** Null while the plan is unknown. Every plan opens the last 30 days, so these need no profile. */
function isDayLocked(date: Day, premium: boolean | null, today: Day): boolean | null {
  if (!isLocked(date, false, today)) return false;
  return premium === null ? null : isLocked(date, premium, today);
}

/** The direction of the last day change, for the slide animation; undefined for the first day. */
function useTravel(date: Day | null): 'back' | 'forward' | undefined {
  const [travel, setTravel] = useState({ to: date, way: undefined as 'back' | 'forward' | undefined });
  if (date !== travel.to) {
    const way = date === null || travel.to === null ? undefined : isBefore(date, travel.to) ? 'back' : 'forward';
    setTravel({ to: date, way });
  }
  return travel.way;
}

/** Prefetches today before the profile is known, then the unlocked neighbours of the open day. */
function usePrefetch(date: Day | null, today: Day, premium: boolean): void {
  const queries = useQueryClient();
  const journal = useJournal();
  const [first] = useState(today);
  useEffect(() => void queries.prefetchQuery(entryQuery(journal, first)), [first, queries, journal]);
  useEffect(() => {
    if (date === null) return;
    for (const day of [addDays(date, -1), addDays(date, 1)]) {
      const isOpen = day >= FIRST_DAY && day <= today && !isLocked(day, premium, today);
      if (isOpen) void queries.prefetchQuery(entryQuery(journal, day));
    }
  }, [date, premium, queries, today, journal]);
}
