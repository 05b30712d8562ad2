/** The newest stored review of a period: from the server, or this device's copy while the server cannot be reached. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { storedReviewBounds, type ReviewPeriod } from '#domain/plan/review-period.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useLocalCopies } from '#client/sync/day-savers-provider.tsx';
import { localCopyText } from '#client/sync/save-status.ts';
import { reviewCopyKey } from '#client/sync/store/prune-copies.ts';
import type { Copy } from '#client/sync/store/user-database.ts';
import { isReview, ReviewCard, type ShownReview } from './review-card.tsx';

/** Only the copy of the device that generated the review has its number of entries. */
export function useStoredReview(period: ReviewPeriod, today: Day) {
  const data = useData();
  const { id } = useUser();
  const copies = useLocalCopies();
  return useQuery({
    queryKey: reviewKey(period, today),
    queryFn: async ({ signal }): Promise<ShownReview | null> => {
      const { firstFrom, lastFrom, firstTo } = storedReviewBounds(period, today);
      const { data: row } = await data
        .from('analyses')
        .select('text, period_from, period_to, created_at')
        .eq('user_id', id)
        .eq('kind', 'trend')
        .gte('period_from', firstFrom)
        .lte('period_from', lastFrom)
        .gte('period_to', firstTo)
        .order('created_at', { ascending: false })
        .limit(1)
        .abortSignal(signal)
        .retry(false)
        .maybeSingle()
        .throwOnError();
      if (!row) return null;
      const copy = (await copies?.readCopy(reviewCopyKey(period)))?.value;
      // A review that was generated meanwhile has stored its own copy.
      signal.throwIfAborted();
      const review = {
        period,
        analysis: row.text,
        // The copy's time may be rounded differently, so compare the text.
        entryCount: isReview(copy) && copy.analysis === row.text ? copy.entryCount : null,
        dateRange: { from: row.period_from!, to: row.period_to! },
        generatedAt: row.created_at,
      };
      void copies?.storeCopy(reviewCopyKey(period), review);
      return review;
    },
    // Another tab or device may have generated one since.
    staleTime: 0,
    networkMode: 'always',
  });
}

export const reviewKey = (period: ReviewPeriod, today: Day) => ['review', period, today] as const;

export function ReviewCopy({ period }: { period: ReviewPeriod }) {
  const copies = useLocalCopies();
  const [copy, setCopy] = useState<Copy | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void copies?.readCopy(reviewCopyKey(period)).then((read) => isCurrent && setCopy(read));
    return () => void (isCurrent = false);
  }, [copies, period]);
  if (!isReview(copy?.value)) return null;
  return <ReviewCard result={copy.value} label="Last review" source={localCopyText(copy.at, Date.now())} />;
}
