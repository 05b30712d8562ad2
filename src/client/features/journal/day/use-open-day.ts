/** The day that is open: the one in the address, or the one the journal begins with. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { earlierOf, isDay } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { initialDay } from '#domain/day/initial-day.ts';
import { ROUTES } from '#domain/routes.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';

export type OpenDay = {
  /** Null until it is known where a Closer left off. */
  date: Day | null;
  datesWithEntries: readonly Day[];
  open: (date: Day) => void;
};

export function useOpenDay(today: Day, premium: boolean | null): OpenDay {
  const asked: unknown = useSearch({ strict: false, select: (search: { date?: unknown }) => search.date });
  const navigate = useNavigate();
  const dates = useEntryDates();
  // Decided once: neither midnight nor the first save of a day may move the page somebody writes on.
  const [first, setFirst] = useState<Day | null>(null);
  const decided = first ?? firstDay(today, premium, dates.isFetched ? (dates.data ?? []) : null);
  if (first !== decided) setFirst(decided);
  const date = isDay(asked) ? earlierOf(asked, today) : decided;
  useEffect(() => {
    // An address that names no day, or one to come, shall not be kept or passed on as if it named the one shown.
    if (asked === undefined || date === null || asked === date) return;
    const search = (others: object) => ({ ...others, date });
    void navigate({ to: ROUTES.journal.path, search: search as never, replace: true });
  }, [asked, date, navigate]);
  return {
    date,
    datesWithEntries: dates.data ?? [],
    open: (next) => void navigate({ to: ROUTES.journal.path, search: { date: next } as never }),
  };
}

/** As soon as it can be told: who wrote yesterday or today opens on today under either plan, whatever the profile says. */
function firstDay(today: Day, premium: boolean | null, dates: readonly Day[] | null): Day | null {
  if (premium === false) return today;
  if (dates === null) return null;
  const latest = dates[0] ?? null;
  const asCloser = initialDay(true, latest, today);
  return premium === true || asCloser === today ? asCloser : null;
}
