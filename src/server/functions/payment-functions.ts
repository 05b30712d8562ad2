/** The payment functions: they start a PayPal order and capture an approved one. */
import type { Context } from 'hono';
import { MESSAGES } from '#domain/messages.ts';
import { isOrderId } from '#domain/payment/payment.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { FunctionError, readBody } from './function-request.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import type { Payments } from '../payments/payments.ts';

const REFUSALS = {
  endless: { status: 409, error: 'Your plan has no end, so there is nothing to pay for.' },
  'in progress': { status: 409, error: MESSAGES.paymentPending },
  'blocked country': { status: 403, error: 'PayPal payments are not available in your country.' },
  'too many': { status: 429, error: 'Too many payments have been begun. Please try again in a few hours.' },
  'no account': { status: 401, error: 'Please sign in' },
  'PayPal failed': { status: 503, error: 'PayPal cannot be reached right now. Please try again in a few minutes.' },
} as const;

/** The `Retry-After` of `too many`: an hour, because the oldest open order expires within hours, not minutes. */
const TOO_MANY_RETRY_SECONDS = 3_600;

/** `paypal-create-order` {amount, currency, user_id}: starts a payment and returns the URL of PayPal's approval page. */
export function createOrder(payments: Payments | null) {
  return async function create(context: Context<AppEnv>, { userId }: SignedInCaller): Promise<Response> {
    if (!payments) throw new FunctionError(503, MESSAGES.paymentsOff);
    const { amount, currency, user_id } = await readBody(context);
    if (user_id !== userId) throw new FunctionError(403, 'This payment is for another account. Please sign in again.');
    if (!isPrice(amount) || currency !== PREMIUM_PRICE.currency) {
      throw new FunctionError(400, 'The price has changed. Please reload the page and try again.');
    }
    const started = await payments.start(userId);
    if (started.outcome === 'order') return context.json({ success: true, approval_url: started.approvalUrl });
    const { status, error } = REFUSALS[started.outcome];
    const headers = status === 429 ? { 'Retry-After': String(TOO_MANY_RETRY_SECONDS) } : {};
    throw new FunctionError(status, error, { headers });
  };
}

/** `24`, `24.0` and `"24.00"` are the same price. */
function isPrice(amount: unknown): boolean {
  if (typeof amount === 'string' && !/^\d{1,9}(\.\d{1,2})?$/.test(amount)) return false;
  return (
    (typeof amount === 'string' || typeof amount === 'number') && Number(amount) * 100 === PREMIUM_PRICE.amountMinor
  );
}

/** `paypal-capture-order` {order_id, user_id}: captures an approved order, which grants the paid year. */
export function captureOrder(payments: Payments | null) {
  return async function capture(context: Context<AppEnv>, { userId }: SignedInCaller): Promise<Response> {
    if (!payments) throw new FunctionError(503, MESSAGES.paymentsOff);
    const { order_id, user_id } = await readBody(context);
    if (!isOrderId(order_id)) throw new FunctionError(400, MESSAGES.paymentTokenInvalid);
    if (user_id !== userId) throw new FunctionError(403, MESSAGES.paymentFailed);
    const finished = await payments.finish(userId, order_id);
    if (!finished) throw new FunctionError(404, MESSAGES.paymentFailed);
    const { settlement, approvalUrl } = finished;
    switch (settlement) {
      case 'completed':
        return context.json({ success: true });
      case 'pending':
      case 'capturing':
      case 'unknown':
        // The job `reconcile-payments` continues. A mail reports a completed payment, or a rejection after PayPal held
        // the money.
        return context.json({ success: true, pending: true });
      case 'created':
      case 'approved':
      case 'instrument_declined':
        throw new FunctionError(402, MESSAGES.paymentFailed, { fields: { approval_url: approvalUrl } });
      case 'declined':
      case 'voided':
      case 'expired':
      case 'refunded':
      case 'reversed':
      case 'needs_review':
        throw new FunctionError(409, MESSAGES.paymentFailed);
    }
  };
}
