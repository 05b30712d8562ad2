/** PayPal's JSON representations in responses and events. */
import { type Capture, type EventType, type Order, type Refund, moneyBody } from './model.ts';

type Body = Record<string, unknown>;

/** PayPal's timestamps have no fractional seconds, except the `create_time` of an event. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

const link = (href: string, rel: string, method: string): Body => ({ href, rel, method });

/** Removes null and undefined fields, as PayPal does. */
const omitEmpty = (fields: Body): Body => {
  for (const name of Object.keys(fields)) if (fields[name] === null || fields[name] === undefined) delete fields[name];
  return fields;
};

const PAYER_NAME = { given_name: 'Pat', surname: 'Payer' };
const PAYER_EMAIL = 'payer@example.com';

/** The origins of the API and of the payer's pages, for links in responses. */
export type Addresses = { readonly api: string; readonly payer: string };

export const approvalUrl = (order: Pick<Order, 'id'>, { payer }: Addresses): string =>
  `${payer}/sandbox/paypal/checkoutnow?token=${order.id}`;

function orderLinks(order: Order, addresses: Addresses): Body[] {
  const self = `${addresses.api}/v2/checkout/orders/${order.id}`;
  const links = [link(self, 'self', 'GET')];
  const approve = approvalUrl(order, addresses);
  if (order.hasPaymentSource && order.status !== 'COMPLETED') links.push(link(approve, 'payer-action', 'GET'));
  if (order.hasPaymentSource || order.status === 'COMPLETED') return links;
  return [
    ...links,
    link(approve, 'approve', 'GET'),
    link(self, 'update', 'PATCH'),
    link(`${self}/capture`, 'capture', 'POST'),
  ];
}

/** The short form of an order, PayPal's default (`Prefer: return=minimal`). */
export const minimalOrder = (order: Order, addresses: Addresses): Body =>
  omitEmpty({
    id: order.id,
    status: order.status,
    payment_source: order.hasPaymentSource ? { paypal: payerAccount(order) } : null,
    links: orderLinks(order, addresses),
  });

const payerAccount = (order: Order): Body =>
  order.payerId === null
    ? {}
    : {
        email_address: PAYER_EMAIL,
        account_id: order.payerId,
        account_status: 'VERIFIED',
        name: PAYER_NAME,
        address: { country_code: 'US' },
      };

export function orderBody(order: Order, addresses: Addresses): Body {
  const { capture } = order;
  return omitEmpty({
    ...minimalOrder(order, addresses),
    intent: 'CAPTURE',
    payment_source: { paypal: payerAccount(order) },
    purchase_units: [
      omitEmpty({
        reference_id: order.referenceId,
        amount: moneyBody(order.amount),
        payee: { email_address: 'merchant@example.com', merchant_id: 'SANDBOXMERCH1' },
        description: order.description,
        custom_id: order.customId,
        invoice_id: order.invoiceId,
        soft_descriptor: order.softDescriptor,
        payments: capture === null ? null : paymentsBody(capture, addresses),
      }),
    ],
    payer:
      order.payerId === null
        ? null
        : { payer_id: order.payerId, name: PAYER_NAME, email_address: PAYER_EMAIL, address: { country_code: 'US' } },
    create_time: timeText(order.createdAt),
    update_time: timeText(order.updatedAt),
  });
}

const paymentsBody = (capture: Capture, addresses: Addresses): Body => ({
  captures: [captureBody(capture, addresses)],
  ...(capture.refunds.length > 0 && { refunds: capture.refunds.map((refund) => refundBody(refund, addresses)) }),
});

export function captureBody(capture: Capture, { api }: Addresses): Body {
  const { order, amount, feeMinor } = capture;
  const self = `${api}/v2/payments/captures/${capture.id}`;
  return omitEmpty({
    id: capture.id,
    status: capture.status,
    status_details: capture.reason === null ? null : { reason: capture.reason },
    amount: moneyBody(amount),
    final_capture: true,
    custom_id: order.customId,
    invoice_id: order.invoiceId,
    seller_protection: { status: 'ELIGIBLE', dispute_categories: ['ITEM_NOT_RECEIVED', 'UNAUTHORIZED_TRANSACTION'] },
    seller_receivable_breakdown: omitEmpty({
      gross_amount: moneyBody(amount),
      paypal_fee: feeMinor === null ? null : moneyBody({ ...amount, minor: feeMinor }),
      net_amount: feeMinor === null ? null : moneyBody({ ...amount, minor: amount.minor - feeMinor }),
    }),
    supplementary_data: { related_ids: { order_id: order.id } },
    create_time: timeText(capture.createdAt),
    update_time: timeText(capture.updatedAt),
    links: [
      link(self, 'self', 'GET'),
      link(`${self}/refund`, 'refund', 'POST'),
      link(`${api}/v2/checkout/orders/${order.id}`, 'up', 'GET'),
    ],
  });
}

export function refundBody(refund: Refund, { api }: Addresses): Body {
  const { capture, amount } = refund;
  return omitEmpty({
    id: refund.id,
    status: refund.status,
    status_details: refund.status === 'PENDING' ? { reason: 'ECHECK' } : null,
    amount: moneyBody(amount),
    custom_id: capture.order.customId,
    invoice_id: capture.order.invoiceId,
    note_to_payer: refund.note,
    // PayPal keeps its fee: the seller pays the whole refund.
    seller_payable_breakdown: {
      gross_amount: moneyBody(amount),
      paypal_fee: moneyBody({ ...amount, minor: 0 }),
      net_amount: moneyBody(amount),
      total_refunded_amount: moneyBody({ ...amount, minor: capture.refundedMinor }),
    },
    create_time: timeText(refund.createdAt),
    update_time: timeText(refund.updatedAt),
    links: [
      link(`${api}/v2/payments/refunds/${refund.id}`, 'self', 'GET'),
      link(`${api}/v2/payments/captures/${capture.id}`, 'up', 'GET'),
    ],
  });
}

/** The resource of the event for an approval that expired without a capture. */
export const reversedApprovalBody = (order: Order): Body => ({
  order_id: order.id,
  purchase_units: [
    omitEmpty({ reference_id: order.referenceId, custom_id: order.customId, amount: moneyBody(order.amount) }),
  ],
});

export const disputeBody = (disputeId: string, capture: Capture, now: Date): Body => ({
  dispute_id: disputeId,
  create_time: timeText(now),
  update_time: timeText(now),
  disputed_transactions: [
    omitEmpty({
      seller_transaction_id: capture.id,
      custom: capture.order.customId,
      invoice_number: capture.order.invoiceId,
      transaction_status: 'COMPLETED',
      gross_amount: moneyBody(capture.amount),
    }),
  ],
  reason: 'UNAUTHORISED',
  status: 'OPEN',
  dispute_amount: moneyBody(capture.amount),
  dispute_life_cycle_stage: 'INQUIRY',
});

const RESOURCE_TYPES: Readonly<Record<EventType, string>> = {
  'CHECKOUT.ORDER.APPROVED': 'checkout-order',
  'CHECKOUT.PAYMENT-APPROVAL.REVERSED': 'checkout-order',
  'PAYMENT.CAPTURE.COMPLETED': 'capture',
  'PAYMENT.CAPTURE.PENDING': 'capture',
  'PAYMENT.CAPTURE.DENIED': 'capture',
  'PAYMENT.CAPTURE.DECLINED': 'capture',
  'PAYMENT.CAPTURE.REFUNDED': 'refund',
  'PAYMENT.CAPTURE.REVERSED': 'refund',
  'CUSTOMER.DISPUTE.CREATED': 'dispute',
};

export function eventBody(id: string, type: EventType, at: Date, resource: Body, { api }: Addresses): string {
  const self = `${api}/v1/notifications/webhooks-events/${id}`;
  return JSON.stringify({
    id,
    event_version: '1.0',
    create_time: at.toISOString(),
    resource_type: RESOURCE_TYPES[type],
    resource_version: '2.0',
    event_type: type,
    summary: `${type.split('.').slice(-2).join(' ').toLowerCase()} in the sandbox`,
    resource,
    links: [link(self, 'self', 'GET'), link(`${self}/resend`, 'resend', 'POST')],
  });
}
