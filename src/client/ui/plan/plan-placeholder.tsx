/** Replaces content that depends on the plan: while the plan is unknown, and on the free plan. */
import { useState, type ReactNode } from 'react';
import { PROFILE_MESSAGES } from '#domain/messages.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '../button.tsx';
import styles from './plan-placeholder.module.css';
import { useToast } from '../toast.tsx';
import { LoadingText } from '../loading-text.tsx';
import { LockedCrown } from './upgrade-button.tsx';

/** Shown while the plan is unknown. Never offers an upgrade: the user may have paid. */
export function PlanPlaceholder() {
  const { profileState } = useSession();
  if (profileState === 'unavailable') return <PlanUnavailable />;
  return (
    <div className={styles.pending}>
      <LoadingText />
    </div>
  );
}

/**
 * The notice and refresh button for a plan that could not be read and for a missing profile row. Shows a failed refresh
 * inline, a successful one as a toast, because this component disappears once the plan is known. `more`: what else the
 * user should know.
 */
export function PlanUnavailable({ more = null }: { more?: string | null }) {
  const { profileState, refreshProfile } = useSession();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const refresh = async (): Promise<void> => {
    setBusy(true);
    const found = await refreshProfile();
    setBusy(false);
    setHasFailed(!found);
    if (found) toast({ kind: 'success', text: PROFILE_MESSAGES.refreshed });
  };
  return (
    <div className={styles.unread}>
      <p role="status">
        {hasFailed
          ? PROFILE_MESSAGES.refreshFailed
          : profileState === 'missing'
            ? 'Refreshing profile...'
            : "We couldn't load your plan. Your logs and your plan are safe."}
        {more && ` ${more}`}
      </p>
      <Button onClick={refresh} busy={busy} busyLabel="Refreshing...">
        Refresh Profile
      </Button>
    </div>
  );
}

/** Replaces a premium screen on the free plan: describes the feature and offers the upgrade. */
export const Pitch = ({ lead, children }: { lead: string | null; children: ReactNode }) => (
  <section className={styles.pitch}>
    <h2 className={styles.flag}>
      <LockedCrown aria-hidden="true" /> Premium Feature
    </h2>
    {lead !== null && <p className={styles.lead}>{lead}</p>}
    {children}
  </section>
);
