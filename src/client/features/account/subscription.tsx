/** The user's plan, its end date and the offer to upgrade or renew. Hidden without a profile. */
import { useQuery } from '@tanstack/react-query';
import { Crown } from 'lucide-react';
import { dateLabel, dayOf, daysBetween, type Day } from '#domain/day/day.ts';
import { RENEWAL_NOTICE_DAYS } from '#domain/payment/payment.ts';
import { PLANS } from '#domain/plan/plan.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { planChangesQuery, usePaymentPending } from '#client/lib/plan/payment-queries.ts';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Section } from '#client/ui/page/page.tsx';
import { Hint, Quiet } from '#client/ui/stack.tsx';
import { SupportLink, useSupportAddress } from '#client/ui/support-link.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { findEndedPlan } from './ended-plan.ts';
import styles from './account.module.css';

export function Subscription() {
  const { profile, profileState } = useSession();
  const isPremium = usePremium() === true;
  const hasSupport = useSupportAddress() !== undefined;
  if (profileState === 'unavailable') {
    return (
      <Section title="Subscription Details">
        <PlanPlaceholder />
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
            {isPremium && <Crown size={18} strokeWidth={1.8} aria-hidden />}
            {isPremium ? PLANS.premium.name : PLANS.free.name}
          </dd>
        </div>
        {isPremium && (
          <div>
            <dt>Valid Until</dt>
            <dd>{until ? dateLabel(until) : 'No end date'}</dd>
          </div>
        )}
      </dl>
      {isPremium ? <CloserNotice until={until} /> : <DabblerNotice />}
      {hasSupport && (
        <Hint>
          Questions about your plan or a payment? Write to <SupportLink about="plan and payments" />.
        </Hint>
      )}
    </Section>
  );
}

function CloserNotice({ until }: { until: Day | null }) {
  const left = until && daysBetween(dayOf(new Date()), until);
  return (
    <>
      <Quiet>You're a Closer. You have full access to every log and every feature.</Quiet>
      {left !== null && left <= RENEWAL_NOTICE_DAYS && (
        <>
          <Quiet>
            <strong>Your year ends {inDays(left)}.</strong> It does not renew automatically. If you renew now, the new
            year starts when this one ends.
          </Quiet>
          <UpgradeButton feature="default">Renew for another year</UpgradeButton>
        </>
      )}
    </>
  );
}

const inDays = (left: number): string => (left === 0 ? 'today' : left === 1 ? 'tomorrow' : `in ${left} days`);

function DabblerNotice() {
  const { features } = useClientConfig();
  const changes = useQuery(planChangesQuery(useData(), useUser().id));
  const ended = findEndedPlan(changes.data ?? [], dayOf(new Date()));
  const isPaying = usePaymentPending();
  return (
    <>
      <Quiet>
        {ended === null ? (
          <>
            You're a Dabbler. You can open the last 30 days.
            {!isPaying && <> Upgrade to Closer for every log{features.coach && ', AI feedback'} and export.</>}
          </>
        ) : (
          <>
            <strong>
              {ended.kind === 'expired'
                ? `Your year ended on ${dateLabel(ended.on)}.`
                : `Your payment was returned on ${dateLabel(ended.on)}, and your year ended with it.`}
            </strong>{' '}
            Nothing was deleted. You can open the last 30 days. Older logs are locked until you upgrade to Closer.
          </>
        )}
      </Quiet>
      <UpgradeButton feature="default" />
    </>
  );
}
