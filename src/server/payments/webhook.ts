/**
 * `POST /functions/v1/paypal-webhook`: PayPal tells what became of a payment. Nobody is signed in; the signature stands
 * for that. The event is stored under PayPal's own id, answered, and looked into afterwards; what is lost on the way is
 * found by the sweep. Whatever cannot be stored or judged now is answered so that PayPal sends it again.
 */
import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { limitBody, readBytes } from '../http/limit-body.ts';
import type { Logger } from '../log.ts';
import type { WebhookTransmission } from './paypal/paypal-client.ts';
import { PaypalError } from './paypal/paypal.ts';
import type { PaypalSettings } from './paypal/paypal-settings.ts';
import { CertificateUnavailable, createCertificates } from './webhook-certificates.ts';
import { parseEvent } from './webhook-event.ts';
import type { PaypalEvent } from './webhook-event.ts';
import { checkSignature, readTransmission } from './webhook-signature.ts';

const BODY_MAX_BYTES = 256 * 1024;

export type WebhookDeps = {
  config: { readonly paypal: PaypalSettings | null };
  database: Pick<Database, 'asService'>;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  payments: {
    readonly paypal: { verifyWebhook(transmission: WebhookTransmission, body: string): Promise<boolean> };
    /** Asks PayPal and acts on what it says; the answer to PayPal does not wait for it. */
    follow(event: PaypalEvent): Promise<void>;
  } | null;
  fetch?: typeof fetch;
};

/** Nothing is there as long as PayPal is not set up, or no webhook is. */
export function webhookRoutes(deps: WebhookDeps): Hono<AppEnv> {
  const { config, database, clock, log, payments } = deps;
  const routes = new Hono<AppEnv>();
  const { webhookId = null, certHosts: hosts = [], caFile = null } = config.paypal ?? {};
  if (payments === null || webhookId === null) return routes;
  const trusted = caFile === null ? [] : [readFileSync(caFile, 'utf8')];
  const certificates = createCertificates({ hosts, clock, trusted, ...(deps.fetch && { fetch: deps.fetch }) });

  const isGenuine = async (transmission: WebhookTransmission, body: Uint8Array, text: string): Promise<boolean> => {
    const verdict = await checkSignature(transmission, body, { certificates, clock, webhookId });
    if (verdict.outcome === 'refused') log.warn({ reason: verdict.reason }, 'a webhook was refused');
    if (verdict.outcome !== 'unproven') return verdict.outcome === 'genuine';
    const confirmed = await payments.paypal.verifyWebhook(transmission, text);
    if (!confirmed) log.warn({ reason: 'PayPal does not confirm it' }, 'a webhook was refused');
    return confirmed;
  };

  routes.post('/', limitBody(BODY_MAX_BYTES), async (context) => {
    const transmission = readTransmission((name) => context.req.header(name));
    if (transmission === null) return refuse(context, 400, 'bad_headers');
    const body = await readBytes(context);
    const text = new TextDecoder().decode(body);
    const event = parseEvent(text);
    if (event === null) return refuse(context, 400, 'bad_event');
    try {
      if (!(await isGenuine(transmission, body, text))) return refuse(context, 401, 'bad_signature');
    } catch (error) {
      if (!(error instanceof CertificateUnavailable || error instanceof PaypalError)) throw error;
      log.warn({ err: error }, 'a webhook could not be judged');
      return refuse(context, 503, 'try_again');
    }

    const { rowCount } = await database
      .asService('PayPal sends an event')
      .statement('insert into payment_events (id, type, raw) values ($1, $2, $3) on conflict (id) do nothing', [
        event.id,
        event.type,
        text,
      ]);
    log.info({ event: event.type, isNew: rowCount === 1 }, 'a webhook came');
    if (rowCount === 1) {
      payments.follow(event).catch((error: unknown) => log.error({ err: error, event: event.type }, 'a webhook waits'));
    }
    return context.json({ received: true });
  });
  return routes;
}

const refuse = (context: Context<AppEnv>, status: ContentfulStatusCode, code: string): Response =>
  context.json({ code, message: 'This event was not taken' }, status);
