/** "Move this log": an empty day that the plan opens is chosen in the calendar, and the log goes there. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { FREE_WINDOW_DAYS, isLocked } from '#domain/plan/plan.ts';
import { ROUTES } from '#domain/routes.ts';
import { MonthCalendar } from '#client/features/calendar/month-calendar.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryKey } from '#client/sync/entries/entry-queries.ts';
import { createSendMove, moveLog } from '#client/sync/entries/move-log.ts';
import type { Move, MoveOutcome } from '#client/sync/entries/move-log.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { DATES_KEY, useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import styles from './journal-move.module.css';

type NotMoved = Exclude<MoveOutcome, { kind: 'moved' }>;

/** Why a log is where it was, and what to do next. */
function reasonOf(kind: NotMoved['kind'], { from, to }: Move): string {
  switch (kind) {
    case 'unsaved':
      return 'Your last words are not saved yet, so the log was not moved. Try again once they are.';
    case 'empty':
      return `${dayLabel(from)} has no log to move.`;
    case 'taken':
      return `${dayLabel(to)} has a log already. Nothing was moved.`;
    case 'changed':
      return 'This log was changed somewhere else meanwhile, so it was not moved. Look at it, then try again.';
    case 'closed':
      return 'Your plan does not open both days. Nothing was moved.';
    case 'signedOut':
      return 'You are signed out. Sign in, then try again.';
    case 'unreachable':
      return 'The server did not answer, so the log may have been moved or not. Try again: it is never moved twice.';
  }
}

export function JournalMove({ from, onClose }: { from: Day; onClose: () => void }) {
  const { savers } = useJournal();
  const today = useToday();
  const premium = usePremium() === true;
  const { data: dates, isPending } = useEntryDates();
  const { move, busy, problem } = useMove(onClose);
  const view = savers.opened(from)?.view();
  const locked = isLocked(from, premium, today);

  if (!problem && (locked || !view || (!view.stored && !view.unsaved))) {
    return (
      <Dialog title="Move this log" onClose={onClose} className={styles.dialog}>
        <p>{locked ? 'Your plan does not open this day.' : reasonOf('empty', { from, to: from })}</p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Move this log" onClose={onClose} className={styles.dialog} dismissible={!busy}>
      <p className={styles.hint}>
        From {dayLabel(from)} to a day without a log{!premium && `, at most ${FREE_WINDOW_DAYS - 1} days ago`}. Choose
        the day:
      </p>
      <div inert={busy}>
        {isPending || (
          <MonthCalendar
            date={from}
            today={today}
            premium={premium}
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
            {reasonOf(problem.outcome.kind, problem.move)}
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
  const [problem, setProblem] = useState<{ outcome: NotMoved; move: Move } | null>(null);

  /** Moves, and shows the log where it is now. `before`: what came of the same move, which is tried again. */
  async function moveAndOpen(wanted: Move, before?: NotMoved): Promise<MoveOutcome> {
    const version = before?.kind === 'unreachable' ? before.version : null;
    const outcome = await moveLog(savers, createSendMove(data, id), wanted, version);
    if (outcome.kind === 'moved') {
      // First: while the dialog has the focus, the editor of the other day does not take it.
      onMoved();
      await navigate({ to: ROUTES.journal.path, search: { date: wanted.to } as never });
    }
    // What this page knows of the two days was not so, or may not be.
    else for (const queryKey of [entryKey(wanted.from), DATES_KEY]) void queries.invalidateQueries({ queryKey });
    return outcome;
  }

  async function undo(wanted: Move, before?: NotMoved): Promise<void> {
    const back = { from: wanted.to, to: wanted.from };
    const outcome = await moveAndOpen(back, before);
    if (outcome.kind === 'moved') return toast({ kind: 'success', text: `Moved back to ${dayLabel(back.to)}.` });
    const again = { label: 'Try again', run: () => void undo(wanted, outcome) };
    const text = reasonOf(outcome.kind, back);
    toast({ kind: 'error', text, ...(outcome.kind === 'unreachable' && { action: again }) });
  }

  async function move(wanted: Move, before?: NotMoved): Promise<void> {
    setBusy(true);
    const outcome = await moveAndOpen(wanted, before);
    setBusy(false);
    if (outcome.kind !== 'moved') return setProblem({ outcome, move: wanted });
    const text = `Moved to ${dayLabel(wanted.to)}.`;
    toast({ kind: 'success', text, action: { label: 'Undo', run: () => void undo(wanted) } });
  }
  return { move, busy, problem };
}
