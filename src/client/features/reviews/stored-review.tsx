/** The review that this device read last for a period, shown while the server cannot be reached. */
import { useEffect, useState } from 'react';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import { useLocalCopies } from '#client/sync/day-savers-provider.tsx';
import { localCopyText } from '#client/sync/save-status.ts';
import { reviewCopyKey } from '#client/sync/store/prune-copies.ts';
import type { Copy } from '#client/sync/store/user-database.ts';
import { isTrend, ReviewCard } from './review-card.tsx';

export function StoredReview({ period }: { period: ReviewPeriod }) {
  const copies = useLocalCopies();
  const [copy, setCopy] = useState<Copy | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void copies?.readCopy(reviewCopyKey(period)).then((read) => isCurrent && setCopy(read));
    return () => void (isCurrent = false);
  }, [copies, period]);
  if (!isTrend(copy?.value)) return null;
  return <ReviewCard result={copy.value} label="Last review" source={localCopyText(copy.at, Date.now())} />;
}
