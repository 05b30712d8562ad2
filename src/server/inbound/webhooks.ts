/**
 * Receives mails by webhook from Postmark, Mailgun and Amazon SES (docs/operations.md, "Inbound mail"). Each sends the raw mail,
 * so one pipeline reads and authenticates it; a provider's own reading of a mail does not say whose signature it checked.
 *
 * Threat: anybody may post here. Postmark sends a password, Mailgun and SNS sign; a request without one is refused before
 * anything else, Postmark's before its body is read. A proof of a provider only opens the pipeline: the mail is
 * authenticated as one that arrived by SMTP. Of SES's verdicts that of SPF is used, because it tells whose SPF it checked.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import type { Config } from '../config/config.ts';
import type { AppEnv } from '../http/app-env.ts';
import { clientAddress, networkPrefix } from '../http/client-address.ts';
import { errorResponse } from '../http/error-response.ts';
import { limitBody, readBytes } from '../http/limit-body.ts';
import { isWithinLimit, rateLimitStore } from '../http/rate-limit-store.ts';
import { hasMoreValues, parseJson } from '../parse-json.ts';
import { domainOf } from './authenticate-mail.ts';
import { MAX_MAIL_BYTES } from './parse-mail.ts';
import type { Inbound, InboundDeps, InboundMail } from './receive-reply.ts';
import { confirmSubscription, createSnsVerifier, parseSnsMessage, type FetchText } from './sns-message.ts';

/** Postmark sends a mail three times: raw, as text and HTML, and its attachments. Forms escape a byte as three. */
const MAX_BODY_BYTES = 4 * MAX_MAIL_BYTES;
const MAX_JSON_VALUES = 20_000;
/** SNS itself sends at most this. */
const MAX_SNS_BYTES = 320 * 1024;
const MAX_PER_ADDRESS_AND_MINUTE = 300;
/** Mailgun signs when it sends. */
const MAX_AGE_SECONDS = 15 * 60;

type Deps = Pick<InboundDeps, 'database' | 'clock' | 'log'> & {
  config: Pick<Config, 'inbound'> & { readonly auth: Pick<Config['auth'], 'clientAddressHeader'> };
  /** Null when no mail is received. */
  inbound: Inbound | null;
  fetchText: FetchText;
};

export function inboundRoutes(deps: Deps): Hono<AppEnv> {
  const { config, inbound, log } = deps;
  const { postmarkPassword = null, mailgunKey = null, sesTopic = null } = config.inbound ?? {};
  const routes = new Hono<AppEnv>();
  const perAddress = new RateLimiterMemory({ points: MAX_PER_ADDRESS_AND_MINUTE, duration: 60 });
  const tokens = createUsedTokens(deps);
  const verifySns = sesTopic === null ? null : createSnsVerifier(sesTopic, deps.fetchText);

  /** @param read null: the provider is not set up */
  function add(path: string, maxBytes: number, read: ((context: Context<AppEnv>) => Promise<Request>) | null): void {
    routes.post(path, limitBody(maxBytes), async (context) => {
      if (read === null || inbound === null) return errorResponse(context, 'not_found');
      const network = networkPrefix(clientAddress(context, config.auth));
      if (!(await isWithinLimit(perAddress, network))) return refuse(context, 429);
      const request = await read(context);
      if (request === 'unsigned') return refuse(context, 401);
      if (request === 'unreadable')
        log.warn({ path }, 'a webhook has no raw mail: see docs/operations.md, "Inbound mail"');
      if (request === 'unreadable') return refuse(context, 406);
      if (request === 'done') return context.json({ received: true });
      const { onTaken, ...mail } = request;
      if ((await inbound.receive(mail)) === 'later') return refuse(context, 503);
      // A refused mail is taken like a stored one: the provider would send it again, and tell its sender.
      await onTaken?.();
      return context.json({ received: true });
    });
    routes.all(path, (context) => {
      context.header('Allow', 'POST');
      return errorResponse(context, 'method_not_allowed');
    });
  }

  add('/postmark', MAX_BODY_BYTES, postmarkPassword && ((context) => readPostmark(context, postmarkPassword.reveal())));
  // Mailgun sends the raw mail to addresses that end with `mime`.
  add(
    '/mailgun/mime',
    MAX_BODY_BYTES,
    mailgunKey && ((context) => readMailgun(context, deps, mailgunKey.reveal(), tokens)),
  );
  add(
    '/ses',
    MAX_SNS_BYTES,
    verifySns && sesTopic !== null ? (context) => readSns(context, verifySns, sesTopic) : null,
  );

  async function readSns(
    context: Context<AppEnv>,
    verify: ReturnType<typeof createSnsVerifier>,
    topic: string,
  ): Promise<Request> {
    const message = parseSnsMessage(await readBytes(context));
    if (message === null || !(await verify(message))) return 'unsigned';
    if (message.Type === 'Notification') return readSes(message.Message);
    if (message.Type === 'SubscriptionConfirmation') {
      await confirmSubscription(message, topic, deps.fetchText);
      log.info('the subscription of inbound mails was confirmed');
    }
    return 'done';
  }
  return routes;
}

/** A mail, or the reason why the request has none. `done`: nothing to do. */
type Request = (InboundMail & { onTaken?: () => Promise<void> }) | 'unsigned' | 'unreadable' | 'done';

function refuse(context: Context, status: 401 | 406 | 429 | 503): Response {
  if (status === 429 || status === 503) context.header('Retry-After', '60');
  return context.json({ code: 'not_accepted', message: 'This mail was not accepted' }, status);
}

/** Compares in constant time. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** https://postmarkapp.com/developer/webhooks/inbound-webhook, with "Include raw email content" */
async function readPostmark(context: Context<AppEnv>, password: string): Promise<Request> {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]{1,400})$/.exec(context.req.header('authorization') ?? '') ?? [];
  const login = Buffer.from(encoded, 'base64').toString();
  if (!isSame(login.slice(login.indexOf(':') + 1), password)) return 'unsigned';
  const text = new TextDecoder().decode(await readBytes(context));
  const body = hasMoreValues(text, MAX_JSON_VALUES) ? null : (parseJson(text) as Record<string, unknown> | null);
  const raw = body?.['RawEmail'];
  const recipient = body?.['OriginalRecipient'];
  if (typeof raw !== 'string' || typeof recipient !== 'string') return 'unreadable';
  return { raw: Buffer.from(raw), recipients: [recipient], arrival: null };
}

/** https://documentation.mailgun.com: a route that forwards to an address that ends with `mime` */
async function readMailgun(
  context: Context<AppEnv>,
  { clock }: Pick<Deps, 'clock'>,
  key: string,
  tokens: UsedTokens,
): Promise<Request> {
  const body = await readBytes(context);
  const headers = { 'content-type': context.req.header('content-type') ?? '' };
  const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers }).formData().catch(() => null);
  const field = (name: string): string => {
    const value = form?.get(name);
    return typeof value === 'string' ? value : '';
  };
  const [timestamp, token] = [field('timestamp'), field('token')];
  const expected = createHmac('sha256', key).update(timestamp).update(token).digest('hex');
  const ageSeconds = Math.abs(clock.now().getTime() / 1_000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || ageSeconds > MAX_AGE_SECONDS) return 'unsigned';
  if (token === '' || !isSame(field('signature'), expected)) return 'unsigned';
  // Threat: the signature does not cover the mail, so whoever saw one could post another mail with it.
  if (await tokens.isUsed(token)) return 'unsigned';
  const [raw, recipient] = [field('body-mime'), field('recipient')];
  if (raw === '' || recipient === '') return 'unreadable';
  return { raw: Buffer.from(raw), recipients: [recipient], arrival: null, onTaken: () => tokens.use(token) };
}

type UsedTokens = { isUsed(token: string): Promise<boolean>; use(token: string): Promise<void> };

/** The tokens of mails that were taken, for all processes together. One that was not taken is sent again. */
function createUsedTokens({ database }: Pick<Deps, 'database'>): UsedTokens {
  const used = new RateLimiterPostgres({
    ...rateLimitStore(database),
    keyPrefix: 'mailgun-token',
    points: 1,
    duration: 2 * MAX_AGE_SECONDS,
  });
  const keyOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
  return {
    isUsed: async (token) => (await used.get(keyOf(token))) !== null,
    use: async (token) => void (await used.penalty(keyOf(token))),
  };
}

type SesNotification = {
  notificationType?: unknown;
  content?: unknown;
  mail?: { source?: unknown };
  receipt?: {
    recipients?: unknown;
    spfVerdict?: { status?: unknown };
    action?: { encoding?: unknown };
  };
};

/** https://docs.aws.amazon.com/ses/latest/dg/receiving-email-notifications-contents.html */
function readSes(text: string): Request {
  const notification = parseJson(text) as SesNotification | null;
  const { content, mail, receipt } = notification ?? {};
  // SES tells of its set-up by a test notification without a mail.
  if (notification?.notificationType !== 'Received') return 'done';
  const recipients = Array.isArray(receipt?.recipients) ? receipt.recipients : [];
  if (typeof content !== 'string') return 'unreadable';
  const sender = typeof mail?.source === 'string' ? mail.source : '';
  const isBase64 = String(receipt?.action?.encoding).toUpperCase() === 'BASE64';
  return {
    raw: Buffer.from(content, isBase64 ? 'base64' : 'utf8'),
    recipients: recipients.filter((recipient): recipient is string => typeof recipient === 'string'),
    arrival: sender.includes('@') && receipt?.spfVerdict?.status === 'PASS' ? { spfDomain: domainOf(sender) } : null,
  };
}
