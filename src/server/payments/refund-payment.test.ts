import { describe, expect, test } from 'vitest';
import type { MoneyReturn, Payment, PaymentDeps } from './payment-store.ts';
import { bookReturnedMoney, type ReturnHint } from './refund-payment.ts';
import { PaypalError, type Capture, type Order, type Refund } from './paypal/paypal.ts';

const CAPTURE: Capture = {
  id: 'CAP1',
  status: 'COMPLETED',
  reason: null,
  amountMinor: 2400,
  currency: 'USD',
  feeMinor: 118,
  customId: 'payment-1',
  orderId: 'ORDER1',
  refundedMinor: 0,
};
const BACK: Refund = { id: 'REF1', status: 'COMPLETED', amountMinor: 2400, currency: 'USD' };

const UNKNOWN = new PaypalError({
  ...{ status: 404, name: 'RESOURCE_NOT_FOUND', issue: 'INVALID_RESOURCE_ID', retryable: false },
  ...{ outcomeUnknown: false, debugId: null, retryAfterMs: null },
});

/** The booking and the logged errors of `bookReturnedMoney` for these responses about capture, order and refund. */
async function booked(
  hint: ReturnHint,
  said: { capture?: Partial<Capture>; refund?: Refund | 'unknown'; ofOrder?: number | null },
) {
  const capture = { ...CAPTURE, ...said.capture };
  const bookings: MoneyReturn[] = [];
  const errors: string[] = [];
  const deps = {
    store: { bookReturn: (_id: string, back: MoneyReturn) => Promise.resolve(void bookings.push(back)) },
    paypal: {
      getCapture: () => Promise.resolve(capture),
      getRefund: () => (said.refund === 'unknown' ? Promise.reject(UNKNOWN) : Promise.resolve(said.refund ?? BACK)),
      getOrder: () =>
        Promise.resolve({ capture: { ...capture, refundedMinor: said.ofOrder ?? null } } as unknown as Order),
    },
    clock: { now: () => new Date() },
    log: { error: (_line: unknown, words: string) => void errors.push(words) },
  } as unknown as PaymentDeps;
  const payment = { id: 'payment-1', captureId: 'CAP1', orderId: 'ORDER1', completedAt: new Date() } as Payment;
  await bookReturnedMoney(deps, payment, hint);
  const [{ kind, part, total } = {} as MoneyReturn] = bookings;
  return { kind, part, total, errors };
}

describe('returned money is booked', () => {
  test('when a bank reverses it and the capture stays COMPLETED', async () => {
    expect(await booked({ refundId: 'REF1', kind: 'reversal' }, {})).toEqual({
      kind: 'reversal',
      part: { ref: 'REF1', amountMinor: 2400 },
      total: null,
      errors: [],
    });
  });

  test('up to the amount of the capture', async () => {
    const capture = { status: 'REFUNDED', refundedMinor: 2400 } as const;
    expect(await booked(null, { capture })).toMatchObject({ kind: 'refund', part: null, total: 2400 });
  });

  test('up to the amount of the order, when the capture only reports a partial refund', async () => {
    const capture = { status: 'PARTIALLY_REFUNDED', refundedMinor: null } as const;
    expect(await booked(null, { capture, ofOrder: 1000 })).toMatchObject({ total: 1000 });
  });
});

describe('returned money with an id that PayPal does not know', () => {
  const hint = { refundId: 'REF1', kind: 'reversal' } as const;

  test('is booked up to the amount of the capture', async () => {
    const capture = { status: 'REFUNDED', refundedMinor: 2400 } as const;
    expect(await booked(hint, { capture, refund: 'unknown' })).toMatchObject({ total: 2400, errors: [] });
  });

  test('is logged for manual review when the capture reports nothing', async () => {
    expect((await booked(hint, { refund: 'unknown' })).errors).toEqual([
      expect.stringContaining('needs manual review'),
    ]);
  });
});

test('does not book a pending refund', async () => {
  const refund = { ...BACK, status: 'PENDING' } as const;
  expect(await booked({ refundId: 'REF1', kind: 'refund' }, { refund })).toMatchObject({ part: null, total: null });
});

test('logs a reversal without an amount for manual review', async () => {
  const { errors } = await booked({ refundId: null, kind: 'reversal' }, {});
  expect(errors).toEqual([expect.stringContaining('needs manual review')]);
});
