/**
 * `POST /functions/v1/paypal-webhook`: receives PayPal's events, without authentication. PayPal's own
 * `verify-webhook-signature` decides whether PayPal sent the event. The event is stored under PayPal's id,
 * acknowledged, and processed afterwards; the job `reconcile-payments` processes events that a crash interrupted. An
 * event that cannot be verified or stored now gets an error, so PayPal retries.
 *
 * Threat: anyone can post here, and each verification uses up our rate limit at PayPal. An event that names no payment
 * of ours is therefore not verified, and verifications wait in a bounded queue with a limit per client address.
 */
import { Hono, type Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { clientAddress, networkPrefix } from '../http/client-address.ts';
import { errorResponse } from '../http/error-response.ts';
import { limitBody, readBytes } from '../http/limit-body.ts';
import type { Metrics } from '../http/metrics.ts';
import { RateLimiterPostgres, isWithinLimit, rateLimitStore } from '../http/rate-limit-store.ts';
import type { Limiters } from '../load/limiters.ts';
import { createRequestContext } from '../load/request-context.ts';
import type { Logger } from '../log.ts';
import type { WebhookTransmission } from './paypal/paypal-client.ts';
import { PaypalError } from './paypal/paypal.ts';
import { parseJson } from '#server/parse-json.ts';
import { valueAt, idInLink, linkOf, textAt } from './paypal/parse.ts';

const MAX_BODY_BYTES = 256 * 1024;
/** An event has about a hundred values. */
const MAX_JSON_VALUES = 5_000;
/** Limits the verifications at PayPal, so that one client address cannot use all of them. */
const QUEUE = { maxRunning: 4, maxPerClient: 1, maxQueued: 40, maxQueuedPerClient: 10 };
const MAX_PER_ADDRESS_AND_MINUTE = 60;
/** PayPal hangs up after 30 seconds and retries, so asking later than this is pointless. */
const MAX_WAIT_MS = 20_000;

export type WebhookDeps = {
  config: Pick<Config, 'paypal'> & { readonly auth: Pick<Config['auth'], 'clientAddressHeader'> };
  database: Pick<Database, 'asService'>;
  clock: Clock;
  limiters: Limiters;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: Pick<Metrics, 'events'>;
  payments: {
    readonly paypal: { verifyWebhook(transmission: WebhookTransmission, body: string): Promise<boolean> };
    /** Whether the event refers to a known payment. */
    isAboutPayment(event: PaypalEvent): Promise<boolean>;
    /** Asks PayPal about the payment and acts on the answer. The webhook is acknowledged without waiting for this. */
    process(event: PaypalEvent): Promise<void>;
  } | null;
};

/** Has no route unless PayPal and a webhook are configured. */
export function webhookRoutes({
  config,
  database,
  clock,
  limiters,
  log,
  metrics,
  payments,
}: WebhookDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  if (payments === null || config.paypal === null || config.paypal.webhookId === null) return routes;
  const queue = limiters.createLimiter('paypal_webhooks', QUEUE);
  const requests = new RateLimiterPostgres({
    ...rateLimitStore(database),
    keyPrefix: 'paypal-webhook',
    points: MAX_PER_ADDRESS_AND_MINUTE,
    duration: 60,
  });

  async function isStored({ id }: PaypalEvent): Promise<boolean> {
    const { rowCount } = await database
      .asService('look up a PayPal event')
      .statement('select 1 from payment_events where id = $1', [id]);
    return rowCount > 0;
  }

  async function verify(from: string, transmission: WebhookTransmission, text: string): Promise<Verdict> {
    if (!(await isWithinLimit(requests, from))) return 'overloaded';
    const queuedAt = clock.now().getTime();
    const release = await queue.acquire(createRequestContext(from)).catch(() => null);
    if (release === null) return 'overloaded';
    try {
      if (clock.now().getTime() - queuedAt > MAX_WAIT_MS) return 'overloaded';
      return (await payments!.paypal.verifyWebhook(transmission, text)) ? 'genuine' : 'forged';
    } catch (error) {
      if (!(error instanceof PaypalError)) throw error;
      log.warn({ err: error }, 'PayPal could not verify a webhook');
      // PayPal rejects a verification with malformed headers, which PayPal itself would not have sent.
      return error.retryable ? 'unverified' : 'forged';
    } finally {
      release();
    }
  }

  routes.post('/', limitBody(MAX_BODY_BYTES), async (context) => {
    const transmission = readTransmission((name) => context.req.header(name));
    if (transmission === null) return refuse(context, 400, 'bad_headers');
    if (!isTimely(transmission, clock.now())) {
      log.warn('rejected a webhook: sent too long ago or in the future');
      return refuse(context, 401, 'bad_signature');
    }
    const text = decode(await readBytes(context));
    const event = text === null ? null : parseEvent(text);
    if (text === null || event === null) return refuse(context, 400, 'bad_event');
    if (!(await payments.isAboutPayment(event)) || (await isStored(event))) return context.json({ received: true });

    const verdict = await verify(networkPrefix(clientAddress(context, config.auth)), transmission, text);
    metrics.events.webhook(verdict);
    if (verdict !== 'genuine') log.warn({ event: event.type, verdict }, 'rejected a webhook');
    if (verdict === 'forged') return refuse(context, 401, 'bad_signature');
    if (verdict !== 'genuine') return refuse(context, 503, 'try_again');

    const { rowCount } = await database
      .asService('store a PayPal event')
      .statement('insert into payment_events (id, type, raw) values ($1, $2, $3) on conflict (id) do nothing', [
        event.id,
        event.type,
        text,
      ]);
    log.info({ event: event.type, isNew: rowCount === 1 }, 'received a webhook');
    if (rowCount === 1) {
      payments
        .process(event)
        .catch((error: unknown) =>
          log.error({ err: error, event: event.type }, 'processing a webhook failed: the next sweep retries it'),
        );
    }
    return context.json({ received: true });
  });
  routes.all('/', (context) => {
    context.header('Allow', 'POST');
    return errorResponse(context, 'method_not_allowed');
  });
  return routes;
}

type Verdict = 'genuine' | 'forged' | 'unverified' | 'overloaded';

/** Returns null for invalid UTF-8. PayPal verifies the body byte by byte, so nothing may be replaced or dropped. */
function decode(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

function refuse(context: Context<AppEnv>, status: ContentfulStatusCode, code: string): Response {
  if (status === 503) context.header('Retry-After', '60');
  return context.json({ code, message: 'This event was not accepted' }, status);
}

// The signature headers of a webhook. PayPal verifies them. Here only their form and age are checked.

/** PayPal retries a delivery for three days, and four days leave a margin. */
const MAX_AGE_MS = 4 * 24 * 60 * 60_000;
const MAX_FUTURE_MS = 5 * 60_000;

const HEADERS: Record<keyof WebhookTransmission, { name: string; form: RegExp }> = {
  id: { name: 'paypal-transmission-id', form: /^[\x21-\x7b\x7d\x7e]{1,100}$/ },
  time: { name: 'paypal-transmission-time', form: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/ },
  signature: { name: 'paypal-transmission-sig', form: /^[A-Za-z0-9+/]{4,1400}={0,2}$/ },
  certUrl: { name: 'paypal-cert-url', form: /^https?:\/\/[\x21-\x7e]{1,500}$/ },
  algorithm: { name: 'paypal-auth-algo', form: /^[A-Za-z0-9]{1,100}$/ },
};

/** Null when a header is missing or malformed. */
function readTransmission(header: (name: string) => string | undefined): WebhookTransmission | null {
  const read = (field: keyof WebhookTransmission): string => {
    const value = header(HEADERS[field].name);
    return value !== undefined && HEADERS[field].form.test(value) ? value : '';
  };
  const transmission = {
    id: read('id'),
    time: read('time'),
    signature: read('signature'),
    certUrl: read('certUrl'),
    algorithm: read('algorithm'),
  };
  return Object.values(transmission).includes('') ? null : transmission;
}

/** Threat: somebody replays an old genuine webhook. PayPal's signature covers the time, so its age cannot be forged. */
function isTimely({ time }: WebhookTransmission, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(time);
  return ageMs <= MAX_AGE_MS && ageMs >= -MAX_FUTURE_MS;
}

// Reads from a PayPal webhook which payment it concerns. The event is only a hint: the state of the payment always
// comes from PayPal's API.

export type PaypalEvent = {
  /** PayPal's own id, the same for every delivery of one event. */
  readonly id: string;
  /** For example `PAYMENT.CAPTURE.COMPLETED`. */
  readonly type: string;
  readonly orderId: string | null;
  readonly captureId: string | null;
  /** Our own id of the payment, which PayPal copies to the order's captures and refunds. */
  readonly paymentId: string | null;
  /** PayPal's id of the refund or reversal that the event reports. Null for any other event. */
  readonly refundId: string | null;
};

/** The form of an event's id and type. The id is the key of the stored event, and log lines contain both. */
const WORD = /^[A-Za-z0-9_.:-]{1,100}$/;
/**
 * Threat: a forged event has an id that PostgreSQL rejects (NUL), and each one causes an error. The ids are looked up
 * before PayPal has confirmed the event.
 */
const PAYPAL_ID = /^[A-Za-z0-9-]{1,64}$/;
const PAYMENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const matching = (form: RegExp, ...texts: readonly (string | null)[]): string | null =>
  texts.find((text) => text !== null && form.test(text)) ?? null;

/** Null when the text is not a PayPal event. */
export function parseEvent(raw: string): PaypalEvent | null {
  const json = parseJson(raw, MAX_JSON_VALUES);
  const id = textAt(json, 'id');
  const type = textAt(json, 'event_type');
  if (id === null || type === null || !WORD.test(id) || !WORD.test(type)) return null;
  const resource = valueAt(json, 'resource');
  const { orderId, captureId, refundId } = namedBy(type, resource, valueAt(json, 'resource_type') === 'refund');
  const disputed = valueAt(resource, 'disputed_transactions', 0);
  return {
    id,
    type,
    orderId: matching(PAYPAL_ID, orderId, textAt(resource, 'supplementary_data', 'related_ids', 'order_id')),
    captureId: matching(PAYPAL_ID, captureId),
    paymentId: matching(
      PAYMENT_ID,
      textAt(resource, 'custom_id'),
      textAt(resource, 'invoice_id'),
      textAt(disputed, 'invoice_number'),
    ),
    refundId: matching(PAYPAL_ID, refundId),
  };
}

type NamedIds = Pick<PaypalEvent, 'orderId' | 'captureId' | 'refundId'>;

function namedBy(type: string, resource: unknown, isRefund: boolean): NamedIds {
  const none = { orderId: null, captureId: null, refundId: null };
  const resourceId = textAt(resource, 'id');
  if (type.startsWith('CHECKOUT.ORDER.')) return { ...none, orderId: resourceId };
  if (type.startsWith('CHECKOUT.PAYMENT-APPROVAL.')) return { ...none, orderId: textAt(resource, 'order_id') };
  if (type === 'PAYMENT.CAPTURE.REFUNDED' || type === 'PAYMENT.CAPTURE.REVERSED') {
    // The resource is the refund, and its link `up` leads to the capture. Otherwise the resource is the capture itself.
    const captureId =
      idInLink(linkOf(resource, 'up'), 'captures') ??
      textAt(resource, 'supplementary_data', 'related_ids', 'capture_id') ??
      (isRefund ? null : resourceId);
    return { ...none, captureId, refundId: captureId === resourceId ? null : resourceId };
  }
  if (type.startsWith('PAYMENT.CAPTURE.')) {
    return { ...none, orderId: idInLink(linkOf(resource, 'up'), 'orders'), captureId: resourceId };
  }
  if (type.startsWith('CUSTOMER.DISPUTE.')) {
    return { ...none, captureId: textAt(resource, 'disputed_transactions', 0, 'seller_transaction_id') };
  }
  return none;
}
