/** The journal: the bar with the day, and the page of the day. */
import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, useState, useEffectEvent, type ReactNode } from 'react';
import { addDays, canOpenDay, dayLabel, FIRST_DAY, isBefore, isDay, type Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { initialDay } from '#domain/day/current-day.ts';
import { ROUTES, dayPath } from '#domain/routes.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryQuery } from '#client/sync/entries/entry-queries.ts';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { lazyChunk, tryLoad } from '#client/ui/lazy-chunk.ts';
import { useNavigate, useSearchParam } from '#client/lib/navigation.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { shortcutOf, takeEarlyShortcut, type JournalAction } from '#client/lib/keys.ts';
import { DayBar } from './day/day-bar.tsx';
import { DayView } from './day/day-view.tsx';
import { UnsavedDays } from './day/save-status-line.tsx';
import styles from './journal.module.css';

const pageBehaviour = lazyChunk(
  async () => (await import('./page-behaviour.tsx')).PageBehaviour,
  // Best effort: the page works without it.
  () => null,
);

type JournalScreenProps = {
  onOpen: (overlay: 'menu' | 'day' | 'calendar' | 'find' | 'move', date: Day | null) => void;
  onOpenFeedback: (date: Day) => void;
};

export function JournalScreen({ onOpen, onOpenFeedback }: JournalScreenProps) {
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

  // Null: the early page has no log to show, and would show a skeleton alone. This screen replaces it at once, because
  // it also says what it waits for.
  useDismissEarlyPage(globalThis.hustleForgeEarlyPage?.log === null);

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
            <DayView key={date} date={date} today={today} locked={locked} isFirstLog={datesWithEntries.length === 0} />
          )}
        </ProfileGate>
        {date !== null && <UnsavedDays except={date} onOpenDay={open} />}
      </main>
      {date !== null && (
        <Suspense>
          <pageBehaviour.LoadingView page={page} date={date} onReturn={replaceInitial} onGoBack={open} />
        </Suspense>
      )}
    </div>
  );
}

/** Null for an older day while the plan is unknown. Every plan opens the last 30 days, so these need no profile. */
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

/** A chunk of its own, because most pages never show the notice. */
const planNotice = lazyChunk(async () => (await import('./plan-notice.tsx')).PlanNotice);

const OPENS_LATER = 'This day opens as soon as your plan is known.';

/**
 * A missing or unavailable profile adds a notice and does not replace the day. The notice appears late, so it is below
 * the day: above it would shift the text while the user writes. Without a profile row the free plan applies; without an
 * answer only days of the free plan are shown. The styles hide the notice below a day that is loading or not loaded.
 */
function ProfileGate({ isReady, children }: { isReady: boolean; children: ReactNode }) {
  const { profileState } = useSession();
  const [, setHasNotice] = useState(false);
  const isUnknown = profileState === 'missing' || profileState === 'unavailable';
  const isWaiting = !isReady && profileState === 'unavailable';
  useEffect(() => {
    // Best effort: the plan is requested again without the notice, too.
    if (isUnknown) void tryLoad(planNotice.load).then(setHasNotice);
  }, [isUnknown]);
  return (
    <>
      {isReady && children}
      {isUnknown && <planNotice.View waiting={isWaiting ? OPENS_LATER : null} />}
      {isWaiting && !planNotice.isLoaded() && (
        <p className={styles.plan} role="status">
          {OPENS_LATER}
        </p>
      )}
      {!isReady && profileState === 'loading' && (
        <div className={styles.wait}>
          <LoadingText text="Loading Journal..." />
        </div>
      )}
    </>
  );
}

/** The open day: the date in the URL, today if that date cannot be opened, or without a date the initial day. */
type OpenDay = {
  /** Null while the plan or the dates, which determine the initial day, are loading. */
  date: Day | null;
  datesWithEntries: readonly Day[];
  open: (date: Day) => void;
  /** Shows this day instead of the initial one. Null if the URL has a date. */
  replaceInitial: ((date: Day) => void) | null;
};

function useOpenDay(today: Day, premium: boolean | null): OpenDay {
  const requested = useSearchParam('date');
  const navigate = useNavigate();
  const dates = useEntryDates();
  // After a failure the journal opens without the dates, while they are read once more.
  const hasFailed = dates.failureCount > 0;
  const isReading = dates.isFetching && !hasFailed;
  const { savers } = useJournal();
  // State, so that neither midnight nor the first save of a day changes the day while the user writes.
  const [initial, setInitial] = useState<Day | null>(null);
  const decided =
    initial ?? findInitialDay(today, premium, dates.isFetched || hasFailed ? (dates.data ?? []) : null, !isReading);
  if (initial !== decided) setInitial(decided);
  // The shortcut "Yesterday" of the installed app has a fixed URL.
  const day = requested === 'yesterday' ? addDays(today, -1) : requested;
  // A clock that was set back, or a journey to the west, neither closes the open day nor hides text, saved or not.
  const [opened, setOpened] = useState<Day | null>(null);
  const hasLog =
    isDay(day) && (day === opened || savers.getUnsaved(day) !== null || dates.data?.includes(day) === true);
  const canOpen = isDay(day) && canOpenDay(day, today, hasLog);
  // Null while the dates are loading: a future day can be opened if it turns out to have a log.
  const date = !isDay(day) ? decided : canOpen ? day : isReading ? null : today;
  if (opened !== date) setOpened(date);
  useEffect(() => {
    // Replace a date in the URL that is not the shown day, so that a bookmark or a shared link names the shown day.
    if (requested === undefined || date === null || requested === date) return;
    const search = new URLSearchParams(location.search);
    search.set('date', date);
    void navigate(`${ROUTES.journal.path}?${search}`, { replace: true });
  }, [requested, date, navigate]);
  return {
    date,
    datesWithEntries: dates.data ?? [],
    open: (next) => void navigate(dayPath(next)),
    replaceInitial: requested === undefined ? setInitial : null,
  };
}

/**
 * Null while unknown. If the latest log is of today or yesterday, the day is today under either plan. `isConfirmed`:
 * the dates are not a copy that the server may still correct.
 */
function findInitialDay(
  today: Day,
  premium: boolean | null,
  dates: readonly Day[] | null,
  isConfirmed: boolean,
): Day | null {
  if (premium === false) return today;
  if (dates === null) return null;
  const latest = dates[0] ?? null;
  const onPremium = initialDay(true, latest, today);
  // An empty copy of the dates may be older than the first log.
  if (!isConfirmed && (latest === null || onPremium !== today)) return null;
  return premium === true || onPremium === today ? onPremium : null;
}

/**
 * The journal's keys (docs/specification/screens.md 18): Alt+arrows for days, Alt+T for today, Alt+C for the calendar,
 * Alt+M to move the log, Ctrl or Cmd+K to find.
 */
function useShortcuts(shortcuts: Record<JournalAction, () => void>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const action = shortcutOf(event);
    if (action === null || event.isComposing) return;
    // Only a modal dialog blocks the keys: the feedback panel beside the log is a dialog as well.
    const hasModal = document.querySelector('dialog:modal') !== null;
    // A repeated Ctrl+K must not open the browser's own search.
    if (!hasModal || action === 'find') event.preventDefault();
    if (!hasModal) shortcuts[action]();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    addEventListener('keydown', listener);
    const early = takeEarlyShortcut();
    if (early) listener(early);
    return () => removeEventListener('keydown', listener);
  }, []);
}
