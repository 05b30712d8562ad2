/** Dated lines to copy out: the wins that an analysis names, and before there is one how each log begins. */
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import { formatBullets, firstLines, shortDate } from '#domain/coach/win-bullets.ts';
import type { DayText } from '#domain/coach/win-bullets.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import pictures from './charts/review-charts.module.css';
import { usePeriodLogs } from './use-logged-days.ts';
import styles from './wins.module.css';

/** Those that an analysis names, and where it names none a line that says so. More may come while it is `writing`. */
export function Wins({ wins, writing }: { wins: readonly DayText[]; writing: boolean }) {
  if (writing && wins.length === 0) return null;
  return (
    <div className={styles.list}>
      <Lines lines={wins} copies={!writing} nothing="No wins named in this period.">
        <h3>Wins</h3>
      </Lines>
    </div>
  );
}

/** What was written, called what it is: which of it is a win is for an analysis to say. */
export function FirstLines({ period, today }: { period: ReviewPeriod; today: Day }) {
  const logs = usePeriodLogs(period, today);
  const heading = <h2 id="first-lines">First lines of your logs</h2>;
  return (
    <section className={pictures.section} aria-labelledby="first-lines">
      {logs.data ? (
        <Lines
          lines={firstLines(logs.data)}
          nothing="Nothing to show for this period yet. The first line of each log appears here."
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
              <Notice kind="error">Your logs could not be read. They are safe.</Notice>
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

type LinesProps = { children: ReactNode; lines: readonly DayText[]; copies?: boolean; nothing: string };

/** The heading with the way to the clipboard beside it, and the lines under both. */
function Lines({ children, lines, copies = true, nothing }: LinesProps) {
  return (
    <>
      <div className={pictures.head}>
        {children}
        {copies && lines.length > 0 && <Copy key={formatBullets(lines)} lines={lines} />}
      </div>
      {lines.length === 0 ? (
        <p className={pictures.quiet}>{nothing}</p>
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

/** Where the browser gives no way to the clipboard, the text is laid out for its reader to take. */
function Copy({ lines }: { lines: readonly DayText[] }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const text = formatBullets(lines);
  useEffect(() => {
    if (outcome === 'refused') area.current?.select();
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
    } catch {
      setOutcome('refused');
    }
  };
  return (
    <>
      <Button onClick={copy}>{outcome === 'copied' ? 'Copied' : 'Copy'}</Button>
      <p className={styles.outcome} role="status">
        {outcome === 'copied' && `${lines.length} ${lines.length === 1 ? 'line' : 'lines'} copied.`}
        {outcome === 'refused' && 'Your browser does not let this page copy. Copy the lines from here:'}
      </p>
      {outcome === 'refused' && (
        <textarea ref={area} className={styles.area} aria-label="Lines to copy" readOnly rows={6} value={text} />
      )}
    </>
  );
}
