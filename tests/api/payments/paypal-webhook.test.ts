/**
 * `POST /functions/v1/paypal-webhook`: which events it accepts, and how often it calls PayPal. PayPal is the simulator;
 * its `verify-webhook-signature` decides which events are genuine.
 */
import fc from 'fast-check';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppEnv } from '#server/http/app-env.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { createLog } from '#server/log.ts';
import { createPaypal } from '#server/payments/paypal/paypal-client.ts';
import { webhookRoutes, type PaypalEvent, type WebhookDeps } from '#server/payments/webhook.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { createPaypalSimulator, SANDBOX_CLIENT, SANDBOX_WEBHOOK_ID } from '../../../simulators/paypal/simulator.ts';
import type { EventType } from '../../../simulators/paypal/books/model.ts';
import type { Corruption, SignedWebhook } from '../../../simulators/paypal/webhooks.ts';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import type { AsService } from '#server/database/database.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { NO_EVENTS } from '#server/metrics/events.ts';

const API = 'http://127.0.0.1:1';
const ORDER = '5O190127TN364715T';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const VERIFY = '/v1/notifications/verify-webhook-signature';

let stored: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  stored = await createTestDatabase();
});
afterAll(() => stored.drop());

const clock = { ahead: 0, now: () => new Date(Date.now() + clock.ahead) };
/** Shared by all tests, because generating its RSA key is slow. */
const simulator = createPaypalSimulator({ clock, baseUrl: API });
let lastEvent = 0;
beforeEach(async () => {
  clock.ahead = 0;
  lastEvent = 0;
  simulator.control.reset();
  await stored.admin.query('delete from payment_events; delete from auth.rate_limits');
});

type Overrides = Partial<Pick<WebhookDeps, 'database'> & NonNullable<WebhookDeps['payments']>>;

/** The endpoint connected to the simulator. `ORDER` is the only known order. */
function createWorld(overrides: Overrides = {}) {
  const processed: PaypalEvent[] = [];
  const lines: unknown[] = [];
  const write = (line: unknown): void => void lines.push(line);
  const config = {
    apiBase: API,
    clientId: SANDBOX_CLIENT.id,
    clientSecret: new Secret(SANDBOX_CLIENT.secret),
    webhookId: SANDBOX_WEBHOOK_ID,
  };
  const paypal = createPaypal({
    config,
    clock,
    log: createLog('silent'),
    pause: () => Promise.resolve(),
    fetch: simulator.fetch,
  });
  const app = new Hono<AppEnv>();
  app.route(
    '/functions/v1/paypal-webhook',
    webhookRoutes({
      config: { paypal: config, auth: { clientAddressHeader: 'x-real-ip' } },
      database: overrides.database ?? stored.database,
      clock,
      limiters: createLimiters(),
      log: { info: write, warn: write, error: write },
      metrics: { events: NO_EVENTS },
      payments: {
        paypal: overrides.paypal ?? paypal,
        isAboutPayment: ({ orderId }) => Promise.resolve(orderId === ORDER),
        process: overrides.process ?? ((event) => Promise.resolve(void processed.push(event))),
      },
    }),
  );
  app.onError((_error, context) => context.json({ code: 'unexpected_failure' }, 500));

  return {
    processed,
    lines,
    countVerifications: () => simulator.control.requests().filter(({ path }) => path === VERIFY).length,
    /** An event that the simulator signs now: genuine, unless `corrupt` names the part to falsify. */
    signed(type = 'CHECKOUT.ORDER.APPROVED', resource: object = { id: ORDER }, corrupt: Corruption | null = null) {
      const id = `WH-${(lastEvent += 1)}-TEST`;
      const body = JSON.stringify({ id, event_type: type, resource_type: 'checkout-order', resource });
      simulator.webhooks.add({ id, type: type as EventType, body, at: clock.now() });
      return simulator.webhooks.signed(id, corrupt);
    },
    async post(
      { headers, body }: { headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> },
      from = '203.0.113.1',
    ): Promise<Response> {
      const request = { method: 'POST', body, headers: { ...headers, 'x-real-ip': from } };
      return app.request('/functions/v1/paypal-webhook', request);
    },
  };
}

const readStoredEvents = async (): Promise<{ id: string; type: string; raw: string }[]> =>
  (await stored.admin.query<{ id: string; type: string; raw: string }>('select id, type, raw from payment_events'))
    .rows;

describe('a genuine event', () => {
  test('is stored verbatim, answered and processed', async () => {
    const { post, signed, processed, countVerifications } = createWorld();
    const webhook = await signed();
    const response = await post(webhook);
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    const type = 'CHECKOUT.ORDER.APPROVED';
    expect(await readStoredEvents()).toEqual([{ id: 'WH-1-TEST', type, raw: webhook.body }]);
    expect(processed).toEqual([
      { id: 'WH-1-TEST', type, orderId: ORDER, captureId: null, paymentId: null, refundId: null },
    ]);
    expect(countVerifications()).toBe(1);
  });

  test('is processed once, however often it is delivered, and PayPal is not asked about a stored event', async () => {
    const { post, signed, processed, countVerifications } = createWorld();
    const webhook = await signed();
    const first = await Promise.all([post(webhook), post(webhook), post(webhook)]);
    const verifications = countVerifications();
    const later = await Promise.all([post(webhook), post(webhook)]);
    expect([...first, ...later].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await readStoredEvents()).toHaveLength(1);
    expect(processed).toHaveLength(1);
    expect(countVerifications()).toBe(verifications);
  });

  test('is verified by its bytes, also beyond ASCII', async () => {
    const { post, signed } = createWorld();
    const webhook = await signed('CHECKOUT.ORDER.APPROVED', { id: ORDER, note: 'Zoë 💶 日本' });
    expect((await post(webhook)).status).toBe(200);
    expect((await readStoredEvents())[0]?.raw).toBe(webhook.body);
  });

  test('may be three days old, because PayPal retries for as long', async () => {
    const { post, signed } = createWorld();
    const webhook = await signed();
    clock.ahead = 3 * DAY_MS;
    expect((await post(webhook)).status).toBe(200);
  });

  test('is answered although processing it fails', async () => {
    const { post, signed, lines } = createWorld({ process: () => Promise.reject(new Error('PayPal is down')) });
    expect((await post(await signed())).status).toBe(200);
    expect(await readStoredEvents()).toHaveLength(1);
    expect(lines).toContainEqual(expect.objectContaining({ event: 'CHECKOUT.ORDER.APPROVED', err: expect.any(Error) }));
  });

  test('is rejected with 500 when it cannot be stored, so that PayPal retries', async () => {
    const database = {
      asService: () => ({ statement: () => Promise.reject(new Error('no connection')) }),
    } as unknown as WebhookDeps['database'];
    const { post, signed, processed } = createWorld({ database });
    expect((await post(await signed())).status).toBe(500);
    expect(processed).toEqual([]);
  });
});

type Change = (genuine: SignedWebhook) => { headers?: Record<string, string>; body?: string };
const header =
  (name: string, value: string): Change =>
  ({ headers }) => ({ headers: { ...headers, [name]: value } });
const without =
  (name: string): Change =>
  ({ headers }) => ({ headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)) });

describe('an event that PayPal did not send', () => {
  test.each<[string, number, Change, verifications: number]>([
    ['no headers', 400, () => ({ headers: {} }), 0],
    ...['id', 'time', 'sig'].map((name): [string, number, Change, number] => [
      `no transmission ${name}`,
      400,
      without(`paypal-transmission-${name}`),
      0,
    ]),
    ['no certificate', 400, without('paypal-cert-url'), 0],
    ['no algorithm', 400, without('paypal-auth-algo'), 0],
    ['a signature that is not base64', 400, header('paypal-transmission-sig', '%%%'), 0],
    ['a certificate URL with another scheme', 400, header('paypal-cert-url', 'file:///etc/passwd'), 0],
    ['a malformed date', 400, header('paypal-transmission-time', 'yesterday'), 0],
    ['a date that does not exist', 401, header('paypal-transmission-time', '2026-13-41T00:00:00Z'), 0],
    ['a body that is not JSON', 400, () => ({ body: 'hello' }), 0],
    ['a body that is not an event', 400, () => ({ body: '[]' }), 0],
    ['an empty body', 400, () => ({ body: '' }), 0],
    ['a byte order mark', 400, ({ body }) => ({ body: `\ufeff${body}` }), 0],
    ['an altered body', 401, ({ body }) => ({ body: body.replace('checkout-order', 'checkout-0rder') }), 1],
    ['an added space', 401, ({ body }) => ({ body: `${body} ` }), 1],
    ['another transmission id', 401, header('paypal-transmission-id', 'other'), 1],
    ['another algorithm', 401, header('paypal-auth-algo', 'SHA1withRSA'), 1],
    ['a certificate on another host', 401, header('paypal-cert-url', 'https://api.paypal.com.example/cert'), 1],
  ])('is rejected and leaves no trace: %s', async (_what, status, change, verifications) => {
    const { post, signed, processed, countVerifications } = createWorld();
    const genuine = await signed();
    const response = await post({ ...genuine, ...change(genuine) });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ code: expect.any(String), message: 'This event was not accepted' });
    expect([processed, await readStoredEvents(), countVerifications()]).toEqual([[], [], verifications]);
  });

  test.each<Corruption>(['signature', 'body', 'webhook-id', 'certificate-host', 'key'])(
    'is rejected with a wrong %s',
    async (corrupt) => {
      const { post, signed, processed } = createWorld();
      const webhook = await signed('CHECKOUT.ORDER.APPROVED', { id: ORDER, value: '24.00' }, corrupt);
      const body = corrupt === 'body' ? webhook.body.replace('24', '94') : webhook.body;
      expect((await post({ ...webhook, body })).status).toBe(401);
      expect([processed, await readStoredEvents()]).toEqual([[], []]);
    },
  );

  test.each([
    ['a week old', 7 * DAY_MS],
    ['from tomorrow', -DAY_MS],
  ])('is rejected without asking PayPal when it is %s', async (_when, ahead) => {
    const { post, signed, countVerifications } = createWorld();
    const webhook = await signed();
    clock.ahead = ahead;
    expect((await post(webhook)).status).toBe(401);
    expect(countVerifications()).toBe(0);
  });

  test('is rejected after any change of a header or a byte', async () => {
    const { post, signed, processed } = createWorld();
    const { headers, body } = await signed();
    const names = Object.keys(headers).filter((name) => name.startsWith('paypal'));
    const bytes = Buffer.from(body);
    let posts = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.record({ header: fc.constantFrom(...names), value: fc.string({ unit: 'grapheme-ascii' }) }),
          fc.record({ at: fc.nat(bytes.length - 1), flip: fc.integer({ min: 1, max: 255 }) }),
        ),
        async (change) => {
          // Another address each time, or the rate limit would answer instead of PayPal.
          posts += 1;
          const sent = { ...headers };
          const altered = new Uint8Array(bytes);
          if ('header' in change) {
            fc.pre(change.value.trim() !== headers[change.header]);
            sent[change.header] = change.value;
          } else {
            altered[change.at] = altered[change.at]! ^ change.flip;
          }
          const response = await post({ headers: sent, body: altered }, `198.18.${posts >> 8}.${posts & 255}`);
          // 200 for an event whose altered text names no payment of ours.
          expect([200, 400, 401]).toContain(response.status);
        },
      ),
      { numRuns: fuzzBudget(300) },
    );
    expect([processed, await readStoredEvents()]).toEqual([[], []]);
  });

  test('is rejected before it is read when its body is a megabyte', async () => {
    const { post, signed, countVerifications } = createWorld();
    const { headers } = await signed();
    const body = JSON.stringify({ id: 'WH-1', event_type: 'X', resource: 'x'.repeat(1024 * 1024) });
    const response = await post({ headers: { ...headers, 'content-length': String(body.length) }, body });
    expect([response.status, countVerifications()]).toEqual([413, 0]);
  });
});

describe('an event that names no payment of ours', () => {
  test.each([
    ['another order', 'CHECKOUT.ORDER.APPROVED', { id: '0AB12345CD678901E' }],
    ['no order', 'SOMETHING.NEW', {}],
    ['an id that PostgreSQL rejects', 'CHECKOUT.ORDER.APPROVED', { id: 'ORDER\0' }],
  ])('is answered with 200 and neither verified nor stored: %s', async (_what, type, resource) => {
    const { post, signed, processed } = createWorld();
    const response = await post(await signed(type, resource));
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    expect([processed, await readStoredEvents()]).toEqual([[], []]);
    expect(simulator.control.requests()).toEqual([]);
  });

  test('does not use up the limit of its sender', async () => {
    const { post, signed } = createWorld();
    const foreign = await signed('CHECKOUT.ORDER.APPROVED', { id: '0AB12345CD678901E' });
    for (let sent = 0; sent < 200; sent += 1) expect((await post(foreign)).status).toBe(200);
    expect(simulator.control.requests()).toEqual([]);
    expect((await post(await signed())).status).toBe(200);
  });
});

describe('when PayPal', () => {
  test.each([
    ['is down', { status: 503 }, 503],
    ['is busy', { status: 429 }, 503],
    ['breaks the connection', { drop: true }, 503],
    ['rejects our credentials', { status: 403, issue: 'PERMISSION_DENIED' }, 503],
    ['answers with HTML', { body: 'html' as const }, 503],
    ['rejects the verification request', { status: 400, issue: 'INVALID_PARAMETER_SYNTAX' }, 401],
  ])('%s, the event is rejected and not stored', async (_what, fault, status) => {
    const { post, signed } = createWorld();
    for (let tries = 0; tries < 6; tries += 1) simulator.control.fail({ path: `${VERIFY}$`, ...fault });
    const response = await post(await signed());
    expect([response.status, await readStoredEvents()]).toEqual([status, []]);
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '60' : null);
  });
});

/** Holds PayPal's responses until the test releases them. */
function holdVerifications() {
  const waiting: (() => void)[] = [];
  const paypal = { verifyWebhook: () => new Promise<boolean>((answer) => waiting.push(() => answer(true))) };
  return { paypal, waiting };
}

describe('a flood of events about a real order', () => {
  test('causes at most 60 verifications a minute per address on all servers together, and gets 503 afterwards', async () => {
    const { post, signed, countVerifications } = createWorld();
    const other = createWorld();
    const forged = await signed('CHECKOUT.ORDER.APPROVED', { id: ORDER }, 'signature');
    const statuses: number[] = [];
    for (let sent = 0; sent < 35; sent += 1) {
      statuses.push((await post(forged)).status, (await other.post(forged)).status);
    }
    expect(statuses).toEqual([...Array<number>(60).fill(401), ...Array<number>(10).fill(503)]);
    expect(countVerifications()).toBe(60);
    expect((await post(await signed(), '203.0.113.2')).status).toBe(200);
    await stored.admin.query('update auth.rate_limits set expire = expire - $1', [MINUTE_MS + 1]);
    expect((await post(await signed())).status).toBe(200);
  });

  test('counts the addresses of one IPv6 network as one', async () => {
    const { post, signed } = createWorld();
    const forged = await signed('CHECKOUT.ORDER.APPROVED', { id: ORDER }, 'signature');
    for (let sent = 0; sent < 60; sent += 1) await post(forged, `2001:db8:1:2::${sent.toString(16)}`);
    expect((await post(forged, '2001:db8:1:2:ffff::1')).status).toBe(503);
    expect((await post(forged, '2001:db8:1:3::1')).status).toBe(401);
  });

  test('waits in a bounded queue with one verification per address at a time', async () => {
    const { paypal, waiting } = holdVerifications();
    const { post, signed } = createWorld({ paypal });
    const webhooks = await Promise.all(Array.from({ length: 12 }, () => signed()));
    const statuses: number[] = [];
    const open = webhooks.map(async (webhook) => statuses.push((await post(webhook)).status));
    await expect.poll(() => statuses).toEqual([503]);
    for (let answered = 0; answered < 11; answered += 1) {
      await expect.poll(() => waiting.length).toBe(answered + 1);
      waiting[answered]!();
    }
    await Promise.all(open);
    expect(statuses.filter((status) => status === 200)).toHaveLength(11);
  });

  test('from many addresses gets 503 when the queue is full', async () => {
    const { paypal, waiting } = holdVerifications();
    const { post, signed } = createWorld({ paypal });
    const webhooks = await Promise.all(Array.from({ length: 45 }, () => signed()));
    const statuses: number[] = [];
    const open = webhooks.map(async (webhook, index) =>
      statuses.push((await post(webhook, `198.51.100.${index}`)).status),
    );
    await expect.poll(() => statuses).toEqual([503]);
    expect(waiting).toHaveLength(4);
    for (let answered = 0; answered < 44; answered += 1) {
      await expect.poll(() => waiting.length).toBeGreaterThan(answered);
      waiting[answered]!();
    }
    await Promise.all(open);
    expect(statuses.filter((status) => status === 200)).toHaveLength(44);
  });

  test('skips the verification of an event whose sender has disconnected', async () => {
    const { paypal, waiting } = holdVerifications();
    let statements = 0;
    const database = {
      asService: (reason: string) => ({
        async statement(...args: Parameters<AsService['statement']>) {
          const result = await stored.database.asService(reason).statement(...args);
          statements += 1;
          return result;
        },
      }),
    } as unknown as WebhookDeps['database'];
    const { post, signed } = createWorld({ paypal, database });
    const [first, second] = [await signed(), await signed()];
    const open = [post(first), post(second)];
    // Both requests have looked for their event and were counted: one event is being verified, the other is queued.
    await expect.poll(() => [statements, waiting.length]).toEqual([4, 1]);
    clock.ahead = 25_000;
    waiting[0]!();
    expect((await Promise.all(open)).map(({ status }) => status).toSorted()).toEqual([200, 503]);
    expect(waiting).toHaveLength(1);
  });
});
