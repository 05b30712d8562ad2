import { expect, test, vi } from 'vitest';
import { requestCapture } from './payment-return.tsx';

const ORDER = { order_id: '5O190127TN364715T', user_id: 'somebody' };

test.each([
  [{ success: true, status: 200 }, { kind: 'completed' }],
  [{ success: true, status: 200, pending: true }, { kind: 'pending' }],
  [
    { success: false, status: 402, approval_url: 'https://pay.example/x' },
    { kind: 'created', approvalUrl: 'https://pay.example/x' },
  ],
  [{ success: false, status: 402, approval_url: null }, { kind: 'failed' }],
  [{ success: false, status: 404 }, { kind: 'failed' }],
  [{ success: false, status: 409 }, { kind: 'failed' }],
  [{ success: false, status: 401 }, { kind: 'unknown' }],
  [{ success: false, status: 429 }, { kind: 'unknown' }],
  [{ success: false, status: 503 }, { kind: 'unknown' }],
])('reads %o as %o', async (answer, outcome) => {
  expect(await requestCapture(async () => answer, ORDER)).toEqual(outcome);
});

test('reads a missing answer as unknown', async () => {
  expect(await requestCapture(() => Promise.reject(new TypeError('Failed to fetch')), ORDER)).toEqual({
    kind: 'unknown',
  });
  vi.useFakeTimers();
  try {
    const outcome = requestCapture(() => new Promise(() => undefined), ORDER);
    await vi.runAllTimersAsync();
    expect(await outcome).toEqual({ kind: 'unknown' });
  } finally {
    vi.useRealTimers();
  }
});
