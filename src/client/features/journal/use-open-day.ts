/** The day that is open: the one in the address, or the one the journal begins with. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { earlierOf, isDay } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import { initialDay } from '#domain/initial-day.ts';
import { ROUTES } from '#domain/routes.ts';
import { useData } from '#client/lib/data-client.ts';
import { useUser } from '#client/lib/session.ts';
import { datesQuery } from './entry-queries.ts';

export type OpenDay = {
  /** Null until it is known where a Closer left off. */
  date: Day | null;
  datesWithEntries: readonly Day[];
  open: (date: Day) => void;
};

export function useOpenDay(today: Day, premium: boolean | null): OpenDay {
  const asked: unknown = useSearch({ strict: false, select: (search: { date?: unknown }) => search.date });
  const navigate = useNavigate();
  const dates = useQuery(datesQuery(useData(), useUser().id));
  // Decided once: neither midnight nor the first save of a day may move the page somebody writes on.
  const [first, setFirst] = useState<Day | null>(null);
  if (first === null && premium !== null && (!premium || dates.isFetched)) {
    setFirst(initialDay(premium, dates.data?.[0] ?? null, today));
  }
  return {
    date: isDay(asked) ? earlierOf(asked, today) : first,
    datesWithEntries: dates.data ?? [],
    open: (date) => void navigate({ to: ROUTES.journal.path, search: { date } as never }),
  };
}
