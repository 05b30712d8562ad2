/** The in-process simulator, which the randomised payment tests use: deterministic for a seed and a clock. */
import { expect, test } from 'vitest';
import {
  createPaypalSimulator,
  type PaypalSimulator,
  type SimulatorOptions,
} from '../../simulators/paypal/simulator.ts';
import { createOrderBody } from './paypal-client.ts';

const NOON = new Date('2026-11-21T12:00:00Z');
const start = (options: SimulatorOptions = {}): PaypalSimulator =>
  createPaypalSimulator({ clock: { now: () => NOON }, publicUrl: 'http://journal.test', ...options });

async function sendRequest(paypal: PaypalSimulator, path: string, init: RequestInit = {}): Promise<Response> {
  const authorization = `Basic ${btoa('sandbox-client:sandbox-secret')}`;
  const token = await paypal.fetch('http://paypal.test/v1/oauth2/token', {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: access } = (await token.json()) as { access_token: string };
  const headers = { Authorization: `Bearer ${access}`, 'Content-Type': 'application/json', 'PayPal-Request-Id': path };
  return paypal.fetch(`http://paypal.test${path}`, { headers, ...init });
}

const create = (paypal: PaypalSimulator): Promise<Response> =>
  sendRequest(paypal, '/v2/checkout/orders', { method: 'POST', body: JSON.stringify(createOrderBody()) });

async function pay(paypal: PaypalSimulator): Promise<string> {
  const { id } = (await (await create(paypal)).json()) as { id: string };
  paypal.books.approve(id);
  return (await sendRequest(paypal, `/v2/checkout/orders/${id}/capture`, { method: 'POST', body: '{}' })).text();
}

test('the same seed and clock give the same responses and events, another seed gives different ones', async () => {
  const [one, same, other] = [start({ seed: 7 }), start({ seed: 7 }), start({ seed: 8 })];
  const paid = await pay(one);
  expect(await pay(same)).toBe(paid);
  expect(await pay(other)).not.toBe(paid);
  expect(same.drainWebhooks()).toEqual(one.drainWebhooks());
});

test('drainWebhooks returns each event once, oldest first', async () => {
  const paypal = start();
  await pay(paypal);
  expect(paypal.drainWebhooks().map(({ type }) => type)).toEqual([
    'CHECKOUT.ORDER.APPROVED',
    'PAYMENT.CAPTURE.COMPLETED',
  ]);
  expect(paypal.drainWebhooks()).toEqual([]);
});

test('a broken connection rejects like fetch', async () => {
  const paypal = start();
  paypal.control.fail({ path: '/orders$', dropAfterWork: true });
  await expect(create(paypal)).rejects.toThrow(TypeError);
  expect(paypal.books.orders.size).toBe(1);
});

test('the work continues after the caller aborts', async () => {
  const paypal = start();
  paypal.control.fail({ path: '/orders$', hold: 'before' });
  const left = new AbortController();
  const asked = sendRequest(paypal, '/v2/checkout/orders', {
    method: 'POST',
    body: JSON.stringify(createOrderBody()),
    signal: left.signal,
  });
  await paypal.control.whenHeld();
  left.abort();
  await expect(asked).rejects.toThrow('aborted');
  paypal.control.release();
  await expect.poll(() => paypal.books.orders.size).toBe(1);
});

test('a delay uses the injected wait function', async () => {
  const waited: number[] = [];
  const paypal = start({
    wait: (ms) => {
      waited.push(ms);
      return Promise.resolve();
    },
  });
  paypal.control.fail({ path: '/orders$', delayMs: 9000 });
  expect((await create(paypal)).status).toBe(201);
  expect(waited).toEqual([9000]);
});
