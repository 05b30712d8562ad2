/** Placeholder and notices while the profile is loading, missing or unavailable (docs/specification/screens.md 5). */
import { useEffect, useState, type ReactNode } from 'react';
import { useSession } from '#client/lib/session/session.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { lazyChunk, tryLoad } from '#client/ui/lazy-chunk.ts';
import styles from './journal.module.css';

/** Most pages never show it. */
const planNotice = lazyChunk(async () => (await import('./plan-notice.tsx')).PlanNotice);

/**
 * A missing or unavailable profile adds a notice and does not replace the day. The notice appears late, so it is below
 * the day: above it would shift the text while the user writes. Without a profile row the free plan applies; without an
 * answer only days of the free plan are shown.
 */
export function ProfileGate({ isReady, children }: { isReady: boolean; children: ReactNode }) {
  const { profileState } = useSession();
  const [, setHasNotice] = useState(false);
  const isUnknown = profileState === 'missing' || profileState === 'unavailable';
  useEffect(() => {
    // Best effort: the plan is requested again without the notice, too.
    if (isUnknown) void tryLoad(planNotice.load).then(setHasNotice);
  }, [isUnknown]);
  return (
    <>
      {isReady && children}
      {isUnknown && <planNotice.View />}
      {!isReady && profileState !== 'missing' && (
        <div className={styles.wait}>
          {profileState === 'unavailable' ? (
            <p role="status">This day opens as soon as your plan is known.</p>
          ) : (
            <LoadingText text="Loading Journal..." />
          )}
        </div>
      )}
    </>
  );
}
