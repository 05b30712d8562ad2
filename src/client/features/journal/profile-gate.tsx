/** Placeholder and notices while the profile is loading, missing or unavailable (docs/specification/screens.md 5). */
import type { ReactNode } from 'react';
import { useSession } from '#client/lib/session/session.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { PlanUnavailable } from '#client/ui/plan/plan-placeholder.tsx';
import styles from './journal.module.css';

/**
 * A missing or unavailable profile adds a notice and does not replace the day. The notice appears late, so it is below
 * the day: above it would shift the text while the user writes. Without a profile row the free plan applies; without an
 * answer only days of the free plan are shown.
 */
export function ProfileGate({ isReady, children }: { isReady: boolean; children: ReactNode }) {
  const { profileState } = useSession();
  return (
    <>
      {isReady && children}
      {(profileState === 'missing' || profileState === 'unavailable') && (
        <div className={styles.plan}>
          <PlanUnavailable />
        </div>
      )}
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
