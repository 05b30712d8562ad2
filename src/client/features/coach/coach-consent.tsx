/** Asks for consent before any log is sent to an AI service: once per account, and again after a provider change. */
import { Link } from 'wouter';
import type { Ref } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useConsent } from './use-consent.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import styles from './coach-consent.module.css';
import { Notice } from '#client/ui/notice.tsx';
import { SandboxModelNotice } from './sandbox-model-notice.tsx';

/** `button`: a ref to the button that gives consent. */
export function CoachConsent({ button }: { button?: Ref<HTMLButtonElement> }) {
  const { coachProvider } = useClientConfig();
  const { busy, failed, change } = useConsent();
  return (
    <div className={styles.consent}>
      <p className={styles.lead}>
        When you ask the coach, the logs it needs are sent to {coachProvider ?? 'an AI service'}.
      </p>
      <p className={styles.quiet}>
        These are the day you ask about and up to three days before it, or the days of a review. Nothing is sent until
        you ask. You can withdraw your consent on your{' '}
        <Link to={ROUTES.profile.path} className={styles.link}>
          profile
        </Link>
        .
      </p>
      <SandboxModelNotice />
      {failed && <Notice kind="error">Couldn't save your consent. Nothing was sent. Please try again.</Notice>}
      <Button ref={button ?? null} tone="primary" busy={busy} busyLabel="Saving..." onClick={() => void change(true)}>
        I agree
      </Button>
    </div>
  );
}
