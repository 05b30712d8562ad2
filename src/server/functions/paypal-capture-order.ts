/** `paypal-capture-order` {order_id, user_id}: captures an approved order, which grants the paid year. */
import type { Context } from 'hono';
import { MESSAGES } from '#domain/messages.ts';
import { isOrderId } from '#domain/payment/payment.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import type { Payments } from '../payments/payments.ts';
import { refusal } from './paypal-refusal.ts';
import { readBody } from './read-body.ts';

export function handleCaptureOrder(payments: Payments | null) {
  return async function capture(context: Context<AppEnv>, { userId }: Caller): Promise<Response> {
    if (!payments || userId === null) return refusal(context, 503, MESSAGES.paymentsOff);
    const { order_id, user_id } = await readBody(context);
    if (!isOrderId(order_id)) return refusal(context, 400, MESSAGES.paymentTokenInvalid);
    if (user_id !== userId) return refusal(context, 403, MESSAGES.paymentFailed);
    const finished = await payments.finish(userId, order_id);
    if (!finished) return refusal(context, 404, MESSAGES.paymentFailed);
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
        return context.json({ success: false, error: MESSAGES.paymentFailed, approval_url: approvalUrl }, 402);
      case 'declined':
      case 'voided':
      case 'expired':
      case 'refunded':
      case 'reversed':
      case 'needs_review':
        return refusal(context, 409, MESSAGES.paymentFailed);
    }
  };
}
