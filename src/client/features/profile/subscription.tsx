/** What the user's plan is, until when, and what it opens. Not shown while there is no profile. */
import { Crown } from 'lucide-react';
import { dateLabel } from '#domain/day.ts';
import { PLANS } from '#domain/plan.ts';
import { PlanWait } from '#client/ui/plan-wait.tsx';
import { usePremium } from '#client/lib/premium.ts';
import { useSession } from '#client/lib/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Section } from '#client/ui/page.tsx';
import styles from './profile.module.css';

export function Subscription({ onUpgrade }: { onUpgrade: () => void }) {
  const { profile, profileState } = useSession();
  const premium = usePremium() === true;
  // Room for the card while it loads, so that the form below does not jump.
  if (profileState === 'loading') return <div className={styles.pending} aria-hidden="true" />;
  if (profileState === 'unread') {
    return (
      <Section title="Subscription Details">
        <PlanWait />
      </Section>
    );
  }
  if (!profile) return null;

  const until = profile.access_valid_until;
  return (
    <Section title="Subscription Details">
      <dl className={styles.facts}>
        <div>
          <dt>Current Plan</dt>
          <dd>
            {premium && <Crown size={18} strokeWidth={1.8} aria-hidden />}
            {premium ? PLANS.premium.name : PLANS.free.name}
          </dd>
        </div>
        {premium && (
          <div>
            <dt>Valid Until</dt>
            <dd>{until ? dateLabel(until) : 'No end date'}</dd>
          </div>
        )}
      </dl>
      {premium ? (
        <p className={styles.notice}>You're a Closer. You have full access to every log and every feature.</p>
      ) : (
        <>
          <p className={styles.notice}>
            You're a Dabbler. The last 30 days are open to you; upgrade to Closer for every log, AI feedback and export.
          </p>
          <Button tone="primary" onClick={onUpgrade}>
            Upgrade to Closer
          </Button>
        </>
      )}
    </Section>
  );
}
