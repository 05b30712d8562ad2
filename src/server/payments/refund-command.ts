/** The operator's payment commands: list an account's payments, and refund one. `anyway` ignores the refund rule. */
import { earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import {
  MAX_COOLING_OFF_ANALYSES,
  COOLING_OFF_DAYS,
  coolingOffRefusal,
  type CoolingOffRefusal,
} from '#domain/payment/payment.ts';
import type { Clock } from '#server/clock.ts';
import type { Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Buyer, Payment, PaymentStore } from './payment-store.ts';
import { createPostgresPaymentStore } from './postgres-payment-store.ts';

type RefundDeps = {
  database: Database;
  clock: Clock;
  /** Refunds now. Null when this process has no PayPal settings: then the server's job `reconcile-payments` refunds. */
  refundNow: ((id: string) => Promise<unknown>) | null;
};

/** Returns the lines to print, or `refused` with the reason. */
export async function refundByOperator(
  { database, clock, refundNow }: RefundDeps,
  id: string,
  anyway: boolean,
): Promise<{ done: string } | { refused: string }> {
  const store = createPostgresPaymentStore(database);
  const payment = await store.find({ id });
  if (!payment) return { refused: `There is no payment ${id}.` };
  if (payment.status !== 'completed')
    return { refused: `This payment is ${payment.status}: nothing can be given back.` };
  const refusal = await refusalOf(database, payment, clock.now());
  if (refusal !== null && !anyway) {
    return { refused: `${reasonFor(refusal, payment)}\nWith --anyway it is given back all the same.` };
  }
  if (refundNow) await refundNow(id);
  else await store.requestRefund(id, clock.now());
  return { done: await outcomeOf(database, store, payment) };
}

/** Decides in the buyer's favour at day boundaries, because the server does not know the buyer's time zone. */
async function refusalOf(database: Database, payment: Payment, now: Date): Promise<CoolingOffRefusal | null> {
  const paidAt = payment.completedAt ?? payment.createdAt;
  const uses = await database.asService('refund a payment').run(
    queryBuilder
      .selectFrom('plan_uses')
      .select(({ fn }) => ['kind', fn.countAll<number>().as('count')])
      .where('user_id', '=', payment.userId)
      .where('used_at', '>=', paidAt)
      .groupBy('kind'),
  );
  const count = (kind: 'analysis' | 'export'): number => uses.find((use) => use.kind === kind)?.count ?? 0;
  return coolingOffRefusal(
    {
      country: payment.country,
      paidOn: latestToday(paidAt),
      analyses: count('analysis'),
      exports: count('export'),
    },
    earliestToday(now),
  );
}

function reasonFor(refusal: CoolingOffRefusal, { country }: Payment): string {
  switch (refusal) {
    case 'country':
      return `It was bought ${country === null ? 'without naming a country' : `in ${country}`}, outside the European Economic Area.`;
    case 'time':
      return `It was bought more than ${COOLING_OFF_DAYS} days ago.`;
    case 'analyses':
      return `The plan was used for more than ${MAX_COOLING_OFF_ANALYSES} analyses since.`;
    case 'export':
      return 'The plan was used for an export since.';
  }
}

async function outcomeOf(database: Database, store: PaymentStore, payment: Payment): Promise<string> {
  const { id, userId, amountMinor, currency } = payment;
  const now = await store.find({ id });
  const money = `${moneyText(amountMinor)} ${currency}`;
  if (now?.status === 'refunded' || now?.status === 'reversed') {
    if (await hasEndedYear(database, userId, id)) return `${money} went back, and the year it paid for ended.`;
    return `${money} went back. ${planWithoutYear(await store.buyer(userId))}`;
  }
  if (now?.refundRequestedAt)
    return `${money} is on its way back: the server asks PayPal within a minute, and until it is done.`;
  return `PayPal refuses to give ${money} back. The log says why.`;
}

async function hasEndedYear(database: Database, userId: string, paymentId: string): Promise<boolean> {
  const ends = await database
    .asService('refund a payment')
    .run(
      queryBuilder
        .selectFrom('plan_changes')
        .select('id')
        .where('user_id', '=', userId)
        .where('payment_id', '=', paymentId)
        .where('reason', 'in', ['refund', 'reversal']),
    );
  return ends.length > 0;
}

/** Describes a plan that the refund did not change, because the refunded year was no longer a part of it. */
function planWithoutYear(buyer: Buyer | null): string {
  if (buyer === null) return 'The account is gone.';
  if (buyer.subscription_plan === 'free') return 'The year it paid for had ended before.';
  const plan = `a Closer ${endText(buyer.access_valid_until)}`;
  return `The plan now comes from another payment or grant, so it stays: ${plan}.`;
}

export const endText = (until: Day | null): string => (until === null ? 'without end' : `until ${until}`);

export async function listPayments(database: Database, userId: string): Promise<string> {
  const payments = await database
    .asService('run an operator command')
    .run(
      queryBuilder
        .selectFrom('payments')
        .select(['id', 'order_id', 'amount_minor', 'currency', 'status', 'country', 'created_at'])
        .where('user_id', '=', userId)
        .orderBy('created_at', 'desc'),
    );
  if (payments.length === 0) return 'No payments.';
  return payments
    .map(({ id, order_id, amount_minor, currency, status, country, created_at }) =>
      [
        id,
        created_at.toISOString().slice(0, 10),
        moneyText(amount_minor),
        currency,
        status,
        country ?? '-',
        order_id ?? '-',
      ].join('  '),
    )
    .join('\n');
}

const moneyText = (minor: number): string => (minor / 100).toFixed(2);
