/**
 * Sends messages to the push services of browsers (RFC 8030), encrypted for one browser (RFC 8291) and signed with the
 * server's key (VAPID, RFC 8292).
 */
import { createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { encrypt } from 'http_ece';
import { importJWK, SignJWT, type CryptoKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

export type PushTarget = { endpoint: string; p256dh: Buffer; auth: Buffer };

/**
 * `gone`: the browser has ended the subscription. `busy`: certainly not taken, and may be taken later. `failed`:
 * refused for good, or nobody knows whether it was taken.
 */
export type PushOutcome =
  | { kind: 'sent' }
  | { kind: 'gone' }
  | { kind: 'busy'; retryAfterMs: number }
  | { kind: 'failed'; reason: string; mayHaveArrived: boolean };

export type WebPush = {
  /** The `applicationServerKey` of subscriptions, in base64url. */
  publicKey: () => Promise<string>;
  send: (target: PushTarget, message: string) => Promise<PushOutcome>;
};

/** A later reminder would come at night. */
const TTL_SECONDS = 2 * 3_600;
/** A message replaces the earlier one that the browser has not fetched yet. */
const TOPIC = 'evening-reminder';
const TIMEOUT_MS = 10_000;
/** RFC 8292 allows 24 hours. */
const JWT_SECONDS = 12 * 3_600;
/** A signature is used for this long, so that an hour of reminders needs one for each push service. */
const JWT_REUSE_MS = 3_600_000;
/** After this many failures in a row, a push service counts as down for a minute, or for the time that it names. */
const MAX_FAILURES = 5;
const DOWN_MS = 60_000;
const MAX_ORIGINS = 200;

type Deps = {
  /** `deriveSecret('push')` */
  secret: Buffer;
  /** Where a push service reaches the operator: `mailto:` or https. */
  subject: string;
  clock: Clock;
};

export function createWebPush({ secret, subject, clock }: Deps): WebPush {
  let derived: ReturnType<typeof deriveVapidKey> | undefined;
  const vapidKey = () => (derived ??= deriveVapidKey(secret));
  const headers = new LRUCache<string, { value: string; signedAtMs: number }>({ max: MAX_ORIGINS });
  const services = new LRUCache<string, { failures: number; downUntilMs: number }>({ max: MAX_ORIGINS });

  async function authorization(origin: string): Promise<string> {
    const now = clock.now().getTime();
    const known = headers.get(origin);
    if (known && Math.abs(now - known.signedAtMs) < JWT_REUSE_MS) return known.value;
    const { publicKey, privateKey } = await vapidKey();
    const claims = { aud: origin, exp: Math.floor(now / 1000) + JWT_SECONDS, sub: subject };
    const token = await new SignJWT(claims).setProtectedHeader({ typ: 'JWT', alg: 'ES256' }).sign(privateKey);
    const value = `vapid t=${token}, k=${publicKey}`;
    headers.set(origin, { value, signedAtMs: now });
    return value;
  }

  /** Counts failures, so that a push service that is down does not hold up the reminders of the others. */
  function follow(origin: string, outcome: PushOutcome, hasAnswered: boolean): PushOutcome {
    if (hasAnswered && outcome.kind !== 'busy') {
      services.delete(origin);
      return outcome;
    }
    const failures = (services.get(origin)?.failures ?? 0) + 1;
    const waitMs = outcome.kind === 'busy' ? outcome.retryAfterMs : DOWN_MS;
    services.set(origin, { failures, downUntilMs: failures < MAX_FAILURES ? 0 : clock.now().getTime() + waitMs });
    return outcome;
  }

  return {
    publicKey: async () => (await vapidKey()).publicKey,
    async send({ endpoint, p256dh, auth }, message) {
      const { origin } = new URL(endpoint);
      const downMs = (services.get(origin)?.downUntilMs ?? 0) - clock.now().getTime();
      if (downMs > 0) return { kind: 'busy', retryAfterMs: downMs };
      const key = createECDH('prime256v1');
      key.generateKeys();
      let body: Buffer;
      try {
        const salt = randomBytes(16);
        body = encrypt(Buffer.from(message), {
          version: 'aes128gcm',
          privateKey: key,
          dh: p256dh,
          authSecret: auth,
          salt,
        });
      } catch {
        // The browser's public key is not a point of the curve.
        return { kind: 'gone' };
      }
      try {
        const response = await fetch(endpoint, {
          method: 'POST',
          // Threat: a push service, or an attacker in its place, redirects the request into our network.
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_MS),
          headers: {
            Authorization: await authorization(origin),
            'Content-Encoding': 'aes128gcm',
            'Content-Type': 'application/octet-stream',
            TTL: String(TTL_SECONDS),
            Topic: TOPIC,
            Urgency: 'high',
          },
          body: new Uint8Array(body),
        });
        await response.body?.cancel();
        return follow(origin, outcomeOf(response, clock.now()), true);
      } catch (error) {
        const { name, cause } = error as Error & { cause?: { code?: string } };
        const reason = cause?.code ?? name;
        // Without a connection nothing was taken. In all other cases nobody knows.
        const isUnsent = NO_CONNECTION.has(reason);
        return follow(
          origin,
          isUnsent ? { kind: 'busy', retryAfterMs: DOWN_MS } : { kind: 'failed', reason, mayHaveArrived: true },
          false,
        );
      }
    },
  };
}

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function outcomeOf({ status, headers }: Response, now: Date): PushOutcome {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  if (status === 429 || status >= 500) return { kind: 'busy', retryAfterMs: retryAfterMs(headers, now) };
  return { kind: 'failed', reason: `status ${status}`, mayHaveArrived: false };
}

/** Seconds or a date (RFC 9110 10.2.3). */
function retryAfterMs(headers: Headers, now: Date): number {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now.getTime();
  return ms > 0 ? ms : DOWN_MS;
}

/** Longer than the order of the curve, so that the derived key is not biased (FIPS 186-5 A.2.1). */
const SEED_BYTES = 48;

/**
 * All servers have the same key, which lives as long as the root of the signing keys. Browsers tie a subscription to
 * it, so a key that rotated would end all subscriptions.
 */
async function deriveVapidKey(secret: Buffer): Promise<{ publicKey: string; privateKey: CryptoKey }> {
  // Loaded when a browser subscribes or is reminded: its tables take memory.
  const { p256 } = await import('@noble/curves/nist.js');
  const { secretKey, publicKey } = p256.keygen(new Uint8Array(hkdfSync('sha256', secret, '', 'vapid', SEED_BYTES)));
  const point = Buffer.from(p256.Point.fromBytes(publicKey).toBytes(false));
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const jwk = { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: Buffer.from(secretKey).toString('base64url') };
  return { publicKey: point.toString('base64url'), privateKey: (await importJWK(jwk, 'ES256')) as CryptoKey };
}
