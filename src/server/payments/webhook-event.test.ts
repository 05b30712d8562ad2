import { expect, test } from 'vitest';
import { parseEvent } from './webhook.ts';

const API = 'https://api-m.paypal.com/v2';
const CAPTURE = `${API}/payments/captures/2GG279541U471931P`;
const PAYMENT = '0b7f6a6e-3b5f-4f39-9a53-0d7f3a5b1c2d';
const NONE = { orderId: null, captureId: null, paymentId: null, refundId: null };
const event = (type: string, resource: unknown, resource_type = 'any'): string =>
  JSON.stringify({ id: 'WH-1', event_type: type, resource_type, resource });

test.each([
  ['CHECKOUT.ORDER.COMPLETED', 'checkout-order', { id: 'ORDER1' }, { orderId: 'ORDER1' }],
  [
    'PAYMENT.CAPTURE.COMPLETED',
    'capture',
    { id: 'CAP1', custom_id: PAYMENT, supplementary_data: { related_ids: { order_id: 'ORDER1' } } },
    { orderId: 'ORDER1', captureId: 'CAP1', paymentId: PAYMENT },
  ],
  [
    'PAYMENT.CAPTURE.PENDING',
    'capture',
    { id: 'CAP1', links: [{ rel: 'up', href: `${API}/checkout/orders/ORDER1` }] },
    { orderId: 'ORDER1', captureId: 'CAP1' },
  ],
  [
    'PAYMENT.CAPTURE.REFUNDED',
    'refund',
    { id: 'REF1', invoice_id: PAYMENT, links: [{ rel: 'up', href: CAPTURE }] },
    { captureId: '2GG279541U471931P', refundId: 'REF1', paymentId: PAYMENT },
  ],
  ['PAYMENT.CAPTURE.REVERSED', 'capture', { id: 'CAP1' }, { captureId: 'CAP1' }],
  ['CHECKOUT.PAYMENT-APPROVAL.REVERSED', 'order', { order_id: 'ORDER1' }, { orderId: 'ORDER1' }],
  [
    'CUSTOMER.DISPUTE.CREATED',
    'dispute',
    { dispute_id: 'D1', disputed_transactions: [{ seller_transaction_id: 'CAP1', invoice_number: PAYMENT }] },
    { captureId: 'CAP1', paymentId: PAYMENT },
  ],
  ['SOMETHING.NEW', 'thing', { id: 'X' }, {}],
])('reads what a %s event (%s) names', (type, resourceType, resource, named) => {
  expect(parseEvent(event(type, resource, resourceType))).toEqual({ id: 'WH-1', type, ...NONE, ...named });
});

test.each(['ORDER\0', 'ORDER 1', "ORDER1' or true", 'Ö', 'x'.repeat(65), 7, {}])('rejects %j as an id', (strange) => {
  expect(parseEvent(event('CHECKOUT.ORDER.APPROVED', { id: strange, custom_id: strange }))).toMatchObject(NONE);
  expect(parseEvent(event('PAYMENT.CAPTURE.COMPLETED', { id: strange, custom_id: strange }))).toMatchObject(NONE);
});

test.each([
  '',
  'hello',
  '[]',
  'null',
  '{}',
  '{"id":"WH-1"}',
  '{"id":"WH 1","event_type":"X"}',
  '{"id":1,"event_type":"X"}',
])('rejects %j: not an event', (text) => {
  expect(parseEvent(text)).toBeNull();
});

test('rejects an event with very many values', () => {
  expect(parseEvent(event('SOMETHING.NEW', Array(5_000).fill(0)))).toBeNull();
});
