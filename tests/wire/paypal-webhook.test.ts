/** `POST /functions/v1/paypal-webhook`: what is taken, what is refused, and that nothing refused leaves a trace. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppEnv } from '#server/http/app-env.ts';
import { PaypalError } from '#server/payments/paypal/paypal.ts';
import type { PaypalEvent } from '#server/payments/webhook-event.ts';
import { webhookRoutes } from '#server/payments/webhook.ts';
import type { WebhookDeps } from '#server/payments/webhook.ts';
import { Secret } from '#server/secret.ts';
import { lengthened } from '../support/long-form.ts';
import {
  CERT_URL,
  WEBHOOK_ID,
  daysFromNow,
  ecKeys,
  makeAuthority,
  makeLeaf,
  pssKeys,
  rsaKeys,
  signedHeaders,
} from '../support/paypal-signer.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { answer, startTinyServer } from '../support/tiny-server.ts';

const root = makeAuthority('Test Root');
const paypalKeys = rsaKeys();
const genuineChain = makeLeaf(root, paypalKeys) + root.pem;

let stored: Awaited<ReturnType<typeof createTestDatabase>>;
let folder: string;
beforeAll(async () => {
  [stored, folder] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'hustle-forge-webhook-'))]);
  writeFileSync(join(folder, 'ca.pem'), root.pem);
});
afterAll(async () => {
  await stored.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => stored.admin.query('delete from payment_events'));

type World = Partial<Pick<WebhookDeps, 'database'> & NonNullable<WebhookDeps['payments']>> & {
  /** What stands at each address; `CERT_URL` holds PayPal's certificates unless something else is given. */
  at?: Record<string, string | (() => Response | Promise<Response>)>;
  hosts?: string[];
  realFetch?: boolean;
};

const unconfirmed = { verifyWebhook: () => Promise.resolve(false) };
const neverAsked = { verifyWebhook: () => Promise.reject(new Error('PayPal was not to be asked')) };

function world({ at = {}, hosts = ['*.paypal.com'], realFetch = false, ...given }: World = {}) {
  const places: NonNullable<World['at']> = { [CERT_URL]: genuineChain, ...at };
  const asked: string[] = [];
  const followed: PaypalEvent[] = [];
  const lines: unknown[] = [];
  const clock = { ahead: 0, now: () => new Date(Date.now() + clock.ahead) };
  const write = (line: unknown): void => void lines.push(line);
  const app = new Hono<AppEnv>();
  app.route(
    '/functions/v1/paypal-webhook',
    webhookRoutes({
      config: {
        paypal: {
          apiBase: 'https://api-m.paypal.com',
          clientId: 'client',
          clientSecret: new Secret('hush'),
          webhookId: WEBHOOK_ID,
          certHosts: hosts,
          caFile: join(folder, 'ca.pem'),
        },
      },
      database: given.database ?? stored.database,
      clock,
      log: { info: write, warn: write, error: write },
      payments: {
        paypal: given.paypal ?? neverAsked,
        follow: given.follow ?? ((event) => Promise.resolve(void followed.push(event))),
      },
      ...(!realFetch && {
        fetch: ((address: string) => {
          asked.push(address);
          const place = places[address] ?? (() => new Response('', { status: 404 }));
          return Promise.resolve(typeof place === 'string' ? new Response(place) : place());
        }) as typeof fetch,
      }),
    }),
  );
  app.onError((_error, context) => context.json({ code: 'unexpected_failure' }, 500));
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<Response> =>
    app.request('/functions/v1/paypal-webhook', { method: 'POST', body, headers });
  /** An event of this moment; answers the status. */
  const send = async (): Promise<number> => {
    const body = eventText();
    return (await post(body, signedHeaders(body, paypalKeys.privateKey, { time: clock.now() }))).status;
  };
  return { post, send, asked, followed, lines, clock };
}

let nextEvent = 0;
const eventText = (type = 'CHECKOUT.ORDER.APPROVED', resource: object = { id: '5O190127TN364715T' }): string =>
  JSON.stringify({ id: `WH-${(nextEvent += 1)}-TEST`, event_type: type, resource_type: 'checkout-order', resource });

const kept = async (): Promise<{ id: string; type: string; raw: string }[]> =>
  (await stored.admin.query<{ id: string; type: string; raw: string }>('select id, type, raw from payment_events'))
    .rows;

async function expectNothingKept(): Promise<void> {
  expect(await kept()).toEqual([]);
}

describe('a genuine event', () => {
  test('is stored as it came, answered, and followed', async () => {
    const { post, followed } = world();
    const body = eventText();
    const response = await post(body, signedHeaders(body, paypalKeys.privateKey));
    expect(response.status).toBe(200);
    const { id } = JSON.parse(body) as { id: string };
    expect(await kept()).toEqual([{ id, type: 'CHECKOUT.ORDER.APPROVED', raw: body }]);
    expect(followed).toEqual([
      { id, type: 'CHECKOUT.ORDER.APPROVED', orderId: '5O190127TN364715T', captureId: null, refundId: null },
    ]);
  });

  test('that comes again is answered in the same way and followed once', async () => {
    const { post, followed } = world();
    const body = eventText();
    const first = signedHeaders(body, paypalKeys.privateKey);
    const again = signedHeaders(body, paypalKeys.privateKey);
    const responses = await Promise.all([post(body, first), post(body, again), post(body, first)]);
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200]);
    expect(await kept()).toHaveLength(1);
    expect(followed).toHaveLength(1);
  });

  test('with letters beyond ASCII is checked by its bytes', async () => {
    const { post } = world();
    const body = eventText('PAYMENT.CAPTURE.COMPLETED', { id: 'CAP1', note: 'Zoë 💶 日本' });
    expect((await post(body, signedHeaders(body, paypalKeys.privateKey))).status).toBe(200);
    expect((await kept())[0]?.raw).toBe(body);
  });

  test('three days old is one that PayPal has tried to deliver all the while', async () => {
    const { post } = world();
    const body = eventText();
    expect((await post(body, signedHeaders(body, paypalKeys.privateKey, { time: daysFromNow(-3) }))).status).toBe(200);
  });

  test('is answered although following it fails: the sweep comes back to it', async () => {
    const { post, lines } = world({ follow: () => Promise.reject(new Error('PayPal is down')) });
    const body = eventText();
    expect((await post(body, signedHeaders(body, paypalKeys.privateKey))).status).toBe(200);
    expect(await kept()).toHaveLength(1);
    expect(lines).toContainEqual(expect.objectContaining({ event: 'CHECKOUT.ORDER.APPROVED', err: expect.any(Error) }));
  });

  test('that cannot be stored is to come again', async () => {
    const database = {
      asService: () => ({ statement: () => Promise.reject(new Error('the database is away')) }),
    } as unknown as WebhookDeps['database'];
    const { post, followed } = world({ database });
    const body = eventText();
    expect((await post(body, signedHeaders(body, paypalKeys.privateKey))).status).toBe(500);
    expect(followed).toEqual([]);
  });

  test('needs PayPal’s certificate once a day', async () => {
    const { send, asked, clock } = world();
    expect(await Promise.all([send(), send(), send()])).toEqual([200, 200, 200]);
    expect(await send()).toBe(200);
    expect(asked).toEqual([CERT_URL]);
    clock.ahead = 25 * 60 * 60_000;
    expect(await send()).toBe(200);
    expect(asked).toEqual([CERT_URL, CERT_URL]);
  });
});

describe('what is not PayPal’s is refused and leaves no trace', () => {
  const body = eventText();
  const headers = signedHeaders(body, paypalKeys.privateKey);
  const without = (name: string): Record<string, string> => {
    const { [name]: _gone, ...others } = headers;
    return others;
  };
  const other = rsaKeys();

  const CASES: [string, { body?: string; headers?: Record<string, string>; status: number; world?: World }][] = [
    ['no headers at all', { headers: {}, status: 400 }],
    ...Object.keys(headers)
      .filter((name) => name.startsWith('PAYPAL'))
      .map((name): [string, { headers: Record<string, string>; status: number }] => [
        `no ${name}`,
        { headers: without(name), status: 400 },
      ]),
    ['a body that was altered', { body: body.replace('5O190127TN364715T', '5O190127TN364715U'), status: 401 }],
    ['a body with a space more', { body: `${body} `, status: 401 }],
    ['a body that is no JSON', { body: 'hello', headers: signedHeaders('hello', paypalKeys.privateKey), status: 400 }],
    ['JSON that is no event', { body: '[]', headers: signedHeaders('[]', paypalKeys.privateKey), status: 400 }],
    ['an empty body', { body: '', headers: signedHeaders('', paypalKeys.privateKey), status: 400 }],
    ['somebody else’s key', { headers: signedHeaders(body, other.privateKey), status: 401 }],
    [
      'another webhook’s id',
      { headers: signedHeaders(body, paypalKeys.privateKey, { webhookId: 'WH-OTHER' }), status: 401 },
    ],
    ['another transmission id', { headers: { ...headers, 'PAYPAL-TRANSMISSION-ID': 'other' }, status: 401 }],
    ['another algorithm', { headers: { ...headers, 'PAYPAL-AUTH-ALGO': 'SHA1withRSA' }, status: 401 }],
    ['no algorithm by name', { headers: { ...headers, 'PAYPAL-AUTH-ALGO': 'none' }, status: 401 }],
    ['a signature that is no base64', { headers: { ...headers, 'PAYPAL-TRANSMISSION-SIG': '%%%' }, status: 400 }],
    ['a date in words', { headers: { ...headers, 'PAYPAL-TRANSMISSION-TIME': 'yesterday' }, status: 400 }],
    [
      'a date that does not exist',
      { headers: { ...headers, 'PAYPAL-TRANSMISSION-TIME': '2026-13-41T00:00:00Z' }, status: 401 },
    ],
    ['a week old', { headers: signedHeaders(body, paypalKeys.privateKey, { time: daysFromNow(-7) }), status: 401 }],
    ['of tomorrow', { headers: signedHeaders(body, paypalKeys.privateKey, { time: daysFromNow(1) }), status: 401 }],
  ];

  test.each(CASES)('%s', async (_what, { status, world: given, ...sent }) => {
    const { post, followed } = world(given);
    const response = await post(sent.body ?? body, sent.headers ?? headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ code: expect.any(String), message: 'This event was not taken' });
    expect(followed).toEqual([]);
    await expectNothingKept();
  });

  test('a body of a megabyte is not even read', async () => {
    const { post, asked } = world();
    const huge = JSON.stringify({ id: 'WH-1', event_type: 'X', resource: 'x'.repeat(1024 * 1024) });
    const response = await post(huge, {
      ...signedHeaders(huge, paypalKeys.privateKey),
      'Content-Length': String(huge.length),
    });
    expect(response.status).toBe(413);
    expect(asked).toEqual([]);
    await expectNothingKept();
  });
});

describe('certificates', () => {
  const attempt = async (given: World, certUrl = CERT_URL, keys = paypalKeys) => {
    const made = world(given);
    const body = eventText();
    const response = await made.post(body, signedHeaders(body, keys.privateKey, { certUrl }));
    return { ...made, status: response.status };
  };

  test.each([
    'http://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com.evil.test/CERT-1',
    'https://evil-paypal.com/CERT-1',
    'https://paypal.com.evil.test/CERT-1',
    'https://evilpaypal.com/CERT-1',
    'https://paypal.com/CERT-1',
    'https://user:word@api.paypal.com/CERT-1',
    'https://api.paypal.com@evil.test/CERT-1',
    'https://evil.test/https://api.paypal.com/CERT-1',
    'https://evil.test#@api.paypal.com/CERT-1',
    'https://evil.test\\@api.paypal.com/CERT-1',
    'https://api.paypal.com:8443/CERT-1',
    'https://api.paypal.com./CERT-1',
    'https://API.paypal.com/CERT-1',
    'https://api.paypal.com/a/../CERT-1',
    'https://api.paypal.com/CERT-1?again=1',
    'https://api.paypal.com//CERT-1',
    'https://api.paypal.com/%43ERT-1',
    'https://127.0.0.1/CERT-1',
    'https://[::1]/CERT-1',
    'https://xn--pypal-4ve.com/CERT-1',
    'ftp://api.paypal.com/CERT-1',
    'file:///etc/passwd',
    'CERT-1',
    `https://api.paypal.com/${'x'.repeat(500)}`,
  ])('nothing is fetched from %s', async (certUrl) => {
    const { status, asked } = await attempt({ at: { [certUrl]: genuineChain } }, certUrl);
    expect([400, 401]).toContain(status);
    expect(asked).toEqual([]);
    await expectNothingKept();
  });

  test.each([
    [
      'was made by its own signer',
      () => makeLeaf({ name: 'messageverificationcerts.paypal.com', keys: paypalKeys }, paypalKeys),
    ],
    ['has expired', () => makeLeaf(root, paypalKeys, { notAfter: daysFromNow(-1) }) + root.pem],
    ['is for later', () => makeLeaf(root, paypalKeys, { notBefore: daysFromNow(1) }) + root.pem],
    ['is for another name', () => makeLeaf(root, paypalKeys, { name: 'paypal.com.evil.test' }) + root.pem],
    ['is for a name that ends like it', () => makeLeaf(root, paypalKeys, { name: 'evil-paypal.com' }) + root.pem],
    ['is none', () => 'Not Found'],
    ['is garbage', () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    ['is one of too many', () => genuineChain.repeat(6)],
  ])('a certificate that %s is not believed', async (_what, pem) => {
    expect((await attempt({ at: { [CERT_URL]: pem() } })).status).toBe(401);
    await expectNothingKept();
  });

  test('a short key and a key of another kind are not believed', async () => {
    const short = rsaKeys(1024);
    const pem = makeLeaf(root, short) + root.pem;
    expect((await attempt({ at: { [CERT_URL]: pem } }, CERT_URL, short)).status).toBe(401);
    for (const keys of [ecKeys(), pssKeys()]) {
      expect((await attempt({ at: { [CERT_URL]: makeLeaf(root, keys) } }, CERT_URL, keys)).status).toBe(401);
    }
  });

  test('one that ends while we keep it is no longer believed', async () => {
    const { send, clock, asked } = world({
      at: { [CERT_URL]: makeLeaf(root, paypalKeys, { notAfter: new Date(Date.now() + 60 * 60_000) }) },
    });
    expect(await send()).toBe(200);
    clock.ahead = 2 * 60 * 60_000;
    expect(await send()).toBe(401);
    expect(asked).toHaveLength(2);
  });

  test('an issuer that was sent along is a link between the leaf and a root', async () => {
    const middle = makeAuthority('Test Middle', root);
    expect((await attempt({ at: { [CERT_URL]: makeLeaf(middle, paypalKeys) + middle.pem } })).status).toBe(200);
  });

  test('one whose issuer ends sooner than itself is believed no longer than that', async () => {
    const middle = makeAuthority('Test Middle', root, {
      notBefore: daysFromNow(-9),
      notAfter: new Date(Date.now() + 60 * 60_000),
    });
    const { send, clock } = world({
      at: { [CERT_URL]: makeLeaf(middle, paypalKeys) + middle.pem },
      paypal: unconfirmed,
    });
    expect(await send()).toBe(200);
    clock.ahead = 2 * 60 * 60_000;
    expect(await send()).toBe(401);
  });

  test('an issuer that has expired is none', async () => {
    const middle = makeAuthority('Old Middle', root, { notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) });
    const at = { [CERT_URL]: makeLeaf(middle, paypalKeys) + middle.pem };
    expect((await attempt({ at, paypal: unconfirmed })).status).toBe(401);
  });

  describe('where no root is reached, PayPal itself is asked', () => {
    const stranger = makeAuthority('Nobody knows me');
    const at = { [CERT_URL]: makeLeaf(stranger, paypalKeys) + stranger.pem };

    test.each([
      ['and confirms', () => Promise.resolve(true), 200],
      ['and does not', () => Promise.resolve(false), 401],
      [
        'and does not answer',
        () =>
          Promise.reject(
            new PaypalError({
              status: 503,
              name: 'GATEWAY_FAILURE',
              issue: null,
              retryable: true,
              outcomeUnknown: true,
              debugId: null,
              retryAfterMs: null,
            }),
          ),
        503,
      ],
    ])('%s', async (_what, verifyWebhook, expected) => {
      expect((await attempt({ at, paypal: { verifyWebhook } })).status).toBe(expected);
      expect(await kept()).toHaveLength(expected === 200 ? 1 : 0);
    });

    test('as it is about an authority that only has the name of a root', async () => {
      const impostor = makeAuthority(root.name);
      const pem = makeLeaf(impostor, paypalKeys) + impostor.pem;
      const paypal = { verifyWebhook: () => Promise.resolve(false) };
      expect((await attempt({ at: { [CERT_URL]: pem }, paypal })).status).toBe(401);
    });

    test('but only about a signature that fits', async () => {
      let times = 0;
      const paypal = { verifyWebhook: () => Promise.resolve((times += 1) > 0) };
      expect((await attempt({ at, paypal }, CERT_URL, rsaKeys())).status).toBe(401);
      expect(times).toBe(0);
    });
  });

  test.each([
    ['is away', () => Promise.reject(new TypeError('fetch failed')), 503],
    ['answers 500', () => new Response('', { status: 500 }), 503],
    ['is busy', () => new Response('', { status: 429 }), 503],
    ['sends a book', () => new Response('x'.repeat(100_000)), 503],
    ['knows none', () => new Response('', { status: 404 }), 401],
    ['sends us elsewhere', () => new Response('', { status: 302, headers: { Location: CERT_URL } }), 401],
  ])('when the host %s, the answer is fitting', async (_what, place, expected) => {
    const { status, asked } = await attempt({ at: { [CERT_URL]: place } });
    expect(status).toBe(expected);
    expect(asked).toEqual([CERT_URL]);
    await expectNothingKept();
  });

  test('invented addresses do not make us ask PayPal without end', async () => {
    const { post, asked } = world();
    const statuses: number[] = [];
    for (let number = 0; number < 30; number += 1) {
      const body = eventText();
      const certUrl = `https://api.paypal.com/v1/notifications/certs/CERT-${number}`;
      statuses.push((await post(body, signedHeaders(body, paypalKeys.privateKey, { certUrl }))).status);
    }
    expect(asked).toHaveLength(20);
    expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true);
    expect(statuses.slice(20).every((status) => status === 503)).toBe(true);
  });

  test('nor do they keep us from asking for the certificate that PayPal uses', async () => {
    const { post, clock } = world();
    const send = async (certUrl: string): Promise<number> => {
      const body = eventText();
      return (await post(body, signedHeaders(body, paypalKeys.privateKey, { certUrl }))).status;
    };
    expect(await send(CERT_URL)).toBe(200);
    // Long enough to forget it.
    clock.ahead = 25 * 60 * 60_000;
    for (let number = 0; number < 50; number += 1)
      await send(`https://api.paypal.com/v1/notifications/certs/${number}`);
    expect(await send(CERT_URL)).toBe(200);
  });

  test('an origin in the setting is asked over plain http, and a redirect from there is not followed', async () => {
    const server = await startTinyServer((request, response) => {
      if (request.path === '/moved.pem') answer(response, 302, '', { Location: '/cert.pem' });
      else answer(response, 200, genuineChain);
    });
    const given = { hosts: ['*.paypal.com', server.url], realFetch: true };
    expect((await attempt(given, `${server.url}/cert.pem`)).status).toBe(200);
    expect((await attempt(given, `${server.url}/moved.pem`)).status).toBe(401);
    expect(server.requests.map((request) => request.path)).toEqual(['/cert.pem', '/moved.pem']);
    await server.close();
  });
});

describe('what an event is about', () => {
  const CAPTURE = 'https://api-m.paypal.com/v2/payments/captures/2GG279541U471931P';
  test.each([
    ['CHECKOUT.ORDER.COMPLETED', 'checkout-order', { id: 'ORDER1' }, { orderId: 'ORDER1' }],
    [
      'PAYMENT.CAPTURE.COMPLETED',
      'capture',
      { id: 'CAP1', supplementary_data: { related_ids: { order_id: 'ORDER1' } } },
      { orderId: 'ORDER1', captureId: 'CAP1' },
    ],
    [
      'PAYMENT.CAPTURE.REFUNDED',
      'refund',
      { id: 'REF1', links: [{ rel: 'up', href: CAPTURE }] },
      { captureId: '2GG279541U471931P', refundId: 'REF1' },
    ],
    ['PAYMENT.CAPTURE.REVERSED', 'capture', { id: 'CAP1' }, { captureId: 'CAP1' }],
    ['CHECKOUT.PAYMENT-APPROVAL.REVERSED', 'order', { order_id: 'ORDER1' }, { orderId: 'ORDER1' }],
    [
      'CUSTOMER.DISPUTE.CREATED',
      'dispute',
      { dispute_id: 'D1', disputed_transactions: [{ seller_transaction_id: 'CAP1' }] },
      { captureId: 'CAP1' },
    ],
    ['SOMETHING.NEW', 'thing', { id: 'X' }, {}],
  ])('%s', async (type, resource_type, resource, expected) => {
    const { post, followed } = world();
    const body = JSON.stringify({ id: `WH-${(nextEvent += 1)}`, event_type: type, resource_type, resource });
    expect((await post(body, signedHeaders(body, paypalKeys.privateKey))).status).toBe(200);
    expect(followed).toEqual([
      { id: expect.any(String), type, orderId: null, captureId: null, refundId: null, ...expected },
    ]);
  });
});

test('no change of any header or any byte of a genuine event is taken', async () => {
  const { post, followed } = world();
  const body = eventText();
  const headers = signedHeaders(body, paypalKeys.privateKey);
  const names = Object.keys(headers).filter((name) => name.startsWith('PAYPAL'));
  const bytes = Buffer.from(body);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.record({ header: fc.constantFrom(...names), value: fc.string({ unit: 'grapheme-ascii' }) }),
        fc.record({ at: fc.nat(bytes.length - 1), flip: fc.integer({ min: 1, max: 255 }) }),
      ),
      async (change) => {
        const sent = { ...headers };
        const altered = new Uint8Array(bytes);
        if ('header' in change) {
          fc.pre(change.value.trim() !== headers[change.header]);
          sent[change.header] = change.value;
        } else {
          altered[change.at] = altered[change.at]! ^ change.flip;
        }
        expect([400, 401, 503]).toContain((await post(altered, sent)).status);
      },
    ),
    { numRuns: lengthened(300) },
  );
  expect(followed).toEqual([]);
  await expectNothingKept();
});
