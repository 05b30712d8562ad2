/** A printable receipt for one payment: `/receipt?payment=<id>`. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ArrowLeft, Printer } from 'lucide-react';
import type { ReactNode } from 'react';
import { dateLabel } from '#domain/day/day.ts';
import { moneyLabel, RECEIPT_ITEM, receiptNumber } from '#domain/payment/receipt.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSearchParam } from '#client/lib/navigation.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { paymentsQuery, planChangesQuery } from '#client/lib/plan/payment-queries.ts';
import { accountName, useUser } from '#client/lib/session/session.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { Brand } from '#client/ui/page/brand.tsx';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { buildReceipt, type Receipt } from './receipt.ts';
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
              {period && (
                <span className={styles.period}>
                  {dateLabel(period.from)} – {dateLabel(period.until)}
                </span>
              )}
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
