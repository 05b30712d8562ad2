/**
 * A day that is too old for the plan: whether it has a log, and how to unlock it. The server never sends the log's
 * text, so the page has none to hide. The only log text it shows is text of this device that could not be sent.
 */
import Lock from 'lucide-react/icons/lock';
import { useEffect, useSyncExternalStore, useId, useRef } from 'react';
import type { Day } from '#domain/day/day.ts';
import { FREE_WINDOW_DAYS } from '#domain/plan/plan.ts';
import { entryText, isEmptyLog } from '#domain/log/entry-text.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { usePaymentPending } from '#client/lib/plan/payment-queries.ts';
import { Button } from '#client/ui/button.tsx';
import { useToast } from '#client/ui/toast.tsx';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import { SaveStatusLine } from './save-status-line.tsx';
import styles from './locked-day.module.css';

export function LockedDay({ date }: { date: Day }) {
  const { savers } = useJournal();
  const saver = useSyncExternalStore(savers.subscribe, () => savers.getUnsaved(date));
  const { data: dates, isPending } = useEntryDates();
  // Takes over this day's draft. The try when the page loaded may have failed, because it needs the server's answer.
  // The page shows the draft also without an answer.
  useEffect(() => void savers.recover(date).then(() => savers.openDraft(date)), [date, savers]);

  if (isPending && !saver) return null;
  // Without the dates, or with unsent text, the page does not know whether the day is empty.
  const content = dates?.includes(date) ? 'log' : dates && !saver ? 'nothing' : 'unknown';
  return (
    <section className={styles.locked} aria-labelledby="locked-day">
      {content === 'log' && !saver && (
        <ol className={styles.lines} aria-hidden="true">
          <li />
          <li />
          <li />
        </ol>
      )}
      <div className={styles.banner}>
        <Lock aria-hidden />
        <div>
          <p id="locked-day">{TITLES[content]}</p>
          {content === 'log' ? (
            <p className={styles.why}>
              <strong>Historical Log Locked:</strong> This log is older than {FREE_WINDOW_DAYS} days. Upgrade to Closer
              for unlimited access to all your historical logs.
            </p>
          ) : (
            <p className={styles.why}>
              Your plan opens the last {FREE_WINDOW_DAYS} days. Upgrade to Closer to write on older days as well.
            </p>
          )}
          <UpgradeButton feature="historical-logs" />
        </div>
      </div>
      {saver && <UnsavedDraft saver={saver} />}
    </section>
  );
}

const TITLES = {
  log: 'This log is locked. Upgrade to Closer to access historical logs.',
  nothing: 'Nothing was logged on this day.',
  unknown: 'This day is locked.',
} as const;

/** Unsaved text of a locked day: read-only, can be copied, and is sent when the plan unlocks the day. */
function UnsavedDraft({ saver }: { saver: DaySaver }) {
  const titleId = useId();
  const words = useRef<HTMLDivElement>(null);
  const toast = useToast();
  const { status, isSafe } = useSyncExternalStore(saver.subscribe, saver.view);
  const pending = usePaymentPending();
  const html = saver.text();

  const copy = async (): Promise<void> => {
    try {
      const formats = { 'text/html': html, 'text/plain': entryText(html) };
      await navigator.clipboard.write([new ClipboardItem(formats)]);
      toast({ kind: 'success', text: 'Copied.' });
    } catch {
      getSelection()?.selectAllChildren(words.current!);
      toast({ kind: 'error', text: 'The browser did not allow it. Your words are selected: press Ctrl or Cmd+C.' });
    }
  };

  return (
    <section aria-labelledby={titleId}>
      <h2 id={titleId} className={styles.unsavedTitle}>
        What you wrote is not saved yet.
      </h2>
      <p className={styles.why}>
        Your plan no longer includes this day. Your words are kept on this device, and sent when your plan includes the
        day again.
      </p>
      {isEmptyLog(html) ? (
        <p>You deleted all text of this day.</p>
      ) : (
        <>
          <div ref={words} className={styles.words} tabIndex={0} role="group" aria-label="Your words">
            <StoredLog html={html} label="What you wrote" />
          </div>
          <Button onClick={() => void copy()}>Copy my words</Button>
        </>
      )}
      <SaveStatusLine saver={saver} status={status} isSafe={isSafe} canUpgrade={!pending} />
    </section>
  );
}
