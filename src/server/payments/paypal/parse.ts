/**
 * Parses PayPal's orders, captures and refunds. Null means that a required field is missing (an id, an amount). Any
 * other unexpected value becomes `UNKNOWN` or null and is never treated as paid.
 */
import {
  CAPTURE_STATUSES,
  ORDER_STATUSES,
  REFUND_STATUSES,
  type Capture,
  type CaptureStatus,
  type Order,
  type Refund,
} from './paypal.ts';

type Amount = { amountMinor: number; currency: string };

/** The first of these statuses decides when an order has several captures: a declined first try is not final. */
const CAPTURE_PRECEDENCE: readonly CaptureStatus[] = [
  'COMPLETED',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
  'PENDING',
  'DECLINED',
  'FAILED',
  'UNKNOWN',
];

export function parseOrder(json: unknown): Order | null {
  const id = textAt(json, 'id');
  const unit = valueAt(json, 'purchase_units', 0);
  const captures = listAt(unit, 'payments', 'captures').flatMap((capture) => parseCapture(capture) ?? []);
  const capture = decisiveCapture(captures);
  // The response to a capture may omit the amount of the purchase unit: the capture's amount counts then.
  const amount = parseAmount(valueAt(unit, 'amount')) ?? capture;
  if (id === null || amount === null) return null;
  return {
    id,
    status: parseStatus(ORDER_STATUSES, valueAt(json, 'status')),
    customId: textAt(unit, 'custom_id') ?? capture?.customId ?? null,
    amountMinor: amount.amountMinor,
    currency: amount.currency,
    capture: capture && { ...capture, orderId: id, refundedMinor: refundedOf(capture, unit) },
  };
}

export function parseCapture(json: unknown): Capture | null {
  const id = textAt(json, 'id');
  const amount = parseAmount(valueAt(json, 'amount'));
  if (id === null || amount === null) return null;
  const status = parseStatus(CAPTURE_STATUSES, valueAt(json, 'status'));
  const fee = parseAmount(valueAt(json, 'seller_receivable_breakdown', 'paypal_fee'));
  return {
    id,
    status,
    reason: textAt(json, 'status_details', 'reason'),
    ...amount,
    feeMinor: fee?.currency === amount.currency ? fee.amountMinor : null,
    customId: textAt(json, 'custom_id'),
    orderId: textAt(json, 'supplementary_data', 'related_ids', 'order_id') ?? idInLink(linkOf(json, 'up'), 'orders'),
    refundedMinor: status === 'REFUNDED' ? amount.amountMinor : status === 'PARTIALLY_REFUNDED' ? null : 0,
  };
}

export function parseRefund(json: unknown): Refund | null {
  const id = textAt(json, 'id');
  const amount = parseAmount(valueAt(json, 'amount'));
  return id === null || amount === null
    ? null
    : { id, status: parseStatus(REFUND_STATUSES, valueAt(json, 'status')), ...amount };
}

function parseAmount(json: unknown): Amount | null {
  const amountMinor = toMinor(valueAt(json, 'value'));
  const currency = textAt(json, 'currency_code');
  return amountMinor === null || currency === null ? null : { amountMinor, currency };
}

const parseStatus = <T extends string>(statuses: readonly T[], status: unknown): T | 'UNKNOWN' =>
  statuses.find((one) => one === status) ?? 'UNKNOWN';

function decisiveCapture(captures: readonly Capture[]): Capture | null {
  const rank = (capture: Capture): number => CAPTURE_PRECEDENCE.indexOf(capture.status);
  return captures.reduce<Capture | null>((best, next) => (best && rank(best) < rank(next) ? best : next), null);
}

/** A partially refunded capture does not state the refunded sum, but its order lists the refunds. */
function refundedOf(capture: Capture, unit: unknown): number | null {
  if (capture.status !== 'PARTIALLY_REFUNDED') return capture.refundedMinor;
  const refunds = listAt(unit, 'payments', 'refunds').filter(
    (refund) => idInLink(linkOf(refund, 'up'), 'captures') === capture.id && valueAt(refund, 'status') === 'COMPLETED',
  );
  if (refunds.length === 0) return null;
  return refunds.reduce<number>((sum, refund) => sum + (parseRefund(refund)?.amountMinor ?? 0), 0);
}

/** Formats whole cents as PayPal's text, such as "24.00": every currency that we charge in has two decimals. */
export function toAmountText(minor: number): string {
  if (!Number.isSafeInteger(minor) || minor < 0) throw new RangeError('an amount is a whole number of cents');
  const digits = String(minor).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Null for anything but a plain amount with at most two decimals. */
export function toMinor(text: unknown): number | null {
  const [, whole, decimals = ''] = (typeof text === 'string' && /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text)) || [];
  return whole === undefined ? null : Number(whole + decimals.padEnd(2, '0'));
}

// Reads PayPal's JSON without trusting its shape. A missing value gives undefined, null or [], never an exception.

/** The value at the path, or undefined. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = Object.hasOwn(here, step) ? (here as Record<string | number, unknown>)[step] : undefined;
  }
  return here;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : null;
}

function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The address of the link with this `rel`. */
export const linkOf = (value: unknown, rel: string): string | null =>
  textAt(
    listAt(value, 'links').find((link) => valueAt(link, 'rel') === rel),
    'href',
  );

/** The id at the end of a link such as `…/v2/payments/captures/2GG279541U471931P`. */
export function idInLink(href: string | null, kind: 'captures' | 'orders' | 'refunds'): string | null {
  const [, found, id] = /\/(captures|orders|refunds)\/([A-Za-z0-9-]{1,64})$/.exec(href ?? '') ?? [];
  return found === kind ? (id ?? null) : null;
}
