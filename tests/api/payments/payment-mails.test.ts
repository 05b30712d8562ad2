/** The server with its jobs mails buyers about their payment within seconds, whichever path finds the result. */
import { beforeAll, expect, test, vi } from 'vitest';
import { startTestServer } from '../../support/start-server.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { signUp, type Person } from '../data/fixture.ts';

const server = setUpWorld(() => startTestServer({ jobs: 'on', logTo: { write: (line) => void lines.push(line) } }));
const lines: string[] = [];
beforeAll(async () => {
  // Both jobs run once at the start. Later runs within the test are those that the server requests after a payment.
  await vi.waitUntil(() => jobsDone('send-receipts') > 0 && jobsDone('reconcile-payments') > 0, { timeout: 30_000 });
});

const jobsDone = (name: string): number =>
  lines.filter((line) => line.includes(`"job":"${name}"`) && line.includes('job done')).length;

async function order({ client, id }: Person): Promise<string> {
  const body = { amount: 24, currency: 'USD', user_id: id };
  const { data } = await client.functions.invoke<{ approval_url: string }>('paypal-create-order', { body });
  return new URL(data!.approval_url).searchParams.get('token')!;
}

const returnFromPaypal = ({ client, id }: Person, orderId: string) =>
  client.functions.invoke('paypal-capture-order', { body: { order_id: orderId, user_id: id } });

const subjects = (name: string): string[] =>
  server.mailbox.messagesTo(`${name}@example.com`).map(({ subject }) => subject);
const expectMails = (name: string, expected: string[]) =>
  expect.poll(() => subjects(name).toSorted()).toEqual(expected.toSorted());

test('mails a receipt when the browser returns, and a second mail after a reversal', async () => {
  const ana = await signUp(server, 'ana');
  const orderId = await order(ana);
  server.paypal.books.approve(orderId);
  expect((await returnFromPaypal(ana, orderId)).data).toEqual({ success: true });
  await expectMails('ana', ['Your receipt']);
  const { rows } = await server.admin.query('select capture_id from payments where order_id = $1', [orderId]);
  server.paypal.books.reverseCapture(rows[0].capture_id);
  await server.paypal.webhooks.deliverAll();
  await expectMails('ana', ['Your receipt', 'PayPal reversed your payment']);
});

test('mails a receipt after the webhook when the browser never returns', async () => {
  const bob = await signUp(server, 'bob');
  server.paypal.books.approve(await order(bob));
  await server.paypal.webhooks.deliverAll();
  await expectMails('bob', ['Your receipt']);
});

test('mails the result of a pending payment', async () => {
  const eve = await signUp(server, 'eve');
  const orderId = await order(eve);
  server.paypal.books.approve(orderId, 'echeck');
  expect((await returnFromPaypal(eve, orderId)).data).toEqual({ success: true, pending: true });
  expect(subjects('eve')).toEqual([]);
  const { rows } = await server.admin.query('select capture_id from payments where order_id = $1', [orderId]);
  server.paypal.books.denyCapture(rows[0].capture_id);
  await server.paypal.webhooks.deliverAll();
  await expectMails('eve', ['PayPal declined your payment']);
});

test('logs no mail address', () => {
  expect(lines.join('')).not.toContain('@example.com');
});
