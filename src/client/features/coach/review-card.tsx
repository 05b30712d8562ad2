/** A finished review. */
import type { TrendResult } from '#domain/coach/coach.ts';
import { splitReview } from '#domain/coach/win-bullets.ts';
import { dateLabel } from '#domain/day/day.ts';
import { REVIEW_PERIODS, type ReviewPeriod } from '#domain/plan/review-period.ts';
import { CoachText } from './coach-text.tsx';
import { SandboxModelNotice } from './sandbox-model-notice.tsx';
import { TimeAgo } from './time-ago.tsx';
import styles from './reviews.module.css';
import { Wins } from './wins.tsx';

export const titleOf = (period: ReviewPeriod): string => `${REVIEW_PERIODS[period].days}-Day Hustle Review`;

/** `entryCount` is null for a review that another device generated: the server does not store it. */
export type ShownReview = Pick<TrendResult, 'period' | 'analysis' | 'dateRange' | 'generatedAt'> & {
  entryCount: number | null;
};

type ReviewCardProps = {
  result: ShownReview;
  label: string;
  isReplaced?: boolean;
  /** Where the review comes from, if not from the server. */
  source?: string;
};

export function ReviewCard({ result, label, isReplaced = false, source }: ReviewCardProps) {
  const { period, analysis, entryCount, dateRange, generatedAt } = result;
  return (
    <section className={styles.result} aria-label={label} data-replaced={isReplaced}>
      <h2>{titleOf(period)}</h2>
      <p className={styles.facts}>
        <span>
          {dateLabel(dateRange.from)} – {dateLabel(dateRange.to)}
        </span>
        {entryCount !== null && (
          <span>
            {entryCount} {entryCount === 1 ? 'entry' : 'entries'} analyzed
          </span>
        )}
        <span>
          Generated <TimeAgo at={generatedAt} />
        </span>
        {source && <span>{source}</span>}
      </p>
      <ReviewText analysis={analysis} />
      <SandboxModelNotice />
    </section>
  );
}

/** The review's text, with its wins as lines to copy. */
export function ReviewText({ analysis, writing = false }: { analysis: string; writing?: boolean }) {
  const { text, wins } = splitReview(analysis);
  return (
    <>
      <CoachText text={text} writing={writing} />
      <Wins wins={wins} writing={writing} />
    </>
  );
}

export function isReview(data: unknown): data is ShownReview {
  const { period, analysis, dateRange, generatedAt } = (data ?? {}) as Partial<ShownReview>;
  return (
    period !== undefined &&
    typeof analysis === 'string' &&
    typeof dateRange?.from === 'string' &&
    typeof generatedAt === 'string'
  );
}

export const isTrend = (data: unknown): data is TrendResult => isReview(data) && data.entryCount !== null;
