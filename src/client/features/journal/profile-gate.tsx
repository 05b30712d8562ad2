/** Placeholder and notices while the profile is loading, missing or unavailable (docs/specification/screens.md 5). */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { PROFILE_MESSAGES } from '#domain/account/profile-messages.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { PlanUnavailable } from '#client/ui/plan/plan-placeholder.tsx';
import { useToast } from '#client/ui/toast.tsx';
import styles from './journal.module.css';

/**
 * A missing or unavailable profile adds a notice above the day and does not replace it. Without a row the free plan
 * applies; without an answer only days of the free plan are shown.
 */
export function ProfileGate({ isReady, children }: { isReady: boolean; children: ReactNode }) {
  const { profileState } = useSession();
  return (
    <>
      {profileState === 'missing' && <ProfileMissing />}
      {profileState === 'unavailable' && <PlanUnavailable />}
      {isReady && children}
      {!isReady && profileState !== 'missing' && (
        <p className={styles.wait} role="status">
          {profileState === 'unavailable' ? 'This day opens as soon as your plan is known.' : 'Loading Journal...'}
        </p>
      )}
    </>
  );
}

function ProfileMissing() {
  const { refreshProfile } = useSession();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const refresh = async (): Promise<void> => {
    setBusy(true);
    const found = await refreshProfile();
    setBusy(false);
    toast(
      found
        ? { kind: 'success', text: PROFILE_MESSAGES.refreshed }
        : { kind: 'error', text: PROFILE_MESSAGES.refreshFailed },
    );
  };
  return (
    <div className={styles.profile}>
      <p role="status">Refreshing profile...</p>
      <Button onClick={refresh} busy={busy} busyLabel="Refreshing...">
        Refresh Profile
      </Button>
    </div>
  );
}
