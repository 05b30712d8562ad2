/** Shows a conflict: the page keeps both versions until the user chooses. */
import { useEffect, useId, useRef } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { dayPath } from '#domain/routes.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { Button } from '#client/ui/button.tsx';
import { useToast, type Toast } from '#client/ui/toast.tsx';
import styles from './locked-day.module.css';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import type { Conflict, SaverView } from '#client/sync/day-saver/state.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { addToMovedLog } from '#client/sync/entries/move-log.ts';
import { replaceUndoably, TEXT_IS_BACK } from '#client/sync/entries/restore-log.ts';
import type { MovedLog } from '#client/sync/save-requests.ts';

/** The height of the formatting bar at the bottom of a touch screen, where it covers the page. */
const FORMATTING_BAR_PX = 52;
/** A toast with a button is shown for this time. */
const TOAST_MS = 20_000;

type ConflictNoticeProps = { saver: DaySaver; conflict: NonNullable<SaverView['conflict']> };

export function ConflictNotice({ saver, conflict: { theirs, moved } }: ConflictNoticeProps) {
  if (moved) return <MovedNotice saver={saver} to={moved} />;
  return <ChangedNotice saver={saver} theirs={theirs} />;
}

function ChangedNotice({ saver, theirs }: { saver: DaySaver; theirs: Conflict['theirs'] }) {
  const title = 'This day was changed somewhere else.';
  const heading = useHeadingInSight(title, saver.date);
  const titleId = useId();
  const { savers } = useJournal();
  const toast = useToast();
  // The server never had the user's own version, so the earlier versions lack it: undo is the only way back to it.
  const takeTheirs = (): void => {
    const undo = replaceUndoably(savers, saver, () => saver.takeTheirs());
    const show = (text: string, more?: Pick<Toast, 'action'>): void =>
      toast({ kind: 'success', topic: saver.date, text, ...more });
    const run = (): void => void undo().then(() => show(TEXT_IS_BACK));
    show('This day has the other version now.', { action: { label: 'Undo', run } });
  };
  return (
    <section className={styles.notice} aria-labelledby={titleId}>
      <h2 ref={heading} id={titleId} className={styles.title}>
        {title}
      </h2>
      <p className={styles.text}>
        Your version above is kept on this device and nothing was overwritten. This is the other one:
      </p>
      <div className={styles.theirs} tabIndex={0} role="group" aria-label="The other version">
        <StoredLog html={theirs?.html ?? ''} label="The other version" />
      </div>
      <div className={styles.choices}>
        <Button tone="primary" onClick={() => saver.keepBoth()}>
          Keep both
        </Button>
        <Button onClick={takeTheirs}>Use the other one</Button>
      </div>
    </section>
  );
}

function MovedNotice({ saver, to: { date } }: { saver: DaySaver; to: MovedLog }) {
  const title = `This log was moved to ${dayLabel(date)}.`;
  const heading = useHeadingInSight(title, saver.date);
  const titleId = useId();
  const { savers, transport } = useJournal();
  const navigate = useNavigate();
  const add = async (): Promise<void> => {
    if (await addToMovedLog(savers, transport, saver)) void navigate(dayPath(date));
  };
  return (
    <section className={styles.notice} aria-labelledby={titleId}>
      <h2 ref={heading} id={titleId} className={styles.title}>
        {title}
      </h2>
      <p className={styles.text}>What you wrote here since then is kept on this device, and not saved yet.</p>
      <div className={styles.choices}>
        <Button tone="primary" onClick={() => void add()}>
          Add it to that day
        </Button>
        <Button onClick={() => saver.keepBoth()}>Keep it on this day</Button>
      </div>
    </section>
  );
}

/**
 * Shows a toast repeatedly until the heading of the question is in view: below a long log, or behind the keyboard of a
 * phone, a user who is writing does not see the question. Scrolling to it unasked would move the caret out of view.
 */
function useHeadingInSight(text: string, topic: Day) {
  const heading = useRef<HTMLHeadingElement>(null);
  const toast = useToast();
  useEffect(() => {
    const { offsetTop, height } = visualViewport ?? { offsetTop: 0, height: innerHeight };
    const coveredPx = Math.max(0, innerHeight - offsetTop - height) + FORMATTING_BAR_PX;
    const scroll = (): void => heading.current?.scrollIntoView({ block: 'center' });
    const show = (): void => toast({ kind: 'info', text, topic, action: { label: 'Show', run: scroll } });
    let timer: ReturnType<typeof setInterval> | undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)!.isIntersecting) return stop();
        show();
        timer ??= setInterval(show, TOAST_MS);
      },
      { rootMargin: `0px 0px ${-coveredPx}px` },
    );
    const stop = (): void => {
      observer.disconnect();
      clearInterval(timer);
    };
    observer.observe(heading.current!);
    return stop;
  }, [text, toast, topic]);
  return heading;
}
