/** The open day: the date in the URL, or the initial day of the plan. */
import { useEffect, useState } from 'react';
import { addDays, canOpenDay, isDay, type Day } from '#domain/day/day.ts';
import { initialDay } from '#domain/day/initial-day.ts';
import { ROUTES, dayPath } from '#domain/routes.ts';
import { useNavigate, useSearchParam } from '#client/lib/navigation.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';

export type OpenDay = {
  /** Null while the plan or the dates, which determine the initial day, are loading. */
  date: Day | null;
  datesWithEntries: readonly Day[];
  open: (date: Day) => void;
  /** Shows this day instead of the initial one. Null if the URL has a date. */
  replaceInitial: ((date: Day) => void) | null;
};

export function useOpenDay(today: Day, premium: boolean | null): OpenDay {
  const requested = useSearchParam('date');
  const navigate = useNavigate();
  const dates = useEntryDates();
  const { savers } = useJournal();
  // Set once: neither midnight nor the first save of a day may change the day while the user writes.
  const [initial, setInitial] = useState<Day | null>(null);
  const decided =
    initial ?? findInitialDay(today, premium, dates.isFetched ? (dates.data ?? []) : null, !dates.isFetching);
  if (initial !== decided) setInitial(decided);
  // The shortcut "Yesterday" of the installed app has a fixed URL.
  const day = requested === 'yesterday' ? addDays(today, -1) : requested;
  // A clock that was set back, or a journey to the west, neither closes the open day nor hides text, saved or not.
  const [opened, setOpened] = useState<Day | null>(null);
  const hasLog =
    isDay(day) && (day === opened || savers.getUnsaved(day) !== null || dates.data?.includes(day) === true);
  const canOpen = isDay(day) && canOpenDay(day, today, hasLog);
  // Before the server has answered, a later day may have a log.
  const date = !isDay(day) ? decided : canOpen ? day : dates.isFetching ? null : today;
  if (opened !== date) setOpened(date);
  useEffect(() => {
    // Replace an invalid or future date in the URL, so that a bookmark or a shared link names the shown day.
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
 * Null while unknown. If the latest log is of today or yesterday, the day is today under either plan. `isConfirmed`: the
 * dates are not a copy that the server may still correct.
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
  // A copy without logs may be older than the first log.
  if (!isConfirmed && (latest === null || onPremium !== today)) return null;
  return premium === true || onPremium === today ? onPremium : null;
}
