/** Unsaved text of a locked day: read-only, can be copied, and is sent when the plan unlocks the day. */
import { useId, useRef, useSyncExternalStore } from 'react';
import { entryText, isEmptyLog } from '#domain/log/entry-text.ts';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { usePaymentPending } from '#client/lib/plan/use-payment-pending.ts';
import { Button } from '#client/ui/button.tsx';
import { useToast } from '#client/ui/toast.tsx';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import styles from './locked-day.module.css';
import { SaveStatusLine } from './save-status-line.tsx';

export function UnsavedDraft({ saver, onUpgrade }: { saver: DaySaver; onUpgrade: () => void }) {
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
      <SaveStatusLine saver={saver} status={status} isSafe={isSafe} onUpgrade={pending ? null : onUpgrade} />
    </section>
  );
}
