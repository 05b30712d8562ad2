/** The user's payments, newest first, with receipts. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { moneyLabel, type PaymentStatus } from '#domain/payment/payment.ts';
import { ROUTES } from '#domain/routes.ts';
import { useData, type Payment } from '#client/lib/api/data-client.ts';
import { paymentsQuery } from '#client/lib/plan/payment-queries.ts';
import { useUser } from '#client/lib/session/session.ts';
import { LoadError, Quiet } from '#client/ui/stack.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import styles from './account.module.css';

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
