/** A printable receipt for one payment: `/receipt?payment=<id>`. */
import { useQuery } from '@tanstack/react-query';
import ArrowLeft from 'lucide-react/icons/arrow-left';
import Printer from 'lucide-react/icons/printer';
import type { ReactNode } from 'react';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { dateLabel, daysBetween, utcDayOf, type Day } from '#domain/day/day.ts';
import { moneyLabel, RECEIPT_ITEM, receiptNumber } from '#domain/payment/payment.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link, useSearchParam, useTitle } from '#client/lib/navigation.ts';
import { useData, type Payment, type PlanChange } from '#client/lib/api/data-client.ts';
import { paymentsQuery, planChangesQuery } from '#client/lib/plan/payment-queries.ts';
import { accountName, useUser } from '#client/lib/session/session.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Brand } from '#client/ui/page/brand.tsx';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import styles from './receipt.module.css';

export function ReceiptScreen() {
  useTitle('Receipt');
  const data = useData();
  const user = useUser();
  const id = useSearchParam('payment');
  const payments = useQuery(paymentsQuery(data, user.id));
  const changes = useQuery(planChangesQuery(data, user.id));
  const receipt = payments.data && changes.data && buildReceipt(id, payments.data, changes.data);
  const retry = (): void => void Promise.all([payments.refetch(), changes.refetch()]);

  return (
    <div className={styles.page}>
      <header className={styles.top}>
        <Link to={ROUTES.profile.path}>
          <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> Back to Profile
        </Link>
        {receipt && (
          <Button onClick={() => print()}>
            <Printer size={18} strokeWidth={1.6} aria-hidden /> Print
          </Button>
        )}
      </header>
      <main className={styles.main}>
        {receipt && <Sheet receipt={receipt} />}
        {receipt === null && <ReceiptNotFound />}
        {receipt === undefined &&
          (payments.isError || changes.isError ? (
            <ReceiptLoadError busy={payments.isFetching || changes.isFetching} onRetry={retry} />
          ) : (
            <>
              <h1 className="unseen">Receipt</h1>
              <LoadingText />
            </>
          ))}
      </main>
    </div>
  );
}

function Sheet({ receipt }: { receipt: Receipt }) {
  const { payment, paidOn, period, returned } = receipt;
  const user = useUser();
  const { contact } = useClientConfig();
  const amount = moneyLabel(payment.amount_minor, payment.currency);
  const seller = [contact.operator, contact.address].filter((line) => line !== undefined);
  return (
    <article className={styles.sheet}>
      <header className={styles.head}>
        <h1 className={styles.title} tabIndex={-1}>
          Receipt
        </h1>
        <Brand />
      </header>
      <dl className={styles.facts}>
        <Fact name="Receipt number">{receiptNumber(payment.id, paidOn)}</Fact>
        <Fact name="Date">{dateLabel(paidOn)}</Fact>
        {seller.length > 0 && <Fact name="Seller">{seller.join('\n')}</Fact>}
        <Fact name="Buyer">{[accountName(user), user.email].filter(Boolean).join('\n')}</Fact>
      </dl>
      <table className={styles.items}>
        <thead>
          <tr>
            <th scope="col">Item</th>
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>
              {RECEIPT_ITEM}
              {period && <span className={styles.period}>{dateRangeLabel(period.from, period.until)}</span>}
            </td>
            <td>{amount}</td>
          </tr>
          {returned && (
            <tr>
              <td>
                {payment.status === 'refunded' ? 'Refund' : 'Payment reversed by PayPal'}
                <span className={styles.period}>{dateLabel(returned)}</span>
              </td>
              <td>−{amount}</td>
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td>
              {moneyLabel(returned ? 0 : payment.amount_minor, payment.currency)} {payment.currency}
            </td>
          </tr>
        </tfoot>
      </table>
      <p className={styles.method}>Paid with PayPal{payment.order_id && `, order ${payment.order_id}`}.</p>
    </article>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ReceiptNotFound() {
  return (
    <div className={styles.problem}>
      <h1 tabIndex={-1}>Receipt not found</h1>
      <p>
        You get a receipt when a payment is complete. Find all your receipts in{' '}
        <Link to={ROUTES.profile.path}>your profile</Link>.
      </p>
    </div>
  );
}

function ReceiptLoadError({ busy, onRetry }: { busy: boolean; onRetry: () => void }) {
  return (
    <div className={styles.problem} role="alert">
      <h1 tabIndex={-1}>Couldn't load this receipt</h1>
      <p>Your payments are safe. Check your connection and try again.</p>
      <Button tone="primary" busy={busy} busyLabel="Loading..." onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

type Paid = Pick<Payment, 'id' | 'order_id' | 'amount_minor' | 'currency' | 'status' | 'created_at' | 'completed_at'>;
type Change = Pick<PlanChange, 'access_valid_until' | 'reason' | 'changed_at' | 'payment_id' | 'valid_from'>;

// Builds the content of a receipt from a payment and its plan changes.

type Receipt = {
  payment: Paid;
  /** In UTC, as on the mailed receipt. */
  paidOn: Day;
  period: { from: Day; until: Day } | null;
  /** The day of the refund or reversal in UTC; null for a payment that stands. */
  returned: Day | null;
};

/** Null if the payment is unknown or was never completed. */
export function buildReceipt(
  id: string | undefined,
  payments: readonly Paid[],
  changes: readonly Change[],
): Receipt | null {
  const payment = payments.find((other) => other.id === id);
  if (!payment || !['completed', 'refunded', 'reversed'].includes(payment.status)) return null;
  const own = changes.filter((change) => change.payment_id === id);
  const year = own.find((change) => change.reason === 'payment');
  const end = own.find((change) => change.reason === 'refund' || change.reason === 'reversal');
  const isReturned = payment.status !== 'completed';
  const paidOn = utcDayOf(new Date(payment.completed_at ?? payment.created_at));
  return {
    payment,
    paidOn,
    period:
      year?.valid_from && year.access_valid_until ? periodOf(paidOn, year.valid_from, year.access_valid_until) : null,
    returned: isReturned && end ? utcDayOf(new Date(end.changed_at)) : null,
  };
}

/**
 * `valid_from` is a day in the time zone furthest ahead of UTC. For a year that starts at once, the receipt shows the
 * day of the payment instead; a renewal that starts later than the next day keeps `valid_from`.
 */
const periodOf = (paidOn: Day, from: Day, until: Day): { from: Day; until: Day } => ({
  from: daysBetween(paidOn, from) <= 1 ? paidOn : from,
  until,
});
