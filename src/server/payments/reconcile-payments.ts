/** One sweep: what nobody has finished is looked at again, and what PayPal told us and nobody has followed is followed. */
import { parseEvent } from './webhook-event.ts';
import type { PaypalEvent } from './webhook-event.ts';
import type { Payment, PaymentEvent, PaymentStore } from './payment-store.ts';
import { soon, SWEEP_PART_MS, UNANSWERED_IN_A_ROW } from './payment-times.ts';
import { PaypalError } from './paypal/paypal.ts';
import { settlePayment } from './settle-payment.ts';
import type { PaymentDeps, Settlement } from './settle-payment.ts';
import type { ReturnHint } from './refund-payment.ts';

/** More than that waits for the next sweep. */
const MOST_AT_ONCE = 100;
/** How long somebody waits whom this process cannot deal with. */
const TROUBLED_WAIT_MS = 5 * 60_000;
/** PayPal itself stops telling after three days. */
const EVENT_LIFE_MS = 3 * 24 * 60 * 60_000;

/** Answers how many it looked at. */
export async function reconcilePayments(
  deps: PaymentDeps,
  signal?: AbortSignal,
): Promise<{ events: number; payments: number }> {
  const { store, clock } = deps;
  const events = await store.waitingEvents(MOST_AT_ONCE);
  const mayLookAtEvents = inTime(clock, signal);
  const looked = { events: 0, payments: 0 };
  // No answer about some of them ends nothing here: an event keeps its place, and would hold up all behind it for days.
  for (const event of events) {
    if (!mayLookAtEvents()) break;
    looked.events += 1;
    await followWaiting(deps, event);
  }
  const due = await store.due(clock.now(), MOST_AT_ONCE);
  const mayLookAtPayments = inTime(clock, signal);
  let unanswered = 0;
  for (const id of due) {
    if (!mayLookAtPayments() || unanswered === UNANSWERED_IN_A_ROW) break;
    looked.payments += 1;
    unanswered = (await settleApart(deps, id)) === 'unknown' ? unanswered + 1 : 0;
  }
  return looked;
}

/** Says no when a part of a sweep has taken long enough: the next sweep goes on with what has waited longest. */
function inTime(clock: PaymentDeps['clock'], signal: AbortSignal | undefined): () => boolean {
  const endsAt = clock.now().getTime() + SWEEP_PART_MS;
  return () => !signal?.aborted && clock.now().getTime() < endsAt;
}

async function followWaiting(deps: PaymentDeps, { id, raw, receivedAt }: PaymentEvent): Promise<void> {
  const { store, clock, log } = deps;
  const event = parseEvent(raw);
  const isTooOld = clock.now().getTime() - receivedAt.getTime() > EVENT_LIFE_MS;
  if (isTooOld) log.error({ event: id }, 'an event of PayPal’s could not be followed');
  if (event === null || isTooOld) await store.eventDone(id, clock.now());
  else await followApart(deps, event);
}

// Threat: one payment of which PayPal says what our database cannot hold would end every sweep at the same place, and
// all buyers behind it would wait for ever.

/** It stays unfollowed, and the next sweep comes to it again. */
async function followApart(deps: PaymentDeps, event: PaypalEvent): Promise<void> {
  try {
    await followEvent(deps, event);
  } catch (error) {
    deps.log.error({ event: event.id, err: error }, 'an event of PayPal’s cannot be followed: a person must look');
  }
}

/** Goes to the end of the queue. That fails as well when it is the database that is gone, and then so does the sweep. */
async function settleApart(deps: PaymentDeps, id: string): Promise<Settlement | null> {
  const { store, clock, log } = deps;
  try {
    return await settlePayment(deps, id);
  } catch (error) {
    log.error({ paymentId: id, err: error }, 'a payment cannot be dealt with: a person must look');
    await store.lookAgain(id, soon(clock.now(), TROUBLED_WAIT_MS));
    return null;
  }
}

/** Asks PayPal about what an event names, and acts on the answer. What cannot be done now is left for the sweep. */
export async function followEvent(deps: PaymentDeps, event: PaypalEvent): Promise<void> {
  const { store, clock, log } = deps;
  let settlement: Settlement | 'foreign';
  try {
    const payment = await findNamedPayment(store, event);
    settlement = payment === null ? 'foreign' : await settlePayment(deps, payment.id, hintOf(event));
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.warn({ err: error, event: event.type }, 'PayPal does not answer about an event');
    return;
  }
  if (settlement === 'foreign') log.warn({ event: event.type }, 'an event of PayPal’s names no payment of ours');
  if (settlement !== 'unknown' && settlement !== 'busy') await store.eventDone(event.id, clock.now());
}

/** The payment that an event names by any of its ids; null for an event that is not about us. */
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
