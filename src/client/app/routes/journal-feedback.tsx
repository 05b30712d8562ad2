/** The feedback panel beside the journal. It follows the open day and its unsaved text. */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { canOpenDay, isDay, type Day } from '#domain/day/day.ts';
import { useSearchParam } from '#client/lib/navigation.ts';
import { CoachPanel } from '#client/features/coach/feedback.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { entryQuery } from '#client/sync/entries/entry-queries.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';

export function JournalFeedback({ openedOn, onClose }: { openedOn: Day; onClose: () => void }) {
  const journal = useJournal();
  const { savers } = journal;
  const today = useToday();
  const dateParam = useSearchParam('date');
  const { data: dates } = useEntryDates();
  const [initialDateParam] = useState(dateParam);
  const hasLog = (day: Day): boolean => savers.get(day) !== null || dates?.includes(day) === true;
  const date = !isDay(dateParam) ? openedOn : canOpenDay(dateParam, today, hasLog(dateParam)) ? dateParam : today;
  // The user went back to a URL without a date. Only the journal knows which day it shows then, so close the panel.
  const isDayUnknown = dateParam === undefined && initialDateParam !== undefined;
  useEffect(() => void (isDayUnknown && onClose()), [isDayUnknown, onClose]);

  const { data } = useQuery({ ...entryQuery(journal, date), enabled: false });
  const unsaved = useSyncExternalStore(savers.subscribe, () => savers.getUnsaved(date) !== null);
  const flush = useCallback(async () => !(await savers.flush()).includes(date), [date, savers]);
  const log = { revision: data?.stored?.revision ?? null, unsaved, flush };
  return <CoachPanel date={date} log={log} onClose={onClose} />;
}
