/** Refunds payments, and books returned money from any source: our refund, one made at PayPal's site, a reversal. */
import type { PaymentDeps, Payment, Buyer, PaymentStore } from './payment-store.ts';
import { PaypalError, type Paypal, type Refund } from './paypal/paypal.ts';
import { LEASE_MS, nextCompletedPoll, nextOpenPoll, nextRefundedPoll, retryTime } from './polling-schedule.ts';
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
import { createPostgresPaymentStore } from './postgres-payment-store.ts';

/** Returned money as a webhook event reports it: PayPal's id of the refund or reversal, and its kind. */
export type ReturnHint = { refundId: string | null; kind: 'refund' | 'reversal' } | null;

/**
 * False if the payment is not `completed`. The job `reconcile-payments` retries until PayPal makes or rejects the
 * refund.
 */
export async function refundPayment(deps: PaymentDeps, id: string): Promise<boolean> {
  const requested = await deps.store.requestRefund(id, deps.clock.now());
  const payment = requested ? await deps.store.find({ id }) : null;
  if (payment) await continueRefund(deps, payment);
  return payment !== null;
}

export async function continueRefund(deps: PaymentDeps, { id }: Payment): Promise<void> {
  const { store, paypal, clock, log } = deps;
  const now = clock.now();
  const claimed = await store.claimRefund(id, now, new Date(now.getTime() + LEASE_MS));
  if (!claimed) return;
  const captureId = claimed.captureId!;
  try {
    const capture = await paypal.getCapture(captureId);
    if (capture.status === 'REFUNDED') return await bookReturnedMoney(deps, claimed, null);
    const refund = await paypal.refundCapture({ captureId, requestId: refundRequestId(claimed) });
    await applyRefund(deps, claimed, refund);
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.warn({ paymentId: id, err: error, debugId: error.debugId }, 'PayPal did not refund a payment');
    if (error.issue === 'CAPTURE_FULLY_REFUNDED') return store.schedulePoll(id, now);
    const isRejected = error.status === 422 && !error.retryable && !error.outcomeUnknown;
    if (!isRejected) return store.schedulePoll(id, retryTime(now, error.retryAfterMs));
    log.error({ paymentId: id, issue: error.issue }, 'PayPal rejects a refund: needs manual review');
    return cancelRefund(deps, claimed);
  }
}

/**
 * Every retry of one request uses the same id, so PayPal refunds once. A request that repeats a failed one needs a new
 * id: PayPal would answer with the failed refund. PayPal refunds no capture twice, whatever the ids.
 */
const refundRequestId = ({ id, refundRequestedAt }: Payment): string => `ref-${id}-${refundRequestedAt!.getTime()}`;

const cancelRefund = ({ store, clock, hasWebhook }: PaymentDeps, payment: Payment): Promise<void> =>
  store.cancelRefund(payment.id, nextCompletedPoll(payment, clock.now(), hasWebhook));

async function applyRefund(deps: PaymentDeps, payment: Payment, refund: Refund): Promise<void> {
  const { store, clock, log } = deps;
  const now = clock.now();
  if (refund.status === 'COMPLETED') {
    const part = { ref: refund.id, amountMinor: refund.amountMinor };
    const back = { kind: 'refund', part, total: payment.amountMinor, now } as const;
    return store.bookReturn(payment.id, { ...back, dueAt: null, dueAtFullReturn: null });
  }
  if (refund.status === 'PENDING' || refund.status === 'UNKNOWN') {
    return store.schedulePoll(payment.id, nextOpenPoll(payment, now));
  }
  log.error({ paymentId: payment.id, refund }, 'PayPal rejects a refund: needs manual review');
  return cancelRefund(deps, payment);
}

/** Asks PayPal how much of a completed payment was returned, and books it. */
export async function bookReturnedMoney(
  { store, paypal, clock, log, hasWebhook }: PaymentDeps,
  payment: Payment,
  hint: ReturnHint,
): Promise<void> {
  const capture = await paypal.getCapture(payment.captureId!);
  // A partly refunded capture lacks the refunded amount, but its order has it. The 0 of a `COMPLETED` capture is
  // ignored: PayPal keeps that status when a bank takes the money back, and only the reversal reports the amount.
  const isSilent = capture.status === 'COMPLETED';
  const total = isSilent ? null : (capture.refundedMinor ?? (await getRefundedOfOrder(paypal, payment)));
  const refund = hint?.refundId ? await findRefund(paypal, hint.refundId) : null;
  const part = refund?.status === 'COMPLETED' ? { ref: refund.id, amountMinor: refund.amountMinor } : null;
  const isReversed = hint?.kind === 'reversal' || capture.reason === 'CHARGEBACK';
  if (isReversed && part === null && !total) {
    log.error({ paymentId: payment.id }, 'PayPal reports a reversal without its amount: needs manual review');
  }
  const kind = capture.reason === 'CHARGEBACK' ? 'reversal' : (hint?.kind ?? 'refund');
  const now = clock.now();
  const dueAt = nextCompletedPoll(payment, now, hasWebhook);
  const dueAtFullReturn = kind === 'refund' ? nextRefundedPoll(payment, now) : null;
  await store.bookReturn(payment.id, { kind, part, total, now, dueAt, dueAtFullReturn });
}

/**
 * Checks that a booked refund has not failed since. A failed refund needs manual review: the buyer was notified, the
 * year has ended and the ledger is append-only. The operator must pay the buyer back in another way.
 */
export async function checkRefunded({ store, paypal, clock, log }: PaymentDeps, payment: Payment): Promise<void> {
  const { id, captureId, amountMinor } = payment;
  const capture = await paypal.getCapture(captureId!);
  const isRefunded = capture.status === 'REFUNDED';
  if (!isRefunded) {
    log.error({ paymentId: id, captureId, amountMinor }, 'a refund failed after it was booked: needs manual review');
  }
  await store.schedulePoll(id, isRefunded ? nextRefundedPoll(payment, clock.now()) : null);
}

/** Null when PayPal does not know the id: then the amount that the capture reports is booked. */
async function findRefund(paypal: Paypal, id: string): Promise<Refund | null> {
  try {
    return await paypal.getRefund(id);
  } catch (error) {
    if (error instanceof PaypalError && error.status === 404) return null;
    throw error;
  }
}

const getRefundedOfOrder = async (paypal: Paypal, { orderId }: Payment): Promise<number | null> =>
  (await paypal.getOrder(orderId!)).capture?.refundedMinor ?? null;

type RefundDeps = {
  database: Database;
  clock: Clock;
  /** Refunds now. Null when this process has no PayPal settings: then the server's job `reconcile-payments` refunds. */
  refundNow: ((id: string) => Promise<unknown>) | null;
};

/** `anyway` ignores the refund rule. Returns `done` with the text to print, or `refused` with the reason. */
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
    { country: payment.country, paidOn: latestToday(paidAt), analyses: count('analysis'), exports: count('export') },
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
