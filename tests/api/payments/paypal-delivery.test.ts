/** The simulator delivers webhooks to the whole server over HTTP. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestServer } from '../../support/start-server.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { signUp, type Person } from '../data/fixture.ts';

const server = setUpWorld(() => startTestServer({ logTo: { write: (line) => void lines.push(line) } }));
let ana: Person;
const lines: string[] = [];
beforeAll(async () => {
  ana = await signUp(server, 'ana');
});
beforeEach(async () => {
  await server.admin.query('delete from payment_events');
  server.paypal.webhooks.clear();
});

/** Creates an order that Ana approves at PayPal without returning to the journal. */
async function createApprovedOrder(): Promise<string> {
  const { data, error } = await ana.client.functions.invoke<{ approval_url: string }>('paypal-create-order', {
    body: { amount: 24, currency: 'USD', user_id: ana.id },
  });
  if (error || !data) throw new Error('creating an order failed', { cause: error });
  const orderId = new URL(data.approval_url).searchParams.get('token')!;
  server.paypal.books.approve(orderId);
  return orderId;
}

const eventId = (): string => server.paypal.webhooks.held()[0]!.event.id;
const countStoredEvents = async (): Promise<number> =>
  Number((await server.admin.query<{ count: string }>('select count(*) from payment_events')).rows[0]!.count);
const readStatus = async (orderId: string): Promise<string | undefined> =>
  (await server.admin.query<{ status: string }>('select status from payments where order_id = $1', [orderId])).rows[0]
    ?.status;

test('an approval webhook completes the payment when the browser never returns', async () => {
  const orderId = await createApprovedOrder();
  expect(await server.paypal.webhooks.deliver(eventId(), { times: 3 })).toEqual([200, 200, 200]);
  await expect.poll(() => readStatus(orderId)).toBe('completed');
  expect(await server.paypal.webhooks.deliverAll({ reversed: true, times: 2 })).not.toContain(null);
  const { rows } = await server.admin.query('select 1 from plan_changes where user_id = $1', [ana.id]);
  expect(rows).toHaveLength(1);
  expect(server.paypal.books.money()).toMatchObject({ USD: { captured: 2400 } });
});

test.each([
  ['signature', 401],
  ['body', 401],
  ['webhook-id', 401],
  ['certificate-host', 401],
  ['key', 401],
  ['time', 401],
] as const)('rejects a webhook with a wrong %s and stores nothing', async (corrupt, status) => {
  await createApprovedOrder();
  expect(await server.paypal.webhooks.deliver(eventId(), { corrupt })).toEqual([status]);
  expect(await countStoredEvents()).toBe(0);
  expect(server.paypal.webhooks.held()).toHaveLength(1);
});

test('logs no body, address or signature of a webhook', async () => {
  await createApprovedOrder();
  const { headers, body } = await server.paypal.webhooks.signed(eventId());
  await server.paypal.webhooks.deliver(eventId());
  const written = lines.join('');
  expect(written).toContain('received a webhook');
  expect(written).not.toContain(headers['paypal-transmission-sig']);
  expect(written).not.toContain(body);
  expect(written).not.toContain('email_address');
});

test('the webhook route needs no session and serves nothing to GET', async () => {
  const address = `${server.url}/functions/v1/paypal-webhook`;
  expect((await fetch(address, { method: 'POST', body: '{}' })).status).toBe(400);
  expect((await fetch(address)).status).toBeGreaterThanOrEqual(400);
});

test('has no webhook route without a webhook id', async () => {
  const without = await startTestServer({ settings: { PAYPAL_WEBHOOK_ID: '' } });
  const answer = await fetch(`${without.url}/functions/v1/paypal-webhook`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(404);
  await without.close();
});
