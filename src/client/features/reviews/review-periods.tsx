/** A Closer's two periods, each with its number of entries. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dayOf } from '#domain/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { firstDayOf, REVIEW_PERIODS } from '#domain/review-period.ts';
import type { ReviewPeriod } from '#domain/review-period.ts';
import { useData } from '#client/lib/data-client.ts';
import { useClientConfig } from '#client/lib/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './reviews.module.css';

const PERIODS = Object.keys(REVIEW_PERIODS) as ReviewPeriod[];

export function ReviewPeriods() {
  const [period, setPeriod] = useState<ReviewPeriod>('7-day');
  const { data: counts, isError, refetch } = useEntryCounts();

  return (
    <>
      <fieldset className={styles.periods}>
        <legend className={styles.legend}>Period</legend>
        {PERIODS.map((each) => (
          <label key={each} className={styles.period}>
            <input type="radio" name="period" value={each} checked={period === each} onChange={() => setPeriod(each)} />
            <span className={styles.title}>{REVIEW_PERIODS[each].title}</span>
            <span className={styles.count}>{counts ? entriesText(counts[each]) : ' '}</span>
          </label>
        ))}
      </fieldset>
      {isError ? (
        <div className={styles.failed}>
          <Notice kind="error">
            Your entries could not be counted. They are safe; only this page could not read them.
          </Notice>
          <Button onClick={() => void refetch()}>Try Again</Button>
        </div>
      ) : (
        <Generate period={period} count={counts?.[period] ?? null} />
      )}
    </>
  );
}

const entriesText = (count: number): string => `${count} ${count === 1 ? 'entry' : 'entries'}`;

function Generate({ period, count }: { period: ReviewPeriod; count: number | null }) {
  const { features } = useClientConfig();
  return (
    <div className={styles.generate}>
      <Button tone="primary" disabled aria-describedby="generate-note">
        {REVIEW_PERIODS[period].generate}
      </Button>
      <p id="generate-note" className={styles.note} role="status">
        {count === 0 ? MESSAGES.emptyPeriod : features.coach ? '' : 'AI analysis is not set up on this server.'}
      </p>
    </div>
  );
}

/** One reading of the longer period answers for both. */
function useEntryCounts() {
  const data = useData();
  const today = dayOf(new Date());
  return useQuery({
    queryKey: ['entry-counts', today],
    queryFn: async ({ signal }): Promise<Record<ReviewPeriod, number>> => {
      const { data: rows } = await data
        .from('entries')
        .select('date')
        .gte('date', firstDayOf('30-day', today))
        .lte('date', today)
        .abortSignal(signal)
        .throwOnError();
      const within = (period: ReviewPeriod) => rows.filter((row) => row.date >= firstDayOf(period, today)).length;
      return { '7-day': within('7-day'), '30-day': within('30-day') };
    },
  });
}
