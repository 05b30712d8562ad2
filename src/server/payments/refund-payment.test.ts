import { describe, expect, test } from 'vitest';
import type { MoneyBack, Payment } from './payment-store.ts';
import { bookReturned } from './refund-payment.ts';
import type { ReturnHint } from './refund-payment.ts';
import type { PaymentDeps } from './settle-payment.ts';
import { PaypalError } from './paypal/paypal.ts';
import type { Capture, Order, Refund } from './paypal/paypal.ts';

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

/** What is booked when PayPal says this about the capture, its order and the money that went back. */
async function booked(
  hint: ReturnHint,
  said: { capture?: Partial<Capture>; refund?: Refund | 'unknown'; ofOrder?: number | null },
) {
  const capture = { ...CAPTURE, ...said.capture };
  const bookings: MoneyBack[] = [];
  const errors: string[] = [];
  const deps = {
    store: { bookBack: (_id: string, back: MoneyBack) => Promise.resolve(void bookings.push(back)) },
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
  await bookReturned(deps, payment, hint);
  const [{ kind, part, total } = {} as MoneyBack] = bookings;
  return { kind, part, total, errors };
}

describe('what went back is booked', () => {
  test('when a bank took it and PayPal leaves the capture as it was', async () => {
    expect(await booked({ refundId: 'REF1', kind: 'reversal' }, {})).toEqual({
      kind: 'reversal',
      part: { ref: 'REF1', amountMinor: 2400 },
      total: null,
      errors: [],
    });
  });

  test('as far as the capture says', async () => {
    const capture = { status: 'REFUNDED', refundedMinor: 2400 } as const;
    expect(await booked(null, { capture })).toMatchObject({ kind: 'refund', part: null, total: 2400 });
  });

  test('as far as the order says, where the capture only says "a part"', async () => {
    const capture = { status: 'PARTIALLY_REFUNDED', refundedMinor: null } as const;
    expect(await booked(null, { capture, ofOrder: 1000 })).toMatchObject({ total: 1000 });
  });
});

describe('money that went back under a name that PayPal does not know', () => {
  const hint = { refundId: 'REF1', kind: 'reversal' } as const;

  test('is booked as far as the capture says', async () => {
    const capture = { status: 'REFUNDED', refundedMinor: 2400 } as const;
    expect(await booked(hint, { capture, refund: 'unknown' })).toMatchObject({ total: 2400, errors: [] });
  });

  test('is called to the attention of a person where the capture is silent', async () => {
    expect((await booked(hint, { refund: 'unknown' })).errors).toEqual([expect.stringContaining('a person must look')]);
  });
});

test('money that is only on its way back is not', async () => {
  const refund = { ...BACK, status: 'PENDING' } as const;
  expect(await booked({ refundId: 'REF1', kind: 'refund' }, { refund })).toMatchObject({ part: null, total: null });
});

test('a reversal of which nobody says how much is called to the attention of a person', async () => {
  const { errors } = await booked({ refundId: null, kind: 'reversal' }, {});
  expect(errors).toEqual([expect.stringContaining('a person must look')]);
});
