/** The consent to send logs to the AI service (docs/specification/coach.md 1). */
import { useState, type Ref } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useData } from '#client/lib/api/data-client.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { Section } from '#client/ui/page/page.tsx';
import styles from './coach-consent.module.css';

/**
 * Asks for consent before any log is sent to an AI service: once per account, and again after a provider change.
 *
 * `button`: a ref to the button that gives consent.
 */
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

type Consent = {
  given: boolean;
  busy: boolean;
  /** The last change was not stored and is not in effect. */
  failed: boolean;
  change: (given: boolean) => Promise<void>;
};

export function useConsent(): Consent {
  const data = useData();
  const user = useUser();
  const { profile, refreshProfile } = useSession();
  const [state, setState] = useState({ busy: false, failed: false });

  const change = async (given: boolean): Promise<void> => {
    setState({ busy: true, failed: false });
    const { error } = await data.from('profiles').update({ ai_consent: given }).eq('id', user.id);
    if (!error) await refreshProfile();
    setState({ busy: false, failed: Boolean(error) });
  };
  return { ...state, given: profile?.ai_consent ?? false, change };
}

/** Tells users of the sandbox that its simulated model writes the answers. */
export function SandboxModelNotice() {
  const { sandboxModel } = useClientConfig();
  if (!sandboxModel) return null;
  return (
    <p className={styles.sandbox}>
      Sandbox: a simulated model writes the answers, not an AI. Nothing leaves this machine.
    </p>
  );
}

/** Gives or withdraws the consent to the coach. Without a consent, hidden on the free plan or if the coach is off. */
export function CoachConsentSection() {
  const { features, coachProvider } = useClientConfig();
  const { given, busy, failed, change } = useConsent();
  const premium = usePremium();
  if (!given && !(features.coach && premium)) return null;
  return (
    <Section title="AI coach">
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={given}
          aria-busy={busy || undefined}
          aria-describedby="coach-consent"
          onChange={(event) => void (busy || change(event.currentTarget.checked))}
        />
        The coach may read my logs
      </label>
      <p id="coach-consent" className={styles.hint}>
        When you ask for feedback, the logs it needs are sent to {coachProvider ?? 'an AI service'}. If you turn this
        off, nothing is sent. Earlier feedback stays.
      </p>
      {failed && <Notice kind="error">Couldn't save this setting. Please try again.</Notice>}
    </Section>
  );
}
