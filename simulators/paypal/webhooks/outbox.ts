/**
 * The webhooks that PayPal sends, or would send: by default every one is held until somebody delivers it, so that no test
 * has to wait; set to `automatic` they go by themselves, late, twice or in another order as wished.
 */
import type { Ids } from '../books/ids.ts';
import type { PaypalEvent } from '../books/model.ts';
import { timeText } from '../books/response-bodies.ts';
import { createSigner } from './signer.ts';
import type { Signer, Transmission } from './signer.ts';

const ANSWER_WITHIN_MS = 30_000;
/** Nothing is served there: whoever receives a webhook asks PayPal instead of checking the signature. */
const CERTIFICATE_PATH = '/v1/notifications/certs/CERT-360caa42-fca2a594-1';
/** PayPal tries 25 times within three days. */
const MAX_TRIES = 25;
const LAST_RETRY_MS = 4 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Ways in which a webhook is none of PayPal's. */
export type Corruption =
  | 'signature'
  /** Changed after it was signed. */
  | 'body'
  /** Signed for another listener. */
  | 'webhook-id'
  /** Names a certificate that is not PayPal's. */
  | 'certificate-host'
  /** Signed with somebody else's key. */
  | 'key'
  /** Signed long ago. */
  | 'time';

export type Delivery = {
  readonly event: PaypalEvent;
  /** Signed with it; the same for every try, and a new one when it is sent again on request. */
  transmission: { id: string; time: string };
  /** What the listener answered, try by try; null: nothing. */
  readonly answers: (number | null)[];
  delivered: boolean;
};

export type DeliverySettings = {
  automatic: boolean;
  delayMs: number;
  /** How often each is sent. */
  times: number;
  /** What comes within one delay goes out newest first. */
  reversed: boolean;
  corrupt: Corruption | null;
  /** After a refusal; doubled with each further one. */
  firstRetryMs: number;
  /** null: the product's, below the address that payers come back to. */
  listenerUrl: string | null;
};

const HELD: DeliverySettings = {
  automatic: false,
  delayMs: 0,
  times: 1,
  reversed: false,
  corrupt: null,
  firstRetryMs: 1000,
  listenerUrl: null,
};

export type SignedWebhook = { headers: Record<string, string>; body: string };

type Parts = {
  now: () => Date;
  ids: Ids;
  webhookId: string;
  /** The origin of the certificate's address. */
  baseUrl: () => string;
  /** null: nobody listens. */
  listenerUrl: () => string | null;
};

export class Outbox {
  readonly #parts: Parts;
  #settings: DeliverySettings = { ...HELD };
  #deliveries: Delivery[] = [];
  #due: Delivery[] = [];
  #timers = new Set<NodeJS.Timeout>();
  #signer: Signer | null = null;
  #stranger: Signer | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get signer(): Signer {
    return (this.#signer ??= createSigner());
  }

  /** Somebody with a key of their own. */
  get stranger(): Signer {
    return (this.#stranger ??= createSigner());
  }

  /** Oldest first. */
  all(): readonly Delivery[] {
    return this.#deliveries;
  }

  /** Not delivered yet, oldest first. */
  held(): readonly Delivery[] {
    return this.#deliveries.filter(({ delivered }) => !delivered);
  }

  set(changes: Partial<DeliverySettings>): void {
    this.#settings = { ...this.#settings, ...changes };
  }

  add(event: PaypalEvent): void {
    const delivery: Delivery = { event, transmission: this.#newTransmission(), answers: [], delivered: false };
    this.#deliveries.push(delivery);
    if (this.#settings.automatic) this.#send(delivery);
  }

  /** As `…/webhooks-events/{id}/resend` does. */
  resend(eventId: string): void {
    const delivery = this.#find(eventId);
    delivery.transmission = this.#newTransmission();
    delivery.delivered = false;
    if (this.#settings.automatic) this.#send(delivery);
  }

  /** Sends it now and answers what the listener said, once for each time; null: nothing. */
  async deliver(
    eventId: string,
    { corrupt = null, times = 1 }: { corrupt?: Corruption | null; times?: number } = {},
  ): Promise<(number | null)[]> {
    const delivery = this.#find(eventId);
    const answers: (number | null)[] = [];
    for (let sent = 0; sent < times; sent += 1) answers.push(await this.#post(delivery, corrupt));
    return answers;
  }

  /** Everything that is held, one after another. */
  async deliverAll({ reversed = false, times = 1 } = {}): Promise<(number | null)[]> {
    const answers: (number | null)[] = [];
    for (const { event } of reversed ? this.held().toReversed() : this.held())
      answers.push(...(await this.deliver(event.id, { times })));
    return answers;
  }

  /** What would be sent, for a test that brings it along itself. */
  async signed(eventId: string, corrupt: Corruption | null = null): Promise<SignedWebhook> {
    const { event, transmission } = this.#find(eventId);
    const { webhookId, baseUrl } = this.#parts;
    const said: Transmission = {
      id: transmission.id,
      time: corrupt === 'time' ? timeText(new Date(Date.parse(transmission.time) - 30 * DAY_MS)) : transmission.time,
      webhookId: corrupt === 'webhook-id' ? 'OTHER0WEBHOOK0ID0' : webhookId,
      body: event.body,
    };
    const signature = await (corrupt === 'key' ? this.stranger : this.signer).sign(said);
    const host = corrupt === 'certificate-host' ? 'https://api.paypal.com.example' : baseUrl();
    return {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'PayPal/AUHD-214.0-58417034',
        'paypal-transmission-id': said.id,
        'paypal-transmission-time': said.time,
        'paypal-transmission-sig': corrupt === 'signature' ? flipped(signature) : signature,
        'paypal-cert-url': host + CERTIFICATE_PATH,
        'paypal-auth-algo': 'SHA256withRSA',
      },
      body: corrupt === 'body' ? event.body.replace(/"value":"\d/, '"value":"9') : event.body,
    };
  }

  /** What verify-webhook-signature answers. @param asked its body, as the bytes of the event count */
  verify(asked: string): boolean {
    const parsed = JSON.parse(asked) as Record<string, string>;
    const [, body = ''] = /"webhook_event"\s*:\s*(.*)\}\s*$/s.exec(asked) ?? [];
    if (parsed['auth_algo'] !== 'SHA256withRSA' || parsed['cert_url'] !== this.#parts.baseUrl() + CERTIFICATE_PATH)
      return false;
    const id = parsed['transmission_id'] ?? '';
    const time = parsed['transmission_time'] ?? '';
    const webhookId = parsed['webhook_id'] ?? '';
    if (webhookId !== this.#parts.webhookId || this.#signer === null) return false;
    return this.#signer.verify({ id, time, webhookId, body }, parsed['transmission_sig'] ?? '');
  }

  /** Nothing is under way or remembered any more. */
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
    return { id: this.#parts.ids.transmission(), time: timeText(this.#parts.now()) };
  }

  async #post(delivery: Delivery, corrupt: Corruption | null): Promise<number | null> {
    const { headers, body } = await this.signed(delivery.event.id, corrupt);
    const url = this.#settings.listenerUrl ?? this.#parts.listenerUrl();
    let status: number | null = null;
    if (url !== null) {
      try {
        const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
        const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
        await answer.arrayBuffer();
        status = answer.status;
      } catch {
        // Nobody listens, or not for long enough.
      }
    }
    delivery.answers.push(status);
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
    if (delivery.answers.length >= MAX_TRIES) return;
    const waitMs = Math.min(this.#settings.firstRetryMs * 2 ** (delivery.answers.length - 1), LAST_RETRY_MS);
    this.#after(waitMs, async () => {
      await this.#post(delivery, this.#settings.corrupt);
      if (!delivery.delivered) this.#retry(delivery);
    });
  }

  #after(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // A reset while it was under way may have taken its event away.
      work().catch(() => undefined);
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }
}

const flipped = (signature: string): string => {
  const bytes = Buffer.from(signature, 'base64');
  bytes[0]! ^= 1;
  return bytes.toString('base64');
};
