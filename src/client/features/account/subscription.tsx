/**
 * The user's plan, its end date and the offer to upgrade or renew (a placeholder if the profile could not be loaded);
 * and the payments with receipts.
 */
import { useQuery } from '@tanstack/react-query';
import Crown from 'lucide-react/icons/crown';
import { dateLabel, dayOf, daysBetween, earlierOf, isBefore, type Day } from '#domain/day/day.ts';
import { RENEWAL_NOTICE_DAYS, moneyLabel, type PaymentStatus } from '#domain/payment/payment.ts';
import { PLANS } from '#domain/plan/plan.ts';
import { Link } from '#client/lib/navigation.ts';
import { useData, type Payment, type PlanChange } from '#client/lib/api/data-client.ts';
import { planChangesQuery, usePaymentPending, paymentsQuery } from '#client/lib/plan/payment-queries.ts';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Section } from '#client/ui/page/page.tsx';
import { Hint, Quiet, LoadError } from '#client/ui/stack.tsx';
import { SupportLink, useSupportAddress } from '#client/ui/support-link.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import styles from './account.module.css';
import { ROUTES } from '#domain/routes.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';

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

/** Null hides attempts that were never completed at PayPal. */
const STATUS_LABELS: Record<PaymentStatus, string | null> = {
  created: null,
  voided: null,
  expired: null,
  approved: 'Processing',
  capturing: 'Processing',
  pending: 'Under review at PayPal',
  completed: 'Paid',
  declined: 'Declined, not charged',
  refunded: 'Refunded',
  reversed: 'Reversed',
  needs_review: 'We are checking this payment',
};
const HAS_RECEIPT: ReadonlySet<PaymentStatus> = new Set(['completed', 'refunded', 'reversed']);

export function PaymentHistory() {
  return (
    <Section title="Payment History">
      <PaymentTable />
    </Section>
  );
}

/** The user's payments, newest first, with receipts. */
function PaymentTable() {
  const payments = useQuery(paymentsQuery(useData(), useUser().id));
  if (payments.isPending) return <LoadingText />;
  if (payments.isError) {
    return <LoadError request={payments}>Couldn't load your payments. They are safe, and so is your plan.</LoadError>;
  }
  const shown = payments.data.filter(({ status }) => STATUS_LABELS[status] !== null);
  if (shown.length === 0) return <Quiet>No payments yet.</Quiet>;
  return (
    <table className={styles.payments}>
      <thead>
        <tr>
          <th scope="col">Date</th>
          <th scope="col">Amount</th>
          <th scope="col">Status</th>
          <th scope="col">
            <span className="unseen">Receipt</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((payment) => (
          <PaymentRow key={payment.id} payment={payment} />
        ))}
      </tbody>
    </table>
  );
}

type ListedPayment = Pick<Payment, 'id' | 'amount_minor' | 'currency' | 'status' | 'created_at' | 'completed_at'>;

function PaymentRow({ payment }: { payment: ListedPayment }) {
  const date = dateLabel(dayOf(new Date(payment.completed_at ?? payment.created_at)));
  return (
    <tr>
      <td>{date}</td>
      <td>{moneyLabel(payment.amount_minor, payment.currency)}</td>
      <td>{STATUS_LABELS[payment.status]}</td>
      <td>
        {HAS_RECEIPT.has(payment.status) && (
          <Link to={`${ROUTES.receipt.path}?payment=${payment.id}`} aria-label={`Receipt of ${date}`}>
            Receipt
          </Link>
        )}
      </td>
    </tr>
  );
}

// Finds out how and when a paid plan ended, from its plan changes.

type EndedPlan = { kind: 'expired' | 'returned'; on: Day };
type Change = Pick<PlanChange, 'plan' | 'access_valid_until' | 'reason' | 'changed_at'>;

/** Null if the user never had a paid plan or has one now. `changes` are newest first. */
export function findEndedPlan(changes: readonly Change[], today: Day): EndedPlan | null {
  const [last] = changes;
  const year = changes.find((change) => change.plan === 'premium');
  if (!last || !year) return null;
  const until = year.access_valid_until;
  // The job that records expired plans may not have run yet.
  if (last === year) return until !== null && isBefore(until, today) ? { kind: 'expired', on: until } : null;
  const changedOn = dayOf(new Date(last.changed_at));
  if (last.reason === 'refund' || last.reason === 'reversal') return { kind: 'returned', on: changedOn };
  return { kind: 'expired', on: until === null ? changedOn : earlierOf(until, changedOn) };
}
