/**
 * Receives mails by webhook from Postmark, Mailgun and Amazon SES (docs/operations.md, "Inbound mail"). Each sends the
 * raw mail, so one pipeline reads and authenticates it; a provider's own reading of a mail does not say whose signature
 * it checked.
 *
 * Threat: anybody may post here. Postmark sends a password, Mailgun and SNS sign. A request without a proof is refused
 * before its mail is read, one to Postmark's path before its body is read. The proof of a provider only opens the
 * pipeline: the mail is authenticated like one that arrived by SMTP. Of SES's verdicts only that of SPF is used: SPF
 * checks the domain of the envelope's sender, which SES names.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { MIMEType } from 'node:util';
import { Hono, type Context } from 'hono';
import type { Config } from '../config/config.ts';
import type { AppEnv } from '../http/app-env.ts';
import { clientAddress, networkPrefix } from '../http/client-address.ts';
import { errorResponse } from '../http/error-response.ts';
import { limitBody, readBytes } from '../http/limit-body.ts';
import { RateLimiterMemory, RateLimiterPostgres, isWithinLimit, rateLimitStore } from '../http/rate-limit-store.ts';
import { BusyError } from '../load/request-context.ts';
import { parseJson } from '../parse-json.ts';
import { domainOf, MAX_MAIL_BYTES, type Inbound, type InboundMail } from './inbound.ts';
import type { InboundDeps } from './receive-reply.ts';
import { confirmSubscription, createSnsVerifier, parseSnsMessage, type FetchText } from './sns-message.ts';

/** Postmark sends a mail three times: raw, as text and HTML, and its attachments. Forms escape a byte as three. */
const MAX_BODY_BYTES = 4 * MAX_MAIL_BYTES;
const MAX_JSON_VALUES = 20_000;
/** A message of SNS has at most 256 KB, besides its envelope. */
const MAX_SNS_BYTES = 320 * 1024;
const MAX_PER_ADDRESS_AND_MINUTE = 300;
/** Mailgun signs a request when it sends it, so an older one may be a replay. */
const MAX_AGE_SECONDS = 15 * 60;
/** Mailgun adds the headers of a mail as fields. */
const MAX_FORM_FIELDS = 1_000;
/** Mailgun sends the raw mail to addresses that end with `mime`, and a parsed one to others. */
const MAILGUN = '/mailgun';
const MAILGUN_RAW = '/mailgun/mime';

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
  const claimToken = createTokenClaims(deps);
  const verifySns = sesTopic === null ? null : createSnsVerifier(sesTopic, deps.fetchText, deps.clock);

  /** @param read null: the provider is not set up */
  function add(path: string, maxBytes: number, read: ((context: Context<AppEnv>) => Promise<Request>) | null): void {
    routes.post(path, limitBody(maxBytes), async (context) => {
      if (read === null || inbound === null) return errorResponse(context, 'not_found');
      const network = networkPrefix(clientAddress(context, config.auth));
      if (!(await isWithinLimit(perAddress, network))) return refuse(context, 429);
      const request = await read(context);
      if (request === 'unsigned') return refuse(context, 401);
      if (request === 'unverified') return refuse(context, 503);
      if (request === 'unreadable') {
        log.warn({ path }, `a webhook has no raw mail. ${RAW_MAIL[path]}`);
        return refuse(context, 406, `This is no raw mail. ${RAW_MAIL[path]}`);
      }
      if (request === 'done') return context.json({ received: true });
      const { claim, ...mail } = request;
      if ((await inbound.receive(mail)) === 'later') {
        await claim?.release();
        return refuse(context, 503);
      }
      // A refused mail is acknowledged like a stored one: otherwise the provider would send it again.
      await claim?.keep();
      return context.json({ received: true });
    });
    routes.all(path, (context) => {
      context.header('Allow', 'POST');
      return errorResponse(context, 'method_not_allowed');
    });
  }

  add('/postmark', MAX_BODY_BYTES, postmarkPassword && ((context) => readPostmark(context, postmarkPassword.reveal())));
  for (const path of [MAILGUN, MAILGUN_RAW])
    add(path, MAX_BODY_BYTES, mailgunKey && ((context) => readMailgun(context, deps, mailgunKey.reveal(), claimToken)));
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
    if (message === null) return 'unsigned';
    try {
      if (!(await verify(message))) return 'unsigned';
    } catch (error) {
      // Threat: a stranger causes any number of these lines. So a fetch that the limit refused is not logged.
      if (!(error instanceof BusyError))
        log.warn({ reason: String(error) }, 'a certificate of SNS could not be fetched');
      return 'unverified';
    }
    if (message.Type === 'Notification') return readSes(message.Message);
    if (message.Type === 'SubscriptionConfirmation') {
      await confirmSubscription(message, topic, deps.fetchText);
      log.info('the subscription of inbound mails was confirmed');
    }
    return 'done';
  }
  return routes;
}

/**
 * A mail, or the reason why the request has none. `unverified`: the signature cannot be checked now. `done`: nothing to
 * do.
 */
type Request = (InboundMail & { claim?: Claim }) | 'unsigned' | 'unverified' | 'unreadable' | 'done';

function refuse(context: Context, status: 401 | 406 | 429 | 503, message = 'This mail was not accepted'): Response {
  if (status === 429 || status === 503) context.header('Retry-After', '60');
  return context.json({ code: 'not_accepted', message }, status);
}

/** Tells an operator how to make each provider send raw mails. */
const RAW_MAIL: Readonly<Record<string, string>> = {
  '/postmark': 'In the settings of the inbound stream, turn on "Include raw email content in JSON payload".',
  [MAILGUN]: 'Let the route forward to the address that ends with /inbound-mail/mailgun/mime.',
  [MAILGUN_RAW]: 'Let the route forward to the address that ends with /inbound-mail/mailgun/mime.',
  '/ses': 'Let the rule publish to the topic by an SNS action, and keep mails below 150 KB.',
};

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
  const body = parseJson(text, MAX_JSON_VALUES) as Record<string, unknown> | null | undefined;
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
  claimToken: ClaimToken,
): Promise<Request> {
  const body = await readBytes(context);
  const contentType = context.req.header('content-type') ?? '';
  // Threat: this is read before the signature is known, and each field of a large form costs time.
  if (countFields(body, contentType) > MAX_FORM_FIELDS) return 'unsigned';
  const response = new Response(body as Uint8Array<ArrayBuffer>, { headers: { 'content-type': contentType } });
  const form = await response.formData().catch(() => null);
  const field = (name: string): string => {
    const value = form?.get(name);
    return typeof value === 'string' ? value : '';
  };
  const [timestamp, token] = [field('timestamp'), field('token')];
  const expected = createHmac('sha256', key).update(timestamp).update(token).digest('hex');
  const ageSeconds = Math.abs(clock.now().getTime() / 1_000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || ageSeconds > MAX_AGE_SECONDS) return 'unsigned';
  if (token === '' || !isSame(field('signature'), expected)) return 'unsigned';
  const [raw, recipient] = [field('body-mime'), field('recipient')];
  if (raw === '' || recipient === '') return 'unreadable';
  // Threat: the signature does not cover the mail, so an attacker who saw one could post other mails with it.
  const claim = await claimToken(token);
  return claim === null ? 'unsigned' : { raw: Buffer.from(raw), recipients: [recipient], arrival: null, claim };
}

/**
 * Counts at least as many fields as the form's parser finds, up to one more than `MAX_FORM_FIELDS`, in one pass over
 * the bytes. Infinity if the body is not a form.
 */
function countFields(body: Uint8Array, contentType: string): number {
  const separator = separatorOf(contentType);
  if (separator === null) return Infinity;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let fields = 1;
  for (let at = bytes.indexOf(separator); at !== -1 && fields <= MAX_FORM_FIELDS; fields += 1)
    at = bytes.indexOf(separator, at + separator.length);
  return fields;
}

/** Null if the body is not a form. */
function separatorOf(contentType: string): string | null {
  try {
    const { essence, params } = new MIMEType(contentType);
    if (essence === 'application/x-www-form-urlencoded') return '&';
    return essence === 'multipart/form-data' ? `--${params.get('boundary') ?? ''}` : null;
  } catch {
    return null;
  }
}

type Claim = { keep(): Promise<void>; release(): Promise<void> };
type ClaimToken = (token: string) => Promise<Claim | null>;

/**
 * A claim expires after this. If a process ends before it has answered, Mailgun sends the mail again minutes later,
 * when the claim no longer refuses it.
 */
const CLAIM_SECONDS = 120;

/** Claims the token of a mail in one statement, for all processes together. Null if it is claimed or its mail was taken. */
function createTokenClaims({ database }: Pick<Deps, 'database'>): ClaimToken {
  const claims = new RateLimiterPostgres({
    ...rateLimitStore(database),
    keyPrefix: 'mailgun-token',
    points: 1,
    duration: CLAIM_SECONDS,
  });
  return async (token) => {
    const key = createHash('sha256').update(token).digest('base64url');
    if (!(await isWithinLimit(claims, key))) return null;
    return {
      keep: async () => void (await claims.block(key, 2 * MAX_AGE_SECONDS)),
      release: async () => void (await claims.delete(key)),
    };
  };
}

type SesNotification = {
  notificationType?: unknown;
  content?: unknown;
  mail?: { source?: unknown };
  receipt?: { recipients?: unknown; spfVerdict?: { status?: unknown }; action?: { encoding?: unknown } };
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
