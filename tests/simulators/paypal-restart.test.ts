/** The PayPal simulator keeps its payments across restarts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createPaypalApp, type PaypalApp } from '../../simulators/paypal/server.ts';
import { createOrderBody } from './paypal-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'hustle-forge-paypal-kept-'));
const stateFile = join(folder, 'sandbox', 'paypal.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running: PaypalApp[] = [];
afterEach(() => {
  for (const paypal of running.splice(0)) paypal.close();
});

let seed = 0;
/** Simulates a new process: another seed and empty memory. */
function start(): PaypalApp {
  const paypal = createPaypalApp({ stateFile, seed: (seed += 1) });
  running.push(paypal);
  return paypal;
}

async function sendRequest(paypal: PaypalApp, path: string, body: unknown = {}, id = path): Promise<Response> {
  const token = await paypal.app.request('/v1/oauth2/token', {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('sandbox-client:sandbox-secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: access } = (await token.json()) as { access_token: string };
  return paypal.app.request(path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${access}`, 'Content-Type': 'application/json', 'PayPal-Request-Id': id },
    body: JSON.stringify(body),
  });
}

const command = (paypal: PaypalApp, path: string): Response | Promise<Response> =>
  paypal.app.request(`/__simulator${path}`, { method: 'POST' });

test('after a restart an approved order can be captured, a capture refunded, and the totals are unchanged', async () => {
  const first = start();
  const { id } = (await (
    await sendRequest(first, '/v2/checkout/orders', createOrderBody({ invoice_id: 'i' }))
  ).json()) as { id: string };
  await command(first, `/orders/${id}/approve`);

  const second = start();
  const captured = await sendRequest(second, `/v2/checkout/orders/${id}/capture`);
  expect(captured.status).toBe(201);
  const capture = second.simulator.books.orders.get(id)!.capture!;

  const third = start();
  expect(third.simulator.books.money()).toEqual(second.simulator.books.money());
  expect((await sendRequest(third, `/v2/payments/captures/${capture.id}/refund`)).status).toBe(201);

  const fourth = start();
  expect(fourth.simulator.books.capture(capture.id).status).toBe('REFUNDED');
  expect(fourth.simulator.books.money()['USD']).toMatchObject({ captured: 2400, refunded: 2400 });
  expect([...fourth.simulator.books.orders.values()]).toEqual([...third.simulator.books.orders.values()]);
});

test('ignores an invalid state file', async () => {
  writeFileSync(stateFile, '{"orders":');
  const paypal = start();
  expect(paypal.simulator.books.orders.size).toBe(0);
  await sendRequest(paypal, '/v2/checkout/orders', createOrderBody());
  expect(start().simulator.books.orders.size).toBe(1);
});
