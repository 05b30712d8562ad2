/**
 * The settings of the services that the server works with: the coach's model, PayPal, Slack, the collector of traces,
 * inbound mail and push.
 */
import { FAIR_USE_ANALYSES } from '#domain/plan/plan.ts';
import { isLoopback, isPrivateNetworkHost } from './private-network.ts';
import { Secret, type SettingsReader } from './settings-reader.ts';

type CoachProvider = 'google' | 'anthropic' | 'openai-compatible';

/**
 * How the model is made to answer in a fixed format: a JSON schema, any JSON object, or marked lines of text. `auto`
 * tries the schema and falls back to text if the endpoint rejects it.
 */
export type StructuredBy = 'schema' | 'json' | 'text' | 'auto';

export type CoachSettings = {
  readonly provider: CoachProvider;
  readonly model: string;
  /** The base address of the provider's API with its path, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret | null;
  readonly structuredBy: StructuredBy;
  /** Maximum number of analyses per user and UTC day that are sent to the provider. */
  readonly dailyLimit: number;
  readonly timeoutMs: number;
  /** The provider's name in the text that asks for consent. */
  readonly providerName: string;
};

type ProviderFacts = { home: string | null; path: string; model: string | null; name: string };

const PROVIDERS: Readonly<Record<CoachProvider, ProviderFacts>> = {
  google: {
    home: 'https://generativelanguage.googleapis.com',
    path: '/v1beta',
    model: 'gemini-flash-latest',
    name: 'Google Gemini',
  },
  anthropic: { home: 'https://api.anthropic.com', path: '/v1', model: null, name: 'Anthropic Claude' },
  'openai-compatible': { home: null, path: '/v1', model: null, name: 'an AI service' },
};

const EXAMPLE_KEY = 'the-key-from-your-account-there';

/** Null when no coach is configured. */
export function readCoachSettings(settings: SettingsReader, production: boolean): CoachSettings | null {
  const provider = settings.oneOf('AI_PROVIDER', ['google', 'anthropic', 'openai-compatible', 'none'], 'none');
  const model = settings.optional('AI_MODEL');
  const hasKey = settings.optional('AI_API_KEY') !== null;
  const structured = settings.oneOf('AI_STRUCTURED', ['auto', 'schema', 'json', 'text'], 'auto');
  const dailyLimit = settings.integer('AI_DAILY_LIMIT', FAIR_USE_ANALYSES, 1, 100_000);
  const timeoutMs = settings.integer('AI_TIMEOUT_MS', 60_000, 1_000, 600_000);
  if (provider === 'none') {
    const hasOtherSettings = model !== null || hasKey || settings.optional('AI_BASE_URL') !== null;
    if (hasOtherSettings && settings.optional('AI_PROVIDER') === null)
      settings.problem('AI_PROVIDER', 'must be set when the other settings of the coach are', 'google');
    return null;
  }
  const facts = PROVIDERS[provider];
  const baseUrl = readBaseUrl(settings, provider, facts, production);
  if (model === null && facts.model === null) {
    settings.problem('AI_MODEL', `must name a model with AI_PROVIDER=${provider}`, 'the-name-the-provider-gives-it');
  }
  const apiKey = settings.headerKey('AI_API_KEY', EXAMPLE_KEY);
  if (!hasKey && provider !== 'openai-compatible') {
    settings.problem('AI_API_KEY', `must be set with AI_PROVIDER=${provider}`, EXAMPLE_KEY);
  }
  const { origin, host } = new URL(baseUrl);
  return {
    provider,
    model: model ?? facts.model ?? '',
    baseUrl,
    apiKey,
    structuredBy: structured === 'auto' && provider !== 'openai-compatible' ? 'schema' : structured,
    dailyLimit,
    timeoutMs,
    providerName: origin === facts.home ? facts.name : `the AI service at ${host}`,
  };
}

function readBaseUrl(
  settings: SettingsReader,
  provider: CoachProvider,
  { home, path }: ProviderFacts,
  production: boolean,
): string {
  const example = provider === 'openai-compatible' ? 'http://127.0.0.1:11434/v1' : `${home}${path}`;
  const value = settings.optional('AI_BASE_URL');
  if (value === null) {
    if (home === null) settings.problem('AI_BASE_URL', `must be set with AI_PROVIDER=${provider}`, example);
    return home === null ? example : `${home}${path}`;
  }
  const url = URL.canParse(value) ? new URL(value) : null;
  const isBare = url !== null && [url.search, url.hash, url.username, url.password].every((part) => part === '');
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    settings.problem('AI_BASE_URL', `must be an http or https address without credentials or query`, example);
    return example;
  }
  // Threat: journals and the API key cross the internet unencrypted. So plain http is accepted only for a self-hosted
  // model on a private network, and in development for a simulator on this machine.
  const isHttpAllowed =
    provider === 'openai-compatible' ? isPrivateNetworkHost(url.hostname) : !production && isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !isHttpAllowed) settings.problem('AI_BASE_URL', 'must begin with https://', example);
  return url.pathname === '/' ? `${url.origin}${path}` : `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

export type PaypalSettings = {
  /** Origin of the REST API. */
  readonly apiBase: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The id of the webhook subscription. Null: PayPal sends no webhooks, so a job polls PayPal more often. */
  readonly webhookId: string | null;
};

const LIVE_API = 'https://api-m.paypal.com';

/** Null: payments are off. Client id and secret are required once one of them or the webhook id is set. */
export function readPaypalSettings(settings: SettingsReader, production: boolean): PaypalSettings | null {
  const apiBase = settings.url('PAYPAL_API_BASE', 'https://api-m.sandbox.paypal.com', LIVE_API) ?? LIVE_API;
  const clientId = settings.optional('PAYPAL_CLIENT_ID');
  const clientSecret = settings.optional('PAYPAL_CLIENT_SECRET');
  const webhookId = settings.optional('PAYPAL_WEBHOOK_ID');

  // Threat: the server at this address receives the secret and decides what counts as paid, and over plain http anybody
  // in the network can answer in its place. So plain http is accepted only for a simulator on this machine in
  // development.
  const { protocol, hostname } = new URL(apiBase);
  if (production && isLoopback(hostname)) {
    settings.problem('PAYPAL_API_BASE', 'must not be loopback with NODE_ENV=production', LIVE_API);
  } else if (protocol !== 'https:' && (production || !isLoopback(hostname))) {
    settings.problem('PAYPAL_API_BASE', 'must begin with https://', LIVE_API);
  }
  if (clientId === null && (clientSecret !== null || webhookId !== null)) {
    settings.problem('PAYPAL_CLIENT_ID', 'must be set when the other settings of PayPal are', 'AZDxjDScFpQtjWTO...');
  }
  if (clientSecret === null && (clientId !== null || webhookId !== null)) {
    settings.problem(
      'PAYPAL_CLIENT_SECRET',
      'must be set when the other settings of PayPal are',
      'EGnHDxD_qRPdaLdZ...',
    );
  }
  if (clientId === null || clientSecret === null) return null;
  return { apiBase, clientId, clientSecret: new Secret(clientSecret), webhookId };
}

export type SlackSettings = {
  /** The signing secret of the Slack app whose slash command calls us. */
  readonly signingSecret: Secret;
};

/** Null when no Slack app is configured. */
export function readSlackSettings(settings: SettingsReader): SlackSettings | null {
  const secret = settings.optional('SLACK_SIGNING_SECRET');
  if (secret === null) return null;
  if (secret.length < 16)
    settings.problem('SLACK_SIGNING_SECRET', 'has fewer than 16 characters', '8f742231b10e8888abcd99yyyzzz85a5');
  return { signingSecret: new Secret(secret) };
}

/** Countries whose residents cannot pay by PayPal, as ISO codes. */
export function readBlockedCountries(settings: SettingsReader): string[] {
  const codes = settings.list('PAYMENT_BLOCKED_COUNTRIES').map((code) => code.toUpperCase());
  for (const code of codes) {
    if (/^[A-Z]{2}$/.test(code)) continue;
    settings.problem('PAYMENT_BLOCKED_COUNTRIES', `must list two-letter country codes, not "${code}"`, 'CU,IR,KP,SY');
  }
  return codes;
}

/** Read from the variables that OpenTelemetry's specification names. */
export type TracingSettings = {
  /** The collector's base address; spans go to `/v1/traces` below it. */
  readonly url: string;
  /** Sent with each export, such as the key of a hosted collector. */
  readonly headers: ReadonlyMap<string, Secret>;
  readonly serviceName: string;
  /** The share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
};

/** Null: no traces. */
export function readTracingSettings(settings: SettingsReader): TracingSettings | null {
  const url = settings.url('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:4318', null);
  const headers = readHeaders(settings);
  const serviceName = settings.text('OTEL_SERVICE_NAME', 'hustle-forge');
  const share = settings.text('OTEL_TRACES_SAMPLER_ARG', '1');
  const ratio = Number(share);
  if (!/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(share))
    settings.problem('OTEL_TRACES_SAMPLER_ARG', 'must be a share from 0 to 1', '0.1');
  return url === null ? null : { url, headers, serviceName, ratio };
}

/** `name=value` pairs, separated by commas. A value may be percent-encoded, as in W3C Baggage. */
function readHeaders(settings: SettingsReader): ReadonlyMap<string, Secret> {
  const headers = new Map<string, Secret>();
  for (const pair of settings.list('OTEL_EXPORTER_OTLP_HEADERS')) {
    const [, name, value] = /^([\w-]+)=([\x21-\x7e]+)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined || !isDecodable(value)) {
      settings.problem('OTEL_EXPORTER_OTLP_HEADERS', 'must be pairs NAME=VALUE separated by commas', 'x-api-key=…');
      break;
    }
    headers.set(name.toLowerCase(), new Secret(decodeURIComponent(value)));
  }
  return headers;
}

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

/** How replies to the evening reminder reach the server (docs/operations.md, "Inbound mail"). */
export type InboundSettings = {
  /** The domain of the reply addresses, in lower case. */
  readonly domain: string;
  readonly smtp: {
    readonly host: string;
    readonly port: number;
    readonly certificate: { readonly certFile: string; readonly keyFile: string } | null;
  } | null;
  /** Where SPF, DKIM and DMARC are looked up; none: the machine's DNS servers. */
  readonly dnsServers: readonly string[];
  readonly postmarkPassword: Secret | null;
  readonly mailgunKey: Secret | null;
  /** The topic of Amazon SNS that SES publishes to. */
  readonly sesTopic: string | null;
};

const MIN_PASSWORD_LENGTH = 16;
const DNS_SERVER = /^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|\[[0-9a-f:]+\](?::\d{1,5})?|[0-9a-f]*:[0-9a-f:]+)$/i;
const DOMAIN = /^(?=.{4,190}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/;

/** Null: no mail is received. */
export function readInboundSettings(settings: SettingsReader): InboundSettings | null {
  const domain = settings.optional('INBOUND_DOMAIN')?.toLowerCase() ?? null;
  const port = settings.integer('INBOUND_SMTP_PORT', 0, 0, 65_535);
  const host = settings.text('INBOUND_SMTP_HOST', '127.0.0.1').replace(/^\[(.+)\]$/, '$1');
  const certFile = settings.optionalPath('INBOUND_SMTP_CERT_FILE');
  const keyFile = settings.optionalPath('INBOUND_SMTP_KEY_FILE');
  const dnsServers = settings.list('INBOUND_DNS');
  const postmarkPassword = readPassword(settings, 'INBOUND_POSTMARK_PASSWORD');
  const mailgunKey = readPassword(settings, 'INBOUND_MAILGUN_KEY');
  const sesTopic = settings.optional('INBOUND_SES_TOPIC');
  if (domain !== null && !DOMAIN.test(domain))
    settings.problem('INBOUND_DOMAIN', `must be a domain, not "${domain}"`, 'reply.example.com');
  if (sesTopic !== null && !TOPIC_ARN.test(sesTopic))
    settings.problem('INBOUND_SES_TOPIC', 'must be the ARN of a topic', 'arn:aws:sns:eu-west-1:123456789012:inbound');
  if ((certFile === null) !== (keyFile === null))
    settings.problem('INBOUND_SMTP_CERT_FILE', 'and INBOUND_SMTP_KEY_FILE must be set together', '/etc/ssl/reply.pem');
  for (const server of dnsServers) {
    if (!DNS_SERVER.test(server))
      settings.problem('INBOUND_DNS', `must list addresses of DNS servers, not "${server}"`, '127.0.0.1:53');
  }
  const hasWay = port !== 0 || postmarkPassword !== null || mailgunKey !== null || sesTopic !== null;
  if (domain === null) {
    if (hasWay)
      settings.problem('INBOUND_DOMAIN', 'must be set when another setting of inbound mail is', 'reply.example.com');
    return null;
  }
  if (!hasWay) settings.problem('INBOUND_SMTP_PORT', 'or a provider must be set with INBOUND_DOMAIN', '25');
  const certificate = certFile !== null && keyFile !== null ? { certFile, keyFile } : null;
  const smtp = port === 0 ? null : { host, port, certificate };
  return { domain, smtp, dnsServers, postmarkPassword, mailgunKey, sesTopic };
}

function readPassword(settings: SettingsReader, name: string): Secret | null {
  const value = settings.optional(name);
  if (value === null) return null;
  if (value.length < MIN_PASSWORD_LENGTH)
    settings.problem(name, `has fewer than ${MIN_PASSWORD_LENGTH} characters`, '8f742231b10e8888abcd99yyyzzz85a5');
  return new Secret(value);
}

/** Captures partition and region of a topic such as `arn:aws:sns:eu-west-1:123456789012:inbound`. */
export const TOPIC_ARN = /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+)+-\d):\d{12}:[\w-]{1,256}$/;

// The push services that this server sends to.
//
// Threat (SSRF): a user subscribes with an endpoint of their choice, and the server sends requests into its own
// network. An endpoint's host must be one of this list, which only the operator changes, so no address has to be
// resolved and compared. Redirects are not followed (push/web-push.ts).

/** The push services of Chromium and its relatives, Firefox, Safari, and Edge. */
const DEFAULT_SERVICES =
  'fcm.googleapis.com,jmt17.google.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com';

export type PushSettings = {
  /** Host names, `*.example.com` for all names below one, or origins. */
  readonly services: readonly string[];
};

const HOST = /^(?:\*\.)?(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/;

/** Null: `PUSH_SERVICES` is `off` or invalid. */
export function readPushSettings(settings: SettingsReader, isProduction: boolean): PushSettings | null {
  const value = settings.text('PUSH_SERVICES', DEFAULT_SERVICES);
  if (value === 'off') return null;
  const services = value.split(',').map((item) => item.trim().replace(/\/$/, ''));
  for (const service of services) {
    if (HOST.test(service) || isOrigin(service, isProduction)) continue;
    const problem = `must list host names or https origins, or be off, not "${service}"`;
    settings.problem('PUSH_SERVICES', problem, 'fcm.googleapis.com,*.push.apple.com');
    return null;
  }
  return { services };
}

/** Plain http is for a simulator on this machine, in development only. */
function isOrigin(service: string, isProduction: boolean): boolean {
  const url = URL.parse(service);
  if (url?.origin !== service) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && !isProduction && isLoopback(url.hostname));
}

export function isPushEndpoint(endpoint: string, { services }: PushSettings): boolean {
  const url = URL.parse(endpoint);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return services.some((service) => {
    if (service.includes('://')) return url.origin === service;
    if (url.protocol !== 'https:' || url.port !== '') return false;
    return service.startsWith('*.') ? url.hostname.endsWith(service.slice(1)) : url.hostname === service;
  });
}
