import { expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';
import { buildReceipt } from './receipt-screen.tsx';

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
  changed_at: '2026-12-01T23:30:00Z',
  payment_id: 'one',
  valid_from: null,
};
const other = { ...year, payment_id: 'two', valid_from: day('2020-01-01') };

test('a receipt shows the period of its own payment only', () => {
  const receipt = buildReceipt('one', [payment('completed')], [other, year]);
  expect(receipt).toMatchObject({
    paidOn: '2026-11-21',
    period: { from: '2026-11-21', until: '2027-11-21' },
    returned: null,
  });
});

test('a first year starts on the day of its payment, a renewal after the current year', () => {
  const from = (valid_from: string) =>
    buildReceipt('one', [payment('completed')], [{ ...year, valid_from: day(valid_from) }])?.period?.from;
  expect(from('2026-11-22')).toBe('2026-11-21');
  expect(from('2026-12-04')).toBe('2026-12-04');
});

test.each(['refunded', 'reversed'] as const)('the receipt of a %s payment shows when the money went back', (status) => {
  // Both days are in UTC, or a refund late on the day of the payment could show an earlier day than the payment.
  const localDay = vi.spyOn(Date.prototype, 'getDate').mockReturnValue(2);
  expect(buildReceipt('one', [payment(status)], [refund, year])).toMatchObject({ returned: '2026-12-01' });
  localDay.mockRestore();
});

test.each(['created', 'approved', 'capturing', 'pending', 'declined', 'voided', 'expired', 'needs_review'] as const)(
  'a payment that is %s has no receipt',
  (status) => {
    expect(buildReceipt('one', [payment(status)], [year])).toBeNull();
  },
);

test('an unknown payment has no receipt', () => {
  expect(buildReceipt('two', [payment('completed')], [year])).toBeNull();
  expect(buildReceipt(undefined, [payment('completed')], [year])).toBeNull();
});
