/** Where the plan decides and is not known: a wait, then that it could not be read. Never an offer to buy what one has. */
import { useState } from 'react';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '../button.tsx';
import styles from './plan-placeholder.module.css';
import { useToast } from '../toast.tsx';
import { LoadingText } from '../loading-text.tsx';

export function PlanPlaceholder() {
  const { profileState } = useSession();
  return profileState === 'unavailable' ? <PlanUnavailable /> : <LoadingText />;
}

/** The failure is said here and not in a toast: a menu or panel would lie over that. */
export function PlanUnavailable() {
  const { refreshProfile } = useSession();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const refresh = async (): Promise<void> => {
    setBusy(true);
    const found = await refreshProfile();
    setBusy(false);
    setFailed(!found);
    if (found) toast({ kind: 'success', text: 'Profile refreshed successfully!' });
  };
  return (
    <div className={styles.unread}>
      <p role="status">
        {failed
          ? 'Failed to refresh profile. Please try again.'
          : 'We could not read your plan. Your logs and your plan are safe.'}
      </p>
      <Button onClick={refresh} busy={busy} busyLabel="Refreshing profile...">
        Refresh Profile
      </Button>
    </div>
  );
}
