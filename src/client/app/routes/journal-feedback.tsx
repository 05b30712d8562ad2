/** The feedback beside the journal: about the day that is open, whichever that is by then, and what is written there. */
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { earlierOf, isDay } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { CoachPanel } from '#client/features/coach/coach-panel.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryQuery } from '#client/sync/entries/entry-queries.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';

type JournalFeedbackProps = { openedOn: Day; onClose: () => void; onUpgrade: () => void };

export function JournalFeedback({ openedOn, onClose, onUpgrade }: JournalFeedbackProps) {
  const { savers, transport } = useJournal();
  const today = useToday();
  const asked: unknown = useSearch({ strict: false, select: (search: { date?: unknown }) => search.date });
  const [first] = useState(asked);
  const date = isDay(asked) ? earlierOf(asked, today) : openedOn;
  // Back to an address without a day: which day the journal shows there is for the journal alone to say.
  const lost = asked === undefined && first !== undefined;
  useEffect(() => void (lost && onClose()), [lost, onClose]);

  const { data } = useQuery({ ...entryQuery(transport, date), enabled: false });
  const unsaved = useSyncExternalStore(savers.subscribe, () => savers.withUnsaved(date) !== null);
  const flush = useCallback(async () => !(await savers.flush()).includes(date), [date, savers]);
  const log = { revision: data?.stored?.revision ?? null, unsaved, flush };
  return <CoachPanel date={date} log={log} onClose={onClose} onUpgrade={onUpgrade} />;
}
