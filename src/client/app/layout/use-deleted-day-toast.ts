import { dayLabel, type Day } from '#domain/day/day.ts';
import type { DaySavers } from '#client/sync/day-savers.ts';
import { restoreLog } from '#client/sync/entries/restore-log.ts';
import { useToast } from '#client/ui/toast.tsx';

/** Returns a function that tells the user of a deleted log and offers to undo the deletion. */
export function useDeletedDayToast(): (savers: DaySavers, date: Day, html: string) => void {
  const toast = useToast();
  return (savers, date, html) =>
    toast({
      kind: 'info',
      topic: date,
      text: `The log of ${dayLabel(date)} was deleted.`,
      action: { label: 'Undo', run: () => void restoreLog(savers, date, html) },
    });
}
