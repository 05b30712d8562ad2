import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCapture, parseOrder, parseRefund, toAmountText, toMinor } from './parse.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';

const USD = (value: string) => ({ currency_code: 'USD', value });
const CAPTURE = { id: '2GG279541U471931P', status: 'COMPLETED', amount: USD('24.00'), custom_id: 'payment-1' };
const order = (unit: object, status = 'COMPLETED') => ({
  id: '5O190127TN364715T',
  status,
  purchase_units: [{ amount: USD('24.00'), custom_id: 'payment-1', ...unit }],
});

describe('an order', () => {
  test('without a payment has no capture', () => {
    expect(parseOrder(order({}, 'PAYER_ACTION_REQUIRED'))).toEqual({
      id: '5O190127TN364715T',
      status: 'PAYER_ACTION_REQUIRED',
      customId: 'payment-1',
      amountMinor: 2400,
      currency: 'USD',
      capture: null,
    });
  });

  test('takes the amount from its capture when the unit omits it', () => {
    const answer = { id: 'A', status: 'COMPLETED', purchase_units: [{ payments: { captures: [CAPTURE] } }] };
    expect(parseOrder(answer)).toMatchObject({ amountMinor: 2400, currency: 'USD', customId: 'payment-1' });
  });

  test('with a declined and a completed capture uses the completed one, in either order', () => {
    const declined = { ...CAPTURE, id: 'DECLINED1', status: 'DECLINED' };
    for (const captures of [
      [declined, CAPTURE],
      [CAPTURE, declined],
    ]) {
      expect(parseOrder(order({ payments: { captures } }))?.capture?.id).toBe(CAPTURE.id);
    }
  });

  test('sums the completed refunds of its capture', () => {
    const refund = (value: string, status = 'COMPLETED', of = CAPTURE.id) => ({
      id: 'R',
      status,
      amount: USD(value),
      links: [{ rel: 'up', href: `https://api-m.paypal.com/v2/payments/captures/${of}` }],
    });
    const payments = {
      captures: [{ ...CAPTURE, status: 'PARTIALLY_REFUNDED' }],
      refunds: [refund('4.00'), refund('6.00'), refund('1.00', 'PENDING'), refund('2.00', 'COMPLETED', 'OTHER')],
    };
    expect(parseOrder(order({ payments }))?.capture?.refundedMinor).toBe(1000);
  });

  test('with an unknown status is UNKNOWN, and so is its capture', () => {
    const captures = [{ ...CAPTURE, status: 'SETTLING_SOON' }];
    expect(parseOrder(order({ payments: { captures } }, 'ALMOST'))).toMatchObject({
      status: 'UNKNOWN',
      capture: { status: 'UNKNOWN' },
    });
  });
});

describe('a capture', () => {
  test('has its fee, its order and its pending reason', () => {
    expect(
      parseCapture({
        ...CAPTURE,
        status: 'PENDING',
        status_details: { reason: 'ECHECK' },
        seller_receivable_breakdown: { paypal_fee: USD('1.18') },
        links: [{ rel: 'up', href: 'https://api-m.paypal.com/v2/checkout/orders/5O190127TN364715T' }],
      }),
    ).toEqual({
      id: CAPTURE.id,
      status: 'PENDING',
      reason: 'ECHECK',
      amountMinor: 2400,
      currency: 'USD',
      feeMinor: 118,
      customId: 'payment-1',
      orderId: '5O190127TN364715T',
      refundedMinor: 0,
    });
  });

  test('has no fee when the fee is in another currency', () => {
    const fee = { paypal_fee: { currency_code: 'EUR', value: '1.00' } };
    expect(parseCapture({ ...CAPTURE, seller_receivable_breakdown: fee })?.feeMinor).toBeNull();
  });

  test.each([
    ['REFUNDED', 2400],
    ['PARTIALLY_REFUNDED', null],
    ['COMPLETED', 0],
  ])('with status %s has refunded %j', (status, refundedMinor) => {
    expect(parseCapture({ ...CAPTURE, status })?.refundedMinor).toBe(refundedMinor);
  });
});

test('parses a refund', () => {
  expect(parseRefund({ id: 'R1', status: 'PENDING', amount: USD('24.00') })).toEqual({
    id: 'R1',
    status: 'PENDING',
    amountMinor: 2400,
    currency: 'USD',
  });
});

/** Responses of the right structure with arbitrary values. */
const anyText = fc.oneof(fc.constantFrom('24.00', 'USD', 'COMPLETED', 'REFUNDED'), fc.jsonValue());
const anyAmount = fc.oneof(fc.record({ value: anyText, currency_code: anyText }, { requiredKeys: [] }), anyText);
const anyCapture = fc.record({ id: anyText, status: anyText, amount: anyAmount, links: anyText }, { requiredKeys: [] });
const anyUnit = fc.record(
  {
    amount: anyAmount,
    custom_id: anyText,
    payments: fc.oneof(anyText, fc.record({ captures: fc.array(anyCapture), refunds: fc.array(anyCapture) })),
  },
  { requiredKeys: [] },
);
const anyOrder = fc.record({ id: anyText, status: anyText, purchase_units: fc.oneof(fc.array(anyUnit), anyText) });

test('never throws and never parses nonsense into a payment', () => {
  fc.assert(
    fc.property(fc.oneof(anyOrder, anyCapture, fc.jsonValue()), (json) => {
      for (const found of [parseOrder(json), parseCapture(json), parseRefund(json)]) {
        if (found === null) continue;
        expect(found.id).not.toBe('');
        expect(Number.isSafeInteger(found.amountMinor)).toBe(true);
        expect(typeof found.currency).toBe('string');
      }
    }),
    { numRuns: fuzzBudget(500) },
  );
});

test.each([
  [2400, '24.00'],
  [5, '0.05'],
  [0, '0.00'],
  [123456, '1234.56'],
])('converts %d cents to %s and back', (minor, text) => {
  expect(toAmountText(minor)).toBe(text);
  expect(toMinor(text)).toBe(minor);
});

test('converts every amount there and back', () => {
  fc.assert(
    fc.property(fc.nat(10 ** 12), (minor) => {
      expect(toMinor(toAmountText(minor))).toBe(minor);
    }),
    { numRuns: fuzzBudget(1000) },
  );
});

test.each([
  ['24', 2400],
  ['24.5', 2450],
])('accepts %s without two decimals', (text, minor) => {
  expect(toMinor(text)).toBe(minor);
});

test.each(['', '24.005', '-24.00', '+24.00', '24,00', '2e3', ' 24.00', '24.00 ', 'NaN', '1'.repeat(13), 24, null])(
  'rejects %j as an amount',
  (text) => {
    expect(toMinor(text)).toBeNull();
  },
);

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects %d cents', (minor) => {
  expect(() => toAmountText(minor)).toThrow(RangeError);
});
