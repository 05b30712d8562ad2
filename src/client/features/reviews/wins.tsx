/** The period in dated lines, ready for a stand-up or an appraisal. */
import { useEffect, useRef, useState } from 'react';
import type { Day } from '#domain/day.ts';
import type { ReviewPeriod } from '#domain/review-period.ts';
import { bulletsText, firstLines, namedWins, shortDate } from '#domain/win-bullets.ts';
import type { DayText } from '#domain/win-bullets.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Waiting } from '#client/ui/waiting.tsx';
import pictures from './review-pictures.module.css';
import { usePeriodTexts } from './use-logged-days.ts';
import styles from './wins.module.css';

type WinsProps = { period: ReviewPeriod; today: Day; analysis: string | null };

/** The wins that the analysis names, where it does; else the first line of each log. */
export function Wins({ period, today, analysis }: WinsProps) {
  const texts = usePeriodTexts(period, today);
  const named = namedWins(analysis ?? '');
  const wins = named.length > 0 ? named : firstLines(texts.data ?? []);
  return (
    <section className={pictures.section} aria-labelledby="wins">
      <div className={pictures.head}>
        <h2 id="wins">For your stand-up</h2>
        {wins.length > 0 && <Copy key={bulletsText(wins)} wins={wins} />}
      </div>
      {texts.isPending ? (
        <Waiting />
      ) : texts.isError ? (
        <>
          <Notice kind="error">Your logs could not be read. They are safe.</Notice>
          <Button onClick={() => void texts.refetch()} busy={texts.isFetching} busyLabel="Loading...">
            Try Again
          </Button>
        </>
      ) : wins.length === 0 ? (
        <p className={pictures.quiet}>Nothing to show for this period yet. The first line of each log appears here.</p>
      ) : (
        <dl className={styles.wins}>
          {wins.map(({ date, text }, index) => (
            <div key={index}>
              <dt>{shortDate(date)}</dt>
              <dd dir="auto">{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** Where the browser gives no way to the clipboard, the text is laid out for its reader to take. */
function Copy({ wins }: { wins: readonly DayText[] }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const text = bulletsText(wins);
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
        {outcome === 'copied' && `${wins.length} ${wins.length === 1 ? 'line' : 'lines'} copied.`}
        {outcome === 'refused' && 'Your browser does not let this page copy. Copy the lines from here:'}
      </p>
      {outcome === 'refused' && (
        <textarea ref={area} className={styles.area} aria-label="Lines to copy" readOnly rows={6} value={text} />
      )}
    </>
  );
}
