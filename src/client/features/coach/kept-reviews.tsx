/** The kept reviews that the plan opens, newest period first (docs/specification/year.md 1). */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { reviewTitle, type ReviewPeriod } from '#domain/plan/review-period.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { ShareButton } from '#client/ui/share/share-button.tsx';
import { REVIEW_KEY, ReviewFacts, ReviewText, type ShownReview } from './review.tsx';
import charts from './review-charts.module.css';
import { Summary } from '#client/ui/page/folded-section.tsx';
import styles from './reviews.module.css';

export const KEPT_KEY = ['kept-reviews'] as const;
const PAGE_ROWS = 20;

type Kept = ShownReview & { id: string };

/** `count`: how many are read. One more tells whether there are older ones. */
function useKeptReviews(count: number) {
  const data = useData();
  const { id } = useUser();
  return useQuery({
    queryKey: [...KEPT_KEY, count],
    queryFn: async ({ signal }): Promise<Kept[]> => {
      const { data: rows } = await data
        .from('kept_reviews')
        .select('id, period, period_from, period_to, entry_count, created_at, is_changed')
        .eq('user_id', id)
        .order('period_to', { ascending: false })
        .order('created_at', { ascending: false })
        .limit(count + 1)
        .abortSignal(signal)
        .throwOnError();
      return rows.map((row) => ({
        id: row.id,
        period: row.period as ReviewPeriod,
        analysis: '',
        entryCount: row.entry_count,
        dateRange: { from: row.period_from, to: row.period_to },
        generatedAt: row.created_at,
        isChanged: row.is_changed,
      }));
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
    networkMode: 'always',
  });
}

/** `note`: a text below the list, such as what the plan does not open. */
export function KeptReviews({ note }: { note?: string }) {
  const [count, setCount] = useState(PAGE_ROWS);
  const kept = useKeptReviews(count);
  if (kept.isError && !kept.data) {
    return (
      <section className={charts.section} aria-labelledby="kept-reviews">
        <h2 id="kept-reviews">Kept reviews</h2>
        <Notice kind="error">Couldn't load your kept reviews. They are safe.</Notice>
        <Button onClick={() => void kept.refetch()} busy={kept.isFetching} busyLabel="Loading...">
          Try again
        </Button>
      </section>
    );
  }
  if (!kept.data || kept.data.length === 0) return null;
  return (
    <section className={`${charts.section} ${charts.elsewhere}`} aria-labelledby="kept-reviews">
      <h2 id="kept-reviews">Kept reviews</h2>
      <ul className={styles.kept}>
        {kept.data.slice(0, count).map((review) => (
          <KeptReview key={review.id} review={review} />
        ))}
      </ul>
      {kept.data.length > count && (
        <Button onClick={() => setCount(count + PAGE_ROWS)} busy={kept.isFetching} busyLabel="Loading...">
          Show older
        </Button>
      )}
      {note && <p className={charts.quiet}>{note}</p>}
    </section>
  );
}

function KeptReview({ review }: { review: Kept }) {
  const { period, dateRange } = review;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <Summary>
          <span className={styles.keptTitle}>{reviewTitle(period, dateRange.from)}</span>{' '}
          <span className={styles.keptRange}>{dateRangeLabel(dateRange.from, dateRange.to)}</span>
        </Summary>
        {isOpen && <OpenReview review={review} />}
      </details>
    </li>
  );
}

function OpenReview({ review }: { review: Kept }) {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const premium = usePremium();
  const [state, setState] = useState<'idle' | 'asking' | 'busy' | 'failed'>('idle');
  const text = useQuery({
    queryKey: [...KEPT_KEY, 'text', review.id],
    // Null without a row, as after a deletion in another tab.
    queryFn: async ({ signal }): Promise<string | null> => {
      const { data: row } = await data
        .from('reviews')
        .select('text')
        .eq('user_id', userId)
        .eq('id', review.id)
        .abortSignal(signal)
        .maybeSingle()
        .throwOnError();
      return row?.text ?? null;
    },
    // A review never changes.
    staleTime: Infinity,
    networkMode: 'always',
  });
  const remove = async (): Promise<void> => {
    setState('busy');
    const { error } = await data.from('reviews').delete().eq('user_id', userId).eq('id', review.id);
    if (error) return setState('failed');
    await Promise.all([
      queries.invalidateQueries({ queryKey: KEPT_KEY }),
      queries.invalidateQueries({ queryKey: REVIEW_KEY }),
    ]);
  };
  if (text.isPending) return <LoadingText />;
  if (text.isError) {
    return (
      <>
        <Notice kind="error">Couldn't load this review. It is safe.</Notice>
        <Button onClick={() => void text.refetch()} busy={text.isFetching} busyLabel="Loading...">
          Try again
        </Button>
      </>
    );
  }
  if (text.data === null) return <Notice kind="info">This review is not there. It may have been deleted.</Notice>;
  return (
    <div className={styles.keptText}>
      <ReviewFacts result={review} hasRange={false} />
      <ReviewText analysis={text.data} />
      {state === 'failed' && <Notice kind="error">Couldn't delete the review. Please try again.</Notice>}
      <div className={styles.buttons}>
        {state === 'idle' || state === 'failed' ? (
          <>
            {premium === true && <ShareButton target={{ reviewId: review.id }} />}
            <Button onClick={() => setState('asking')}>Delete this review</Button>
          </>
        ) : (
          <>
            <Button tone="primary" onClick={() => void remove()} busy={state === 'busy'} busyLabel="Deleting...">
              Delete for good
            </Button>
            <Button onClick={() => setState('idle')}>Keep it</Button>
          </>
        )}
      </div>
    </div>
  );
}
