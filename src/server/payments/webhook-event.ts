/**
 * What a webhook of PayPal is about. It is a hint and no more: which order or capture to ask PayPal for. Whether money
 * moved is only ever taken from PayPal's answer to that question.
 */
import { parseJson } from '../parse-json.ts';
import { at, idInLink, linkOf, textAt } from './paypal/wire.ts';

export type PaypalEvent = {
  /** PayPal's own, and the same however often it is sent. */
  readonly id: string;
  /** For example `PAYMENT.CAPTURE.COMPLETED`. */
  readonly type: string;
  readonly orderId: string | null;
  readonly captureId: string | null;
  /** For a refund or a reversal, the movement that took the money back. */
  readonly refundId: string | null;
};

/** Both are keys and appear in the log. */
const WORD = /^[A-Za-z0-9_.:-]{1,100}$/;

/** null when the text is no event of PayPal's. */
export function parseEvent(raw: string): PaypalEvent | null {
  const json = parseJson(raw);
  const id = textAt(json, 'id');
  const type = textAt(json, 'event_type');
  if (id === null || type === null || !WORD.test(id) || !WORD.test(type)) return null;
  const resource = at(json, 'resource');
  const resourceId = textAt(resource, 'id');
  const relatedOrder = textAt(resource, 'supplementary_data', 'related_ids', 'order_id');
  const none = { id, type, orderId: relatedOrder, captureId: null, refundId: null };
  if (type.startsWith('CHECKOUT.ORDER.')) return { ...none, orderId: resourceId };
  if (type.startsWith('CHECKOUT.PAYMENT-APPROVAL.')) return { ...none, orderId: textAt(resource, 'order_id') };
  if (type === 'PAYMENT.CAPTURE.REFUNDED' || type === 'PAYMENT.CAPTURE.REVERSED') {
    // The resource is the refund; the capture it belongs to is a link upwards.
    const captureId =
      idInLink(linkOf(resource, 'up'), 'captures') ??
      textAt(resource, 'supplementary_data', 'related_ids', 'capture_id') ??
      (isRefund(json) ? null : resourceId);
    return { ...none, captureId, refundId: captureId === resourceId ? null : resourceId };
  }
  if (type.startsWith('PAYMENT.CAPTURE.')) return { ...none, captureId: resourceId };
  if (type.startsWith('CUSTOMER.DISPUTE.')) {
    return { ...none, captureId: textAt(resource, 'disputed_transactions', 0, 'seller_transaction_id') };
  }
  return none;
}

const isRefund = (json: unknown): boolean => at(json, 'resource_type') === 'refund';
