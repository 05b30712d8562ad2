import { expect, test, vi } from 'vitest';
import { captureOrder } from './capture-order.ts';

const ORDER = { order_id: '5O190127TN364715T', user_id: 'somebody' };

test.each([
  [{ success: true, status: 200 }, { kind: 'done' }],
  [{ success: true, status: 200, pending: true }, { kind: 'pending' }],
  [
    { success: false, status: 402, approval_url: 'https://pay.example/x' },
    { kind: 'declined', approvalUrl: 'https://pay.example/x' },
  ],
  [{ success: false, status: 402, approval_url: null }, { kind: 'failed' }],
  [{ success: false, status: 404 }, { kind: 'failed' }],
  [{ success: false, status: 409 }, { kind: 'failed' }],
  [{ success: false, status: 401 }, { kind: 'unknown' }],
  [{ success: false, status: 429 }, { kind: 'unknown' }],
  [{ success: false, status: 503 }, { kind: 'unknown' }],
])('%o is %o', async (answer, outcome) => {
  expect(await captureOrder(async () => answer, ORDER)).toEqual(outcome);
});

test('an answer that never comes says nothing about the payment', async () => {
  expect(await captureOrder(() => Promise.reject(new TypeError('Failed to fetch')), ORDER)).toEqual({
    kind: 'unknown',
  });
  vi.useFakeTimers();
  try {
    const outcome = captureOrder(() => new Promise(() => undefined), ORDER);
    await vi.runAllTimersAsync();
    expect(await outcome).toEqual({ kind: 'unknown' });
  } finally {
    vi.useRealTimers();
  }
});
