/**
 * Simulates a push service (RFC 8030) together with the browsers that subscribe at it. It refuses what real services
 * refuse: a message without a valid VAPID signature for this origin (RFC 8292), with another key than the
 * subscription's, or too large. It decrypts like a browser (RFC 8291), with keys of its own.
 */
import { createECDH, randomBytes, type ECDH } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { decrypt } from 'http_ece';
import { importJWK, jwtVerify } from 'jose';
import { FaultQueue } from '../faults.ts';
import { breakConnection, serveApp, type HostEnv } from '../host.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';

/** The limits of real push services: RFC 8030 7.2 for the body, RFC 8292 2 for the token's life. */
const MAX_BODY_BYTES = 4_096;
const MAX_JWT_SECONDS = 24 * 3_600;
const MAX_MESSAGES = 200;
const SEND_PATH = '/push/send/';

/** As `PushSubscription.toJSON()`. */
export type SimulatedSubscription = { endpoint: string; keys: { p256dh: string; auth: string } };

/** A message that a browser has decrypted. */
export type PushedMessage = {
  endpoint: string;
  text: string;
  ttl: number;
  topic: string | null;
  urgency: string | null;
  /** The operator's contact in the signature. */
  subject: string;
  /** ISO 8601. */
  at: string;
};

/** Affects the next `times` (default 1) messages. */
export type PushFault = {
  status?: number;
  headers?: Record<string, string>;
  /** Closes the connection without an answer, after the message is delivered. */
  drop?: boolean;
  times?: number;
};

export type PushControl = {
  /** @param applicationServerKey in base64url */
  subscribe: (applicationServerKey: string) => SimulatedSubscription;
  unsubscribe: (endpoint: string) => void;
  /** Newest first. A message replaces an earlier one of its topic only until a browser has fetched it: here at once. */
  messages: (endpoint?: string) => PushedMessage[];
  /** Statuses of all answers, newest last. */
  answers: () => number[];
  fail: (fault: PushFault) => void;
  clear: () => void;
};

type Browser = { applicationServerKey: string; privateKey: ECDH; authSecret: Buffer };

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * An app to mount into another server at its root.
 *
 * @param origin returns the address of this server, which a signature names
 */
export function createPushApp(origin: () => string, now: () => Date = () => new Date()) {
  const browsers = new Map<string, Browser>();
  const received: PushedMessage[] = [];
  const statuses: number[] = [];
  const faults = new FaultQueue<PushFault>();

  const control: PushControl = {
    subscribe(applicationServerKey) {
      const privateKey = createECDH('prime256v1');
      privateKey.generateKeys();
      const authSecret = randomBytes(16);
      const endpoint = `${origin()}${SEND_PATH}${randomBytes(16).toString('base64url')}`;
      browsers.set(endpoint, { applicationServerKey, privateKey, authSecret });
      const keys = { p256dh: privateKey.getPublicKey('base64url'), auth: authSecret.toString('base64url') };
      return { endpoint, keys };
    },
    unsubscribe: (endpoint) => void browsers.delete(endpoint),
    messages: (endpoint) => received.filter((message) => endpoint === undefined || message.endpoint === endpoint),
    answers: () => [...statuses],
    fail: (fault) => faults.add(fault),
    clear() {
      received.length = 0;
      statuses.length = 0;
      faults.clear();
    },
  };

  async function receive(context: Context<HostEnv>): Promise<Response> {
    const fault = faults.take({ method: 'POST', path: context.req.path });
    if (fault?.status !== undefined) return context.body(null, fault.status as 503, fault.headers);
    const message = await accept(context.req.raw, `${origin()}${context.req.path}`);
    received.unshift(message);
    received.length = Math.min(received.length, MAX_MESSAGES);
    if (fault?.drop) return breakConnection(context);
    return context.body(null, 201, { Location: `${origin()}/push/messages/${randomBytes(8).toString('hex')}` });
  }

  async function accept(request: Request, endpoint: string): Promise<PushedMessage> {
    const { headers } = request;
    const browser = browsers.get(endpoint);
    if (!browser) throw new Refusal(410, 'the browser has unsubscribed');
    const ttl = headers.get('ttl') ?? '';
    if (!/^\d+$/.test(ttl)) throw new Refusal(400, 'TTL is missing');
    const topic = headers.get('topic');
    if (topic !== null && !/^[\w-]{1,32}$/.test(topic)) throw new Refusal(400, 'the topic is not valid');
    const urgency = headers.get('urgency');
    if (urgency !== null && !/^(?:very-low|low|normal|high)$/.test(urgency))
      throw new Refusal(400, 'the urgency is not valid');
    if (headers.get('content-encoding') !== 'aes128gcm') throw new Refusal(415, 'the encoding is not aes128gcm');
    const subject = await verifyVapid(headers.get('authorization') ?? '', browser.applicationServerKey);
    const body = Buffer.from(await request.arrayBuffer());
    if (body.length > MAX_BODY_BYTES) throw new Refusal(413, 'the message is too large');
    const { privateKey, authSecret } = browser;
    const text = decrypt(body, { version: 'aes128gcm', privateKey, authSecret }).toString();
    return { endpoint, text, ttl: Number(ttl), topic, urgency, subject, at: now().toISOString() };
  }

  /** Returns the contact of the application server. */
  async function verifyVapid(authorization: string, applicationServerKey: string): Promise<string> {
    const [, token = '', key = ''] = /^vapid t=([\w.-]+), *k=([\w-]+)$/.exec(authorization) ?? [];
    if (token === '') throw new Refusal(401, 'the signature is missing');
    if (key !== applicationServerKey) throw new Refusal(403, 'the subscription was made with another key');
    const point = Buffer.from(key, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
    const publicKey = await importJWK({ kty: 'EC', crv: 'P-256', x: x!, y: y! }, 'ES256');
    const options = { audience: origin(), algorithms: ['ES256'], currentDate: now(), requiredClaims: ['exp', 'sub'] };
    const { payload } = await jwtVerify(token, publicKey, options).catch((error: Error) => {
      throw new Refusal(403, error.message);
    });
    if (payload.exp! - now().getTime() / 1000 > MAX_JWT_SECONDS) throw new Refusal(403, 'exp is too late');
    if (!/^(?:mailto:.+@|https:)/.test(payload.sub!)) throw new Refusal(403, 'sub is no contact');
    return payload.sub!;
  }

  const app = new Hono<HostEnv>();
  app.post(`${SEND_PATH}:id`, async (context) => {
    try {
      const answer = await receive(context);
      statuses.push(answer.status);
      return answer;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      statuses.push(error.status);
      return context.text(error.message, error.status as 400);
    }
  });
  app.post('/sandbox/push/subscriptions', async (context) => {
    const { applicationServerKey } = await context.req.json<{ applicationServerKey: string }>();
    return context.json(control.subscribe(applicationServerKey));
  });
  app.post('/sandbox/push/unsubscribe', async (context) => {
    control.unsubscribe((await context.req.json<{ endpoint: string }>()).endpoint);
    return context.body(null, 204);
  });
  app.get('/sandbox/push/messages', (context) =>
    context.json(control.messages(context.req.query('endpoint')), 200, { 'Cache-Control': 'no-store' }),
  );
  app.get('/sandbox/push', (context) => context.html(messagesPage(received), 200, { 'Cache-Control': 'no-store' }));
  return { app, control };
}

export const pushSettingsAt = (baseUrl: string) => ({ PUSH_SERVICES: baseUrl });

export type PushServer = {
  readonly url: string;
  readonly control: PushControl;
  readonly settings: ReturnType<typeof pushSettingsAt>;
  close(): Promise<void>;
};

/** Starts a server on a free loopback port, for tests. */
export async function startPushServer({ now }: { now?: () => Date } = {}): Promise<PushServer> {
  let url = '';
  const { app, control } = createPushApp(() => url, now);
  const host = await serveApp(app);
  url = host.url;
  return { url, control, settings: pushSettingsAt(url), close: () => host.close() };
}

function messagesPage(messages: readonly PushedMessage[]): string {
  const articles =
    messages.length === 0
      ? '<p>No notifications yet. Turn on the reminder “On this device” in the settings.</p>'
      : messages.map(article).join('\n');
  return renderSandboxPage('Notifications', articles);
}

/** The notification as the product's service worker shows it, with its two actions. */
function article({ text, ttl, topic, urgency, at }: PushedMessage): string {
  const { day, prompt, tap } = JSON.parse(text) as { day: string; prompt: string; tap: string };
  return `<article>
<h2>${escapeHtml(day)}</h2>
<p>${escapeHtml(prompt)}</p>
<form method="post" action="/evening/${encodeURIComponent(tap)}?entry=0">
<p class="actions"><a href="/journal?date=${encodeURIComponent(day)}">Write</a> <button>Did nothing</button></p>
</form>
<p class="quiet"><time datetime="${at}">${at.replace('T', ' ').slice(0, 19)} UTC</time>, waits for ${ttl} seconds,
topic ${escapeHtml(topic ?? 'none')}, urgency ${escapeHtml(urgency ?? 'normal')}</p>
</article>`;
}
