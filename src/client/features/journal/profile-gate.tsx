/** What stands in for the page while the profile is read, and when there is none (docs/specification/screens.md 5). */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { PROFILE_MESSAGES } from '#domain/account/profile-messages.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { PlanUnavailable } from '#client/ui/plan/plan-placeholder.tsx';
import { useToast } from '#client/ui/toast.tsx';
import styles from './journal.module.css';

/**
 * A profile that is missing or could not be read takes nobody's page away: it is said above the day. Without a row the
 * free plan's rules hold; without an answer only a day that the free plan opens is shown, and an older one waits.
 */
export function JournalWait({ until, children }: { until: boolean; children: ReactNode }) {
  const { profileState } = useSession();
  return (
    <>
      {profileState === 'missing' && <ProfileMissing />}
      {profileState === 'unavailable' && <PlanUnavailable />}
      {until && children}
      {!until && profileState !== 'missing' && (
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
