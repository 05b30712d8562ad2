/** Dated lines to copy: the wins of an analysis. Without an analysis, the first line of each log. */
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { DayRange } from '#domain/plan/review-period.ts';
import { formatBullets, firstLines, shortDate, type DayText } from '#domain/coach/win-bullets.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { usePeriodLogs } from './use-logged-days.ts';
import charts from './review-charts.module.css';
import styles from './reviews.module.css';

/** The wins of an analysis. While it is `writing`, more may follow. */
export function Wins({ wins, writing }: { wins: readonly DayText[]; writing: boolean }) {
  if (writing && wins.length === 0) return null;
  return (
    <div className={styles.list}>
      <Lines lines={wins} canCopy={!writing} emptyText="No wins found in this period.">
        <h3>Wins</h3>
      </Lines>
    </div>
  );
}

/** The first line of each log. Only an analysis decides which lines are wins. */
export function FirstLines({ range }: { range: DayRange }) {
  const logs = usePeriodLogs(range);
  const heading = <h2 id="first-lines">First lines of your logs</h2>;
  return (
    <section className={charts.section} aria-labelledby="first-lines">
      {logs.data ? (
        <Lines
          lines={firstLines(logs.data)}
          emptyText="No logs in this period yet. The first line of each log appears here."
        >
          {heading}
        </Lines>
      ) : (
        <>
          {heading}
          {logs.isPending ? (
            <LoadingText />
          ) : (
            <>
              <Notice kind="error">Couldn't load your logs. They are safe.</Notice>
              <Button onClick={() => void logs.refetch()} busy={logs.isFetching} busyLabel="Loading...">
                Try Again
              </Button>
            </>
          )}
        </>
      )}
    </section>
  );
}

type LinesProps = { children: ReactNode; lines: readonly DayText[]; canCopy?: boolean; emptyText: string };

/** A heading with a copy button, and the lines below. */
function Lines({ children, lines, canCopy = true, emptyText }: LinesProps) {
  return (
    <>
      <div className={charts.head}>
        {children}
        {canCopy && lines.length > 0 && <CopyButton key={formatBullets(lines)} lines={lines} />}
      </div>
      {lines.length === 0 ? (
        <p className={charts.quiet}>{emptyText}</p>
      ) : (
        <dl className={styles.wins}>
          {lines.map(({ date, text }, index) => (
            <div key={index}>
              <dt>{shortDate(date)}</dt>
              <dd dir="auto">{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

/** Without access to the clipboard, shows the text in a field to copy by hand. */
function CopyButton({ lines }: { lines: readonly DayText[] }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const text = formatBullets(lines);
  useEffect(() => {
    if (outcome === 'failed') area.current?.select();
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
    } catch {
      setOutcome('failed');
    }
  };
  return (
    <>
      <Button onClick={copy}>{outcome === 'copied' ? 'Copied' : 'Copy'}</Button>
      <p className={styles.outcome} role="status">
        {outcome === 'copied' && `${lines.length} ${lines.length === 1 ? 'line' : 'lines'} copied.`}
        {outcome === 'failed' && "Couldn't copy to the clipboard. Copy the lines from here:"}
      </p>
      {outcome === 'failed' && (
        <textarea ref={area} className={styles.area} aria-label="Lines to copy" readOnly rows={6} value={text} />
      )}
    </>
  );
}
