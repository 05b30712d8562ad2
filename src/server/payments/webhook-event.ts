/**
 * Reads from a PayPal webhook which payment it concerns. The event is only a hint: the state of the payment always
 * comes from PayPal's API.
 */
import { parseJson } from '#server/parse-json.ts';
import { valueAt, idInLink, linkOf, textAt } from './paypal/json-value.ts';

export type PaypalEvent = {
  /** PayPal's own id, the same for every delivery of one event. */
  readonly id: string;
  /** For example `PAYMENT.CAPTURE.COMPLETED`. */
  readonly type: string;
  readonly orderId: string | null;
  readonly captureId: string | null;
  /** Our own id of the payment, which PayPal copies to the order's captures and refunds. */
  readonly paymentId: string | null;
  /** PayPal's id of the refund or reversal that the event reports. Null for any other event. */
  readonly refundId: string | null;
};

/** The form of an event's id and type. The id is the key of the stored event, and log lines contain both. */
const WORD = /^[A-Za-z0-9_.:-]{1,100}$/;
/**
 * Threat: a forged event has an id that PostgreSQL rejects (NUL), and each one causes an error. The ids are looked up
 * before PayPal has confirmed the event.
 */
const PAYPAL_ID = /^[A-Za-z0-9-]{1,64}$/;
const PAYMENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const matching = (form: RegExp, ...texts: readonly (string | null)[]): string | null =>
  texts.find((text) => text !== null && form.test(text)) ?? null;

/** Null when the text is not a PayPal event. */
export function parseEvent(raw: string): PaypalEvent | null {
  const json = parseJson(raw);
  const id = textAt(json, 'id');
  const type = textAt(json, 'event_type');
  if (id === null || type === null || !WORD.test(id) || !WORD.test(type)) return null;
  const resource = valueAt(json, 'resource');
  const { orderId, captureId, refundId } = namedBy(type, resource, valueAt(json, 'resource_type') === 'refund');
  const disputed = valueAt(resource, 'disputed_transactions', 0);
  return {
    id,
    type,
    orderId: matching(PAYPAL_ID, orderId, textAt(resource, 'supplementary_data', 'related_ids', 'order_id')),
    captureId: matching(PAYPAL_ID, captureId),
    paymentId: matching(
      PAYMENT_ID,
      textAt(resource, 'custom_id'),
      textAt(resource, 'invoice_id'),
      textAt(disputed, 'invoice_number'),
    ),
    refundId: matching(PAYPAL_ID, refundId),
  };
}

type NamedIds = Pick<PaypalEvent, 'orderId' | 'captureId' | 'refundId'>;

function namedBy(type: string, resource: unknown, isRefund: boolean): NamedIds {
  const none = { orderId: null, captureId: null, refundId: null };
  const resourceId = textAt(resource, 'id');
  if (type.startsWith('CHECKOUT.ORDER.')) return { ...none, orderId: resourceId };
  if (type.startsWith('CHECKOUT.PAYMENT-APPROVAL.')) return { ...none, orderId: textAt(resource, 'order_id') };
  if (type === 'PAYMENT.CAPTURE.REFUNDED' || type === 'PAYMENT.CAPTURE.REVERSED') {
    // The resource is the refund, and its link `up` leads to the capture. Otherwise the resource is the capture itself.
    const captureId =
      idInLink(linkOf(resource, 'up'), 'captures') ??
      textAt(resource, 'supplementary_data', 'related_ids', 'capture_id') ??
      (isRefund ? null : resourceId);
    return { ...none, captureId, refundId: captureId === resourceId ? null : resourceId };
  }
  if (type.startsWith('PAYMENT.CAPTURE.')) {
    return { ...none, orderId: idInLink(linkOf(resource, 'up'), 'orders'), captureId: resourceId };
  }
  if (type.startsWith('CUSTOMER.DISPUTE.')) {
    return { ...none, captureId: textAt(resource, 'disputed_transactions', 0, 'seller_transaction_id') };
  }
  return none;
}
