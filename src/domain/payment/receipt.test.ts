import { expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { moneyLabel, receiptNumber } from './payment.ts';

test('the receipt number contains the year and the start of the payment id', () => {
  const id = '3f9a1c2b-0d4e-4a61-9a53-2f1f0a7c9d11';
  expect(receiptNumber(id, day('2026-11-21'))).toBe('HF-2026-3F9A1C2B');
});

test.each([
  [2400, 'USD', '$24.00'],
  [5, 'USD', '$0.05'],
  [123456, 'EUR', '€1,234.56'],
])('formats %d %s as %s', (amountMinor, currency, label) => {
  expect(moneyLabel(amountMinor, currency)).toBe(label);
});
