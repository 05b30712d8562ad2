/**
 * The contract that the server relies on at PayPal. The suite runs against the simulator, and also against PayPal's own
 * sandbox when PAYPAL_SANDBOX_CLIENT_ID and PAYPAL_SANDBOX_CLIENT_SECRET are set, so the simulator cannot diverge.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { isOrderId } from '#domain/payment/payment.ts';
import { systemClock } from '#server/clock.ts';
import { createLog } from '#server/log.ts';
import { createPaypal } from '#server/payments/paypal/paypal-client.ts';
import { PaypalError, type CreatedOrder, type Paypal } from '#server/payments/paypal/paypal.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { startPaypalServer } from '../../../simulators/paypal/server.ts';

const simulator = await startPaypalServer();
afterAll(() => simulator.close());

type Account = { apiBase: string; clientId: string; clientSecret: string };

const createClient = ({ apiBase, clientId, clientSecret }: Account): Paypal =>
  createPaypal({
    config: { apiBase, clientId, clientSecret: new Secret(clientSecret), webhookId: null },
    clock: systemClock,
    log: createLog('silent'),
  });

const simulatorAccount: Account = {
  apiBase: simulator.settings.PAYPAL_API_BASE,
  clientId: simulator.settings.PAYPAL_CLIENT_ID,
  clientSecret: simulator.settings.PAYPAL_CLIENT_SECRET,
};
const { PAYPAL_SANDBOX_CLIENT_ID: clientId, PAYPAL_SANDBOX_CLIENT_SECRET: clientSecret } = process.env;
const accounts: [string, Account][] = [['the simulator', simulatorAccount]];
if (clientId && clientSecret) {
  accounts.push(['PayPal’s sandbox', { apiBase: 'https://api-m.sandbox.paypal.com', clientId, clientSecret }]);
}

const expectFailure = async (promise: Promise<unknown>): Promise<PaypalError> => {
  const reason: unknown = await promise.then(
    () => new Error('it worked'),
    (error: unknown) => error,
  );
  if (reason instanceof PaypalError) return reason;
  throw reason;
};

const newOrder = (paypal: Paypal, paymentId: string = randomUUID()): Promise<CreatedOrder> =>
  paypal.createOrder({
    paymentId,
    amountMinor: 2400,
    currency: 'USD',
    returnUrl: 'https://journal.example.com/journal?payment=success',
    cancelUrl: 'https://journal.example.com/journal?payment=cancelled',
  });

describe.each(accounts)('%s', (_name, account) => {
  const paypal = createClient(account);

  test('creates an order that awaits approval', async () => {
    const paymentId = randomUUID();
    const created = await newOrder(paypal, paymentId);
    expect(isOrderId(created.orderId)).toBe(true);
    expect(new URL(created.approvalUrl).searchParams.get('token')).toBe(created.orderId);
    expect(created.debugId).toMatch(/^\w+$/);
    expect(await paypal.getOrder(created.orderId)).toEqual({
      id: created.orderId,
      status: 'PAYER_ACTION_REQUIRED',
      customId: paymentId,
      amountMinor: 2400,
      currency: 'USD',
      capture: null,
    });
  });

  test('creates the same order for the same payment', async () => {
    const paymentId = randomUUID();
    const first = await newOrder(paypal, paymentId);
    expect(await newOrder(paypal, paymentId)).toMatchObject({ orderId: first.orderId });
  });

  test('rejects a capture before the approval', async () => {
    const { orderId } = await newOrder(paypal);
    expect(await expectFailure(paypal.captureOrder({ orderId, requestId: randomUUID() }))).toMatchObject({
      status: 422,
      name: 'UNPROCESSABLE_ENTITY',
      issue: 'ORDER_NOT_APPROVED',
      retryable: false,
      outcomeUnknown: false,
      debugId: expect.any(String),
    });
  });

  test.each([
    ['order', () => paypal.getOrder('0AB12345CD678901E')],
    ['order to capture', () => paypal.captureOrder({ orderId: '0AB12345CD678901E', requestId: randomUUID() })],
    ['capture', () => paypal.getCapture('0AB12345CD678901E')],
    ['capture to refund', () => paypal.refundCapture({ captureId: '0AB12345CD678901E', requestId: randomUUID() })],
    ['refund', () => paypal.getRefund('0AB12345CD678901E')],
  ])('rejects an unknown %s', async (_what, ask) => {
    expect(await expectFailure(ask())).toMatchObject({ status: 404, name: 'RESOURCE_NOT_FOUND', retryable: false });
  });

  test('rejects an order over zero', async () => {
    const order = {
      paymentId: randomUUID(),
      currency: 'USD',
      returnUrl: 'https://a.example',
      cancelUrl: 'https://a.example',
    };
    expect(await expectFailure(paypal.createOrder({ ...order, amountMinor: 0 }))).toMatchObject({
      status: 422,
      issue: 'CANNOT_BE_ZERO_OR_NEGATIVE',
    });
  });

  test('rejects wrong credentials', async () => {
    expect(await expectFailure(newOrder(createClient({ ...account, clientSecret: 'wrong' })))).toMatchObject({
      status: 401,
      name: 'invalid_client',
      outcomeUnknown: false,
    });
  });
});

describe('after the approval, which only the simulator can script', () => {
  const paypal = createClient(simulatorAccount);
  const createApprovedOrder = async (
    way?: 'instant' | 'echeck' | 'bank-declines',
  ): Promise<{ orderId: string; paymentId: string }> => {
    const paymentId = randomUUID();
    const { orderId } = await newOrder(paypal, paymentId);
    simulator.books.approve(orderId, way);
    return { orderId, paymentId };
  };

  test('an order is captured once, with any request id', async () => {
    const { orderId, paymentId } = await createApprovedOrder();
    const first = await paypal.captureOrder({ orderId, requestId: 'once' });
    expect(first).toMatchObject({ status: 'COMPLETED', customId: paymentId, amountMinor: 2400, currency: 'USD' });
    expect(first.capture).toMatchObject({
      status: 'COMPLETED',
      customId: paymentId,
      orderId,
      amountMinor: 2400,
      feeMinor: expect.any(Number),
      refundedMinor: 0,
    });
    expect((await paypal.captureOrder({ orderId, requestId: 'once' })).capture?.id).toBe(first.capture?.id);
    expect(await expectFailure(paypal.captureOrder({ orderId, requestId: 'twice' }))).toMatchObject({
      issue: 'ORDER_ALREADY_CAPTURED',
    });
    expect(await paypal.getCapture(first.capture!.id)).toEqual(first.capture);
    expect((await paypal.getOrder(orderId)).capture).toEqual(first.capture);
  });

  test('the same request id returns a lost response again', async () => {
    const { orderId } = await createApprovedOrder();
    simulator.control.fail({ path: 'capture$', dropAfterWork: true });
    const capturedTotal = (): number => simulator.books.money()['USD']?.captured ?? 0;
    const before = capturedTotal();
    const { capture } = await paypal.captureOrder({ orderId, requestId: 'lost' });
    expect(capture?.status).toBe('COMPLETED');
    expect(capturedTotal() - before).toBe(2400);
  });

  test('a declined card leaves the order open', async () => {
    const { orderId } = await createApprovedOrder('bank-declines');
    expect(await expectFailure(paypal.captureOrder({ orderId, requestId: 'declined' }))).toMatchObject({
      issue: 'INSTRUMENT_DECLINED',
      retryable: false,
    });
    expect(await paypal.getOrder(orderId)).toMatchObject({ status: 'PAYER_ACTION_REQUIRED', capture: null });
  });

  test('an eCheck is pending, with its reason', async () => {
    const { orderId } = await createApprovedOrder('echeck');
    const { capture } = await paypal.captureOrder({ orderId, requestId: 'slow' });
    expect(capture).toMatchObject({ status: 'PENDING', reason: 'PENDING_REVIEW' });
    simulator.books.completeCapture(capture!.id);
    expect(await paypal.getCapture(capture!.id)).toMatchObject({ status: 'COMPLETED', reason: null });
  });

  test('a refund returns everything, once', async () => {
    const { orderId } = await createApprovedOrder();
    const { capture } = await paypal.captureOrder({ orderId, requestId: 'to-refund' });
    const captureId = capture!.id;
    const refund = await paypal.refundCapture({ captureId, requestId: 'back', note: 'Cooling-off' });
    expect(refund).toMatchObject({ status: 'COMPLETED', amountMinor: 2400, currency: 'USD' });
    expect(await paypal.refundCapture({ captureId, requestId: 'back', note: 'Cooling-off' })).toEqual(refund);
    expect(await paypal.getRefund(refund.id)).toEqual(refund);
    expect(await paypal.getCapture(captureId)).toMatchObject({ status: 'REFUNDED', refundedMinor: 2400 });
    expect(await expectFailure(paypal.refundCapture({ captureId, requestId: 'again' }))).toMatchObject({
      issue: 'CAPTURE_FULLY_REFUNDED',
    });
  });

  test('the order reports a partial refund, the capture does not', async () => {
    const { orderId } = await createApprovedOrder();
    const { capture } = await paypal.captureOrder({ orderId, requestId: 'in-part' });
    simulator.books.refundCapture(capture!.id, { amount: { currency: 'USD', minor: 1000 } });
    expect(await paypal.getCapture(capture!.id)).toMatchObject({ status: 'PARTIALLY_REFUNDED', refundedMinor: null });
    expect((await paypal.getOrder(orderId)).capture).toMatchObject({ refundedMinor: 1000 });
  });

  test('PayPal confirms a genuine webhook and rejects an altered one', async () => {
    const { orderId } = await createApprovedOrder();
    const { event } = simulator.webhooks.all().findLast((delivery) => delivery.event.body.includes(orderId))!;
    const { headers, body } = await simulator.webhooks.signed(event.id);
    const verifier = createPaypal({
      config: {
        ...simulatorAccount,
        clientSecret: new Secret(simulatorAccount.clientSecret),
        webhookId: simulator.settings.PAYPAL_WEBHOOK_ID,
      },
      clock: systemClock,
      log: createLog('silent'),
    });
    const transmission = {
      id: headers['paypal-transmission-id']!,
      time: headers['paypal-transmission-time']!,
      signature: headers['paypal-transmission-sig']!,
      certUrl: headers['paypal-cert-url']!,
      algorithm: headers['paypal-auth-algo']!,
    };
    expect(await verifier.verifyWebhook(transmission, body)).toBe(true);
    expect(await verifier.verifyWebhook(transmission, body.replace(orderId, '0AB12345CD678901E'))).toBe(false);
  });
});
