/** Where the agreement to the coach is taken back, or given. Not shown where there is no coach and none was agreed to. */
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useConsent } from '#client/lib/coach/use-consent.ts';
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
        When you ask it, the logs it needs are sent to {coachProvider ?? 'an AI service'}. Without this nothing is sent;
        what it said before stays.
      </p>
      {failed && <Notice kind="error">This could not be changed. Please try again.</Notice>}
    </Section>
  );
}
