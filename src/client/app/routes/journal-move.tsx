/**
 * The dialog "Move this log", in which the user picks an empty open day in the calendar, and the dialog "Select Date".
 */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { LOCKED_DAY_MESSAGE } from '#domain/messages.ts';
import { FREE_WINDOW_DAYS, isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { MonthCalendar } from '#client/features/calendar/month-calendar.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryKey, DATES_KEY } from '#client/sync/entries/entry-queries.ts';
import { createSendMove, moveLog, type Move, type MoveOutcome } from '#client/sync/entries/move-log.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { usePremium, useUpgrade } from '#client/lib/plan/premium.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import type { OverlayProps } from './overlay-props.ts';
import styles from './journal-day-menu.module.css';
import { localCopyText } from '#client/sync/save-status.ts';
import { useTimeOff } from '#client/ui/use-time-off.ts';

type MoveFailure = Exclude<MoveOutcome, { kind: 'moved' }>;

function failureText(kind: MoveFailure['kind'], { from, to }: Move): string {
  switch (kind) {
    case 'unsaved':
      return "Your latest changes aren't saved yet, so the log was not moved. Try again once they are.";
    case 'empty':
      return `${dayLabel(from)} has no log to move.`;
    case 'taken':
      return `${dayLabel(to)} already has a log. Nothing was moved.`;
    case 'changed':
      return 'This log was changed somewhere else, so it was not moved. Check it, then try again.';
    case 'closed':
      return "Your plan doesn't include both days. Nothing was moved.";
    case 'signedOut':
      return 'You are signed out. Sign in, then try again.';
    case 'unreachable':
      return "The server did not answer, so we don't know whether the log was moved. You can safely try again.";
  }
}

export const JournalMove = ({ date, onClose }: OverlayProps) => date && <MoveDialog from={date} onClose={onClose} />;

function MoveDialog({ from, onClose }: { from: Day; onClose: () => void }) {
  const { savers } = useJournal();
  const today = useToday();
  const isPremium = usePremium() === true;
  const { data: dates, isPending } = useEntryDates();
  const { move, busy, problem } = useMove(onClose);
  const view = savers.get(from)?.view();
  const isDayLocked = isLocked(from, isPremium, today);

  if (!problem && (isDayLocked || !view || (!view.stored && !view.unsaved))) {
    return (
      <Dialog title="Move this log" onClose={onClose} className={styles.dialog}>
        <p>{isDayLocked ? LOCKED_DAY_MESSAGE : failureText('empty', { from, to: from })}</p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Move this log" onClose={onClose} className={styles.dialog} dismissible={!busy}>
      <p className={styles.hint}>
        Move the log of {dayLabel(from)} to a day without a log
        {!isPremium && `, at most ${FREE_WINDOW_DAYS - 1} days ago`}.
      </p>
      <div inert={busy}>
        {isPending || (
          <MonthCalendar
            date={from}
            today={today}
            premium={isPremium}
            datesWithEntries={[...(dates ?? []), ...savers.unsavedDays(), from]}
            emptyOnly
            onSelect={(to) => void move({ from, to })}
          />
        )}
      </div>
      <div className={styles.outcome} role="status">
        {busy && 'Moving...'}
      </div>
      {problem && !busy && (
        <div className={styles.problem}>
          <Notice kind="error">
            {failureText(problem.outcome.kind, problem.move)}
            {problem.outcome.kind === 'unreachable' && (
              <Button onClick={() => void move(problem.move, problem.outcome)}>Try again</Button>
            )}
          </Notice>
        </div>
      )}
    </Dialog>
  );
}

function useMove(onMoved: () => void) {
  const { savers } = useJournal();
  const data = useData();
  const { id } = useUser();
  const toast = useToast();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ outcome: MoveFailure; move: Move } | null>(null);

  /** Moves the log and opens its new day. `previous`: the failure of the attempt that this one retries. */
  async function moveAndOpen(request: Move, previous?: MoveFailure): Promise<MoveOutcome> {
    const version = previous?.kind === 'unreachable' ? previous.version : null;
    const outcome = await moveLog(savers, createSendMove(data, id), request, version);
    if (outcome.kind === 'moved') {
      // Closes the dialog before navigating: the new day's editor does not take the focus while the dialog has it.
      onMoved();
      await navigate(dayPath(request.to));
    }
    // The cached log of the old day and the cached dates may be stale.
    else for (const queryKey of [entryKey(request.from), DATES_KEY]) void queries.invalidateQueries({ queryKey });
    return outcome;
  }

  async function undo(request: Move, previous?: MoveFailure): Promise<void> {
    const back = { from: request.to, to: request.from };
    const outcome = await moveAndOpen(back, previous);
    const topic = request.to;
    if (outcome.kind === 'moved') return toast({ kind: 'success', topic, text: `Moved back to ${dayLabel(back.to)}.` });
    const retry = { label: 'Try again', run: () => void undo(request, outcome) };
    const text = failureText(outcome.kind, back);
    toast({ kind: 'error', topic, text, ...(outcome.kind === 'unreachable' && { action: retry }) });
  }

  async function move(request: Move, previous?: MoveFailure): Promise<void> {
    setBusy(true);
    const outcome = await moveAndOpen(request, previous);
    setBusy(false);
    if (outcome.kind !== 'moved') return setProblem({ outcome, move: request });
    const text = `Moved to ${dayLabel(request.to)}.`;
    toast({ kind: 'success', topic: request.to, text, action: { label: 'Undo', run: () => void undo(request) } });
  }
  return { move, busy, problem };
}

/** The "Select Date" dialog over the journal. A locked day opens the upgrade dialog instead. */
export function JournalCalendar({ date, onClose }: OverlayProps) {
  const today = useToday();
  const upgrade = useUpgrade();
  const premium = usePremium() !== false;
  const dates = useEntryDates();
  const { ranges: timeOff } = useTimeOff();
  const navigate = useNavigate();
  const select = (day: Day): void => {
    if (isLocked(day, premium, today)) return upgrade('historical-logs');
    onClose();
    void navigate(dayPath(day));
  };
  if (date === null) return null;
  const isCopy = dates.isError && dates.data !== undefined;
  return (
    <Dialog title="Select Date" onClose={onClose} className={styles.dialog}>
      <MonthCalendar
        date={date}
        today={today}
        premium={premium}
        datesWithEntries={dates.data ?? []}
        timeOff={timeOff}
        onSelect={select}
      />
      {isCopy && <p className={styles.outcome}>{localCopyText(dates.dataUpdatedAt, Date.now())}</p>}
    </Dialog>
  );
}
