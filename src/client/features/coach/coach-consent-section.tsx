/** Gives or withdraws the consent to the coach. Hidden if there is neither a coach nor a consent. */
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useConsent } from './use-consent.ts';
import { Notice } from '#client/ui/notice.tsx';
import { Section } from '#client/ui/page/page.tsx';
import styles from './coach-consent-section.module.css';

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
