/**
 * Outbox of PayPal's webhooks. By default they are held until a test delivers them, so that tests need no timing
 * assumptions. In `automatic` mode they are sent after a delay, repeated or reversed as configured.
 */
import type { Ids, PaypalEvent } from './books/model.ts';
import { timeText } from './books/response-bodies.ts';
import { generateKeyPair, sign, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

const REQUEST_TIMEOUT_MS = 30_000;
/** The simulator does not serve this path: the product verifies webhooks through PayPal's `verify-webhook-signature`. */
const CERTIFICATE_PATH = '/v1/notifications/certs/CERT-360caa42-fca2a594-1';
/** PayPal tries 25 times within three days. */
const MAX_ATTEMPTS = 25;
const MAX_RETRY_DELAY_MS = 4 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Ways to forge a webhook. */
export type Corruption =
  | 'signature'
  /** Changed after signing. */
  | 'body'
  /** Signed for another listener. */
  | 'webhook-id'
  /** Names a certificate that is not PayPal's. */
  | 'certificate-host'
  /** Signed with a foreign key. */
  | 'key'
  /** Signed long ago. */
  | 'time';

export type Delivery = {
  readonly event: PaypalEvent;
  /** Part of the signature. Retries reuse it; a manual resend creates a new one. */
  transmission: { id: string; time: string };
  /** The listener's response status of each attempt; null without a response. */
  readonly statuses: (number | null)[];
  delivered: boolean;
};

export type DeliverySettings = {
  automatic: boolean;
  delayMs: number;
  /** Number of deliveries of each event in automatic mode. */
  times: number;
  /** Sends the events that were added during the same delay newest first. */
  reversed: boolean;
  corrupt: Corruption | null;
  /** Delay after the first failed attempt; doubled after each further one. */
  firstRetryMs: number;
  /** Null: the product's webhook URL, below the simulator's `publicUrl`. */
  listenerUrl: string | null;
};

const DEFAULT_SETTINGS: DeliverySettings = {
  automatic: false,
  delayMs: 0,
  times: 1,
  reversed: false,
  corrupt: null,
  firstRetryMs: 1000,
  listenerUrl: null,
};

export type SignedWebhook = { headers: Record<string, string>; body: string };

type Deps = {
  now: () => Date;
  ids: Ids;
  webhookId: string;
  /** The origin of the certificate URL. */
  baseUrl: () => string;
  /** The webhook URL used when the settings name none. Null: there is no default. */
  listenerUrl: () => string | null;
};

export class Outbox {
  readonly #deps: Deps;
  #settings: DeliverySettings = { ...DEFAULT_SETTINGS };
  #deliveries: Delivery[] = [];
  #due: Delivery[] = [];
  #timers = new Set<NodeJS.Timeout>();
  #signer: Signer | null = null;
  #foreignSigner: Signer | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get signer(): Signer {
    return (this.#signer ??= createSigner());
  }

  /** Signs with a key that is not PayPal's. */
  get foreignSigner(): Signer {
    return (this.#foreignSigner ??= createSigner());
  }

  /** Oldest first. */
  all(): readonly Delivery[] {
    return this.#deliveries;
  }

  /** The undelivered events, oldest first. */
  held(): readonly Delivery[] {
    return this.#deliveries.filter(({ delivered }) => !delivered);
  }

  set(changes: Partial<DeliverySettings>): void {
    this.#settings = { ...this.#settings, ...changes };
  }

  add(event: PaypalEvent): void {
    const delivery: Delivery = { event, transmission: this.#newTransmission(), statuses: [], delivered: false };
    this.#deliveries.push(delivery);
    if (this.#settings.automatic) this.#send(delivery);
  }

  /** Holds the event again with a new transmission, or sends it in automatic mode (`webhooks-events/{id}/resend`). */
  resend(eventId: string): void {
    const delivery = this.#find(eventId);
    delivery.transmission = this.#newTransmission();
    delivery.delivered = false;
    if (this.#settings.automatic) this.#send(delivery);
  }

  /** Sends the event now, `times` times. Returns the response statuses; null without a response. */
  async deliver(
    eventId: string,
    { corrupt = null, times = 1 }: { corrupt?: Corruption | null; times?: number } = {},
  ): Promise<(number | null)[]> {
    const delivery = this.#find(eventId);
    const statuses: (number | null)[] = [];
    for (let sent = 0; sent < times; sent += 1) statuses.push(await this.#post(delivery, corrupt));
    return statuses;
  }

  /** Delivers all held events sequentially. */
  async deliverAll({ reversed = false, times = 1 } = {}): Promise<(number | null)[]> {
    const statuses: (number | null)[] = [];
    for (const { event } of reversed ? this.held().toReversed() : this.held())
      statuses.push(...(await this.deliver(event.id, { times })));
    return statuses;
  }

  /** Returns the signed request without sending it, for tests that send it themselves. */
  async signed(eventId: string, corrupt: Corruption | null = null): Promise<SignedWebhook> {
    const { event, transmission } = this.#find(eventId);
    const { webhookId, baseUrl } = this.#deps;
    const signed: Transmission = {
      id: transmission.id,
      time: corrupt === 'time' ? timeText(new Date(Date.parse(transmission.time) - 30 * DAY_MS)) : transmission.time,
      webhookId: corrupt === 'webhook-id' ? 'OTHER0WEBHOOK0ID0' : webhookId,
      body: event.body,
    };
    const signature = await (corrupt === 'key' ? this.foreignSigner : this.signer).sign(signed);
    const host = corrupt === 'certificate-host' ? 'https://api.paypal.com.example' : baseUrl();
    return {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'PayPal/AUHD-214.0-58417034',
        'paypal-transmission-id': signed.id,
        'paypal-transmission-time': signed.time,
        'paypal-transmission-sig': corrupt === 'signature' ? flipFirstBit(signature) : signature,
        'paypal-cert-url': host + CERTIFICATE_PATH,
        'paypal-auth-algo': 'SHA256withRSA',
      },
      body: corrupt === 'body' ? event.body.replace(/"value":"\d/, '"value":"9') : event.body,
    };
  }

  /**
   * Implements verify-webhook-signature.
   * @param request the request body as text, because the signature covers the exact bytes of the event
   */
  verify(request: string): boolean {
    const parsed = JSON.parse(request) as Record<string, string>;
    const [, body = ''] = /"webhook_event"\s*:\s*(.*)\}\s*$/s.exec(request) ?? [];
    if (parsed['auth_algo'] !== 'SHA256withRSA' || parsed['cert_url'] !== this.#deps.baseUrl() + CERTIFICATE_PATH)
      return false;
    const id = parsed['transmission_id'] ?? '';
    const time = parsed['transmission_time'] ?? '';
    const webhookId = parsed['webhook_id'] ?? '';
    if (webhookId !== this.#deps.webhookId || this.#signer === null) return false;
    return this.#signer.verify({ id, time, webhookId, body }, parsed['transmission_sig'] ?? '');
  }

  /** Cancels all timers and forgets all events. */
  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#deliveries = [];
    this.#due = [];
  }

  #find(eventId: string): Delivery {
    const delivery = this.#deliveries.find(({ event }) => event.id === eventId);
    if (!delivery) throw new Error(`no event ${eventId}`);
    return delivery;
  }

  #newTransmission(): Delivery['transmission'] {
    return { id: this.#deps.ids.transmission(), time: timeText(this.#deps.now()) };
  }

  async #post(delivery: Delivery, corrupt: Corruption | null): Promise<number | null> {
    const { headers, body } = await this.signed(delivery.event.id, corrupt);
    const url = this.#settings.listenerUrl ?? this.#deps.listenerUrl();
    let status: number | null = null;
    if (url !== null) {
      try {
        const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
        const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
        await answer.arrayBuffer();
        status = answer.status;
      } catch {
        // No listener, or a timeout.
      }
    }
    delivery.statuses.push(status);
    delivery.delivered ||= status !== null && status >= 200 && status < 300;
    return status;
  }

  #send(delivery: Delivery): void {
    this.#due.push(delivery);
    if (this.#due.length > 1) return;
    this.#after(this.#settings.delayMs, async () => {
      const { reversed, times, corrupt } = this.#settings;
      const batch = reversed ? this.#due.toReversed() : this.#due;
      this.#due = [];
      for (const due of batch) {
        for (let sent = 0; sent < times; sent += 1) await this.#post(due, corrupt);
        if (!due.delivered) this.#retry(due);
      }
    });
  }

  #retry(delivery: Delivery): void {
    if (delivery.statuses.length >= MAX_ATTEMPTS) return;
    const waitMs = Math.min(this.#settings.firstRetryMs * 2 ** (delivery.statuses.length - 1), MAX_RETRY_DELAY_MS);
    this.#after(waitMs, async () => {
      await this.#post(delivery, this.#settings.corrupt);
      if (!delivery.delivered) this.#retry(delivery);
    });
  }

  #after(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // A reset during the delivery may have removed its event.
      work().catch(() => undefined);
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }
}

const flipFirstBit = (signature: string): string => {
  const bytes = Buffer.from(signature, 'base64');
  bytes[0]! ^= 1;
  return bytes.toString('base64');
};

export type Transmission = { id: string; time: string; webhookId: string; body: string };

type KeyPair = { publicKey: KeyObject; privateKey: KeyObject };

export type Signer = {
  sign(transmission: Transmission): Promise<string>;
  /** Returns false before the first signature. */
  verify(transmission: Transmission, signature: string): boolean;
};

const toSignedMessage = ({ id, time, webhookId, body }: Transmission): Buffer =>
  Buffer.from(`${id}|${time}|${webhookId}|${crc32(body)}`);

/**
 * Signs webhooks as PayPal does (docs/specification/providers.md 3): RSA over the transmission and a CRC-32 of the
 * body. Only the simulator's own `verify-webhook-signature` checks signatures. The first signature generates the key,
 * which is slow.
 */
function createSigner(): Signer {
  let generating: Promise<KeyPair> | null = null;
  let keys: KeyPair | null = null;
  return {
    async sign(transmission) {
      generating ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
      keys = await generating;
      return sign('sha256', toSignedMessage(transmission), keys.privateKey).toString('base64');
    },
    verify: (transmission, signature) =>
      keys !== null &&
      verify('sha256', toSignedMessage(transmission), keys.publicKey, Buffer.from(signature, 'base64')),
  };
}
