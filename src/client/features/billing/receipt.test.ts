import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';
import { paidReceipt } from './receipt.ts';

const payment = (status: PaymentStatus) => ({
  id: 'one',
  order_id: '5O190127TN364715T',
  amount_minor: 2400,
  currency: 'USD',
  status,
  created_at: '2026-11-21T10:00:00Z',
  completed_at: '2026-11-21T10:01:00Z',
});
const year = {
  access_valid_until: day('2027-11-21'),
  reason: 'payment',
  changed_at: '2026-11-21T10:01:00Z',
  payment_id: 'one',
  valid_from: day('2026-11-21'),
};
const refund = {
  access_valid_until: null,
  reason: 'refund',
  changed_at: '2026-12-01T12:00:00',
  payment_id: 'one',
  valid_from: null,
};
const other = { ...year, payment_id: 'two', valid_from: day('2020-01-01') };

test('a paid year has its period, and another payment’s does not matter', () => {
  const receipt = paidReceipt('one', [payment('completed')], [other, year]);
  expect(receipt).toMatchObject({
    paidOn: '2026-11-21',
    period: { from: '2026-11-21', until: '2027-11-21' },
    returned: null,
  });
});

test('a first year begins on the day of its payment, a renewal after the year that runs', () => {
  const from = (valid_from: string) =>
    paidReceipt('one', [payment('completed')], [{ ...year, valid_from: day(valid_from) }])?.period?.from;
  expect(from('2026-11-22')).toBe('2026-11-21');
  expect(from('2026-12-04')).toBe('2026-12-04');
});

test.each(['refunded', 'reversed'] as const)('money that went back (%s) has its day', (status) => {
  expect(paidReceipt('one', [payment(status)], [refund, year])).toMatchObject({ returned: '2026-12-01' });
});

test.each(['created', 'approved', 'capturing', 'pending', 'declined', 'voided', 'expired', 'needs_review'] as const)(
  'there is none for a payment that is %s',
  (status) => {
    expect(paidReceipt('one', [payment(status)], [year])).toBeNull();
  },
);

test('there is none for a payment that is not there', () => {
  expect(paidReceipt('two', [payment('completed')], [year])).toBeNull();
  expect(paidReceipt(undefined, [payment('completed')], [year])).toBeNull();
});
