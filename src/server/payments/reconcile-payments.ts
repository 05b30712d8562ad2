/**
 * One sweep of the job `reconcile-payments`: processes the stored webhook events that are still unprocessed, and polls
 * the payments that are due.
 */
import type { PaymentDeps, Settlement, Payment, PaymentEvent, PaymentStore } from './payment-store.ts';
import { PaypalError } from './paypal/paypal.ts';
import { MAX_CONSECUTIVE_UNANSWERED, MAX_SWEEP_PART_MS, retryTime } from './polling-schedule.ts';
import type { ReturnHint } from './refund-payment.ts';
import { settlePayment } from './settle-payment.ts';
import { parseEvent, type PaypalEvent } from './webhook.ts';

/** Limits the events, and separately the payments, of one sweep. Any others wait for the next sweep. */
const MAX_PER_SWEEP = 100;
/** The next poll of a payment that cannot be settled because of an unexpected error. */
const FAILED_PAYMENT_DELAY_MS = 5 * 60_000;
/** Older webhook events are no longer retried. PayPal also stops redelivering an event after three days. */
const EVENT_LIFETIME_MS = 3 * 24 * 60 * 60_000;

/** Returns how many events and payments it handled. */
export async function reconcilePayments(
  deps: PaymentDeps,
  signal?: AbortSignal,
): Promise<{ events: number; payments: number }> {
  const { store, clock } = deps;
  const events = await store.unprocessedEvents(MAX_PER_SWEEP);
  const hasTimeForEvents = createTimeLimit(clock, signal);
  const handled = { events: 0, payments: 0 };
  // Events without an answer from PayPal do not end this part: an event keeps its place in the queue, and would block
  // all later events for days.
  for (const event of events) {
    if (!hasTimeForEvents()) break;
    handled.events += 1;
    await processStored(deps, event);
  }
  const due = await store.due(clock.now(), MAX_PER_SWEEP);
  const hasTimeForPayments = createTimeLimit(clock, signal);
  let unanswered = 0;
  for (const id of due) {
    if (!hasTimeForPayments() || unanswered === MAX_CONSECUTIVE_UNANSWERED) break;
    handled.payments += 1;
    unanswered = (await settleIsolated(deps, id)) === 'unknown' ? unanswered + 1 : 0;
  }
  return handled;
}

/** The returned function says whether the part may start another row: the job is not aborted and time is left. */
function createTimeLimit(clock: PaymentDeps['clock'], signal: AbortSignal | undefined): () => boolean {
  const endsAt = clock.now().getTime() + MAX_SWEEP_PART_MS;
  return () => !signal?.aborted && clock.now().getTime() < endsAt;
}

async function processStored(deps: PaymentDeps, { id, raw, receivedAt }: PaymentEvent): Promise<void> {
  const { store, clock, log } = deps;
  const event = parseEvent(raw);
  const isTooOld = clock.now().getTime() - receivedAt.getTime() > EVENT_LIFETIME_MS;
  if (isTooOld) log.error({ event: id }, 'gave up processing a PayPal event');
  if (event !== null && !isTooOld) return processIsolated(deps, event);
  const payment = event && (await findNamedPayment(store, event));
  await store.markEventProcessed(id, clock.now(), payment?.userId ?? null);
}

// Threat: PayPal reports something about one payment that the database rejects. Without isolation every sweep would end
// at that payment, and all buyers behind it would wait for ever.

/** On an error the event stays unprocessed, and the next sweep tries again. */
async function processIsolated(deps: PaymentDeps, event: PaypalEvent): Promise<void> {
  try {
    await processEvent(deps, event);
  } catch (error) {
    deps.log.error({ event: event.id, err: error }, 'processing a PayPal event failed: needs manual review');
  }
}

/**
 * On an error the payment is polled again after five minutes; a `capturing` payment keeps the poll time that it has. If
 * the database is down, setting the poll time fails too and ends the sweep.
 */
async function settleIsolated(deps: PaymentDeps, id: string): Promise<Settlement | null> {
  const { store, clock, log } = deps;
  try {
    return await settlePayment(deps, id);
  } catch (error) {
    log.error({ paymentId: id, err: error }, 'a payment cannot be settled: needs manual review');
    await store.schedulePoll(id, retryTime(clock.now(), FAILED_PAYMENT_DELAY_MS));
    return null;
  }
}

/** Polls the payment that an event names and settles or refunds it. After a failure the sweep retries the event. */
export async function processEvent(deps: PaymentDeps, event: PaypalEvent): Promise<void> {
  const { store, clock, log } = deps;
  let settlement: Settlement | null = null;
  const payment = await findNamedPayment(store, event);
  try {
    if (payment === null) log.warn({ event: event.type }, 'a PayPal event refers to an unknown payment');
    else settlement = await settlePayment(deps, payment.id, hintOf(event));
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.warn({ err: error, event: event.type }, 'polling PayPal for an event failed');
    return;
  }
  if (settlement === 'unknown' || settlement === 'capturing') return;
  await store.markEventProcessed(event.id, clock.now(), payment?.userId ?? null);
}

/** The payment that an event names by any of its ids; null for an event that names no payment of ours. */
export async function findNamedPayment(store: PaymentStore, event: PaypalEvent): Promise<Payment | null> {
  const { orderId, captureId, paymentId } = event;
  return (
    (orderId === null ? null : await store.find({ orderId })) ??
    (captureId === null ? null : await store.find({ captureId })) ??
    (paymentId === null ? null : await store.find({ id: paymentId }))
  );
}

function hintOf({ type, refundId }: PaypalEvent): ReturnHint {
  if (type === 'PAYMENT.CAPTURE.REFUNDED') return { refundId, kind: 'refund' };
  return type === 'PAYMENT.CAPTURE.REVERSED' ? { refundId, kind: 'reversal' } : null;
}
