/** Asked once per account, before the first word goes to an AI service: who will read it, and one button that agrees. */
import { Link } from '@tanstack/react-router';
import type { Ref } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useConsent } from '#client/lib/coach/use-consent.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Button } from '../button.tsx';
import styles from './coach-consent.module.css';
import { Notice } from '../notice.tsx';
import { SandboxModelNotice } from './sandbox-model-notice.tsx';

/** `button`: told of the one that agrees. */
export function CoachConsent({ button }: { button?: Ref<HTMLButtonElement> }) {
  const { coachProvider } = useClientConfig();
  const { busy, failed, change } = useConsent();
  return (
    <div className={styles.consent}>
      <p className={styles.lead}>
        When you ask the coach, the logs it needs are sent to {coachProvider ?? 'an AI service'}.
      </p>
      <p className={styles.quiet}>
        Those are the day you ask about and up to three days before it, or the days of a review. Nothing is sent until
        you ask. You can take this back on your{' '}
        <Link to={ROUTES.profile.path} className={styles.link}>
          profile
        </Link>
        .
      </p>
      <SandboxModelNotice />
      {failed && <Notice kind="error">Your agreement could not be stored. Nothing was sent. Please try again.</Notice>}
      <Button ref={button ?? null} tone="primary" busy={busy} busyLabel="Storing..." onClick={() => void change(true)}>
        I agree
      </Button>
    </div>
  );
}
