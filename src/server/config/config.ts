/**
 * The settings: read once from the environment, validated together, then frozen. No other module reads settings from
 * `process.env`. Every variable has a default for development; production requires the values that only an operator
 * knows. `.env.example` lists every name with its meaning.
 */
import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import type { ClientConfig } from '#domain/client-config.ts';
import {
  readCoachSettings,
  readBlockedCountries,
  readPaypalSettings,
  readInboundSettings,
  readSlackSettings,
  readTracingSettings,
  readPushSettings,
  type InboundSettings,
  type SlackSettings,
  type CoachSettings,
  type PaypalSettings,
  type TracingSettings,
  type PushSettings,
} from './provider-settings.ts';
import { readAuthSettings, type AuthSettings } from './auth-settings.ts';
import { isLoopback, isPrivateNetworkHost } from './private-network.ts';
import { Secret, SettingsReader, hasDecodableLogin, UNDECODABLE_LOGIN } from './settings-reader.ts';
import { mkdir, stat } from 'node:fs/promises';
import type { Logger } from '../log.ts';

/** Identifies browser clients; public by design and grants nothing (docs/specification/api.md 1). */
export const PUBLISHABLE_KEY = 'sb_publishable_hustle_forge';

export type Config = DatabaseSettings & {
  readonly environment: 'production' | 'development';
  readonly host: string;
  readonly port: number;
  /** The number of processes that serve requests; 1: this process alone. */
  readonly workers: number;
  /** The address users open, without a trailing slash. */
  readonly publicUrl: string;
  readonly dataDir: string;
  readonly logLevel: string;
  /** Access to `/metrics`: none, loopback only, or public. */
  readonly metrics: 'off' | 'loopback' | 'open';
  /** null: no traces. */
  readonly tracing: TracingSettings | null;
  /** `url` is the base URL of the simulators' process; null without one. */
  readonly sandbox: { readonly on: boolean; readonly url: string | null };
  readonly auth: AuthSettings;
  readonly mail: { readonly smtpUrl: Secret | null; readonly from: string; readonly tls: boolean };
  /** null: no mail is received. */
  readonly inbound: InboundSettings | null;
  /** null: payments are off. */
  readonly paypal: PaypalSettings | null;
  readonly slack: SlackSettings | null;
  /** null: no reminders by push message. */
  readonly push: PushSettings | null;
  /** Two-letter codes of countries whose residents cannot pay; the upgrade dialog says so. */
  readonly paymentBlockedCountries: readonly string[];
  /** null: there is no coach. */
  readonly coach: CoachSettings | null;
  /** Where the browser finds the API; empty means the page's own origin. */
  readonly apiUrl: string;
  readonly publishableKey: string;
  /** false: browsers remove the service worker that they have. */
  readonly serviceWorker: boolean;
  readonly contact: ClientConfig['contact'];
  readonly backup: BackupSettings;
};

export type BackupSettings = {
  readonly dir: string;
  /** How many backups of the folder stay; null: all. */
  readonly keep: number | null;
  /** Public keys of `age`, which encrypts backups; none: backups are not encrypted. */
  readonly recipients: readonly string[];
};

/** Lists all invalid settings at once. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Hustle Forge cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const DEFAULT_HOST = '127.0.0.1';
const MAX_WORKERS = 64;
const ANY_INTERFACE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a ConfigError that lists every problem. */
export function readConfig(env?: Environment): Config {
  const { config, problems } = inspectConfig(env);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** For a diagnosis: returns the problems instead of throwing. Invalid settings then mostly have their defaults. */
export function inspectConfig(env: Environment = process.env): { config: Config; problems: readonly string[] } {
  const settings = new SettingsReader(env);
  const environment = settings.oneOf('NODE_ENV', ['production', 'development', 'test'], 'development');
  const isProduction = environment === 'production';
  const host = readHost(settings);
  const port = settings.integer('PORT', 3000, 1, 65535);
  const defaultUrl = `http://${defaultHostname(host)}:${port}`;
  const publicUrl = settings.url('PUBLIC_URL', 'https://journal.example.com', isProduction ? undefined : defaultUrl);
  const smtpUrl = settings.secretUrl('SMTP_URL', 'smtps://user:password@mail.example.com:465', ['smtp:', 'smtps:']);
  const config: Config = {
    environment: isProduction ? 'production' : 'development',
    host,
    port,
    workers: settings.integer('WEB_CONCURRENCY', 1, 1, MAX_WORKERS),
    publicUrl: publicUrl ?? defaultUrl,
    dataDir: resolve(settings.text('DATA_DIR', './data')),
    ...readDatabaseSettings(settings),
    logLevel: settings.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    // Threat: a proxy on the same machine may pass a stranger's request on with nothing that shows it was forwarded, so
    // the default in production is `off`.
    metrics: settings.oneOf('METRICS', ['off', 'loopback', 'open'], isProduction ? 'off' : 'loopback'),
    tracing: readTracingSettings(settings),
    sandbox: readSandboxSettings(settings, isProduction),
    auth: readAuthSettings(settings, isProduction, smtpUrl !== null),
    mail: {
      smtpUrl,
      from: settings.sender('MAIL_FROM', 'Hustle Forge <journal@localhost>'),
      tls: readSmtpTls(settings, smtpUrl),
    },
    inbound: readInboundSettings(settings),
    paypal: readPaypalSettings(settings, isProduction),
    slack: readSlackSettings(settings),
    push: readPushSettings(settings, isProduction),
    paymentBlockedCountries: readBlockedCountries(settings),
    coach: readCoachSettings(settings, isProduction),
    apiUrl: settings.url('API_URL', 'https://project.supabase.co', null) ?? '',
    publishableKey: settings.text('PUBLISHABLE_KEY', PUBLISHABLE_KEY),
    serviceWorker: settings.onOff('SERVICE_WORKER', true),
    contact: settings.contact(),
    backup: {
      dir: settings.optionalPath('BACKUP_DIR') ?? resolve(settings.text('DATA_DIR', './data'), 'backups'),
      keep: settings.integer('BACKUP_KEEP', 0, 0, 100_000) || null,
      recipients: settings.list('BACKUP_AGE_RECIPIENT'),
    },
  };
  validateCombinations(config, settings);
  return { config: freezeDeeply(config), problems: settings.problems };
}

function readHost(settings: SettingsReader): string {
  // An IPv6 address has brackets only within a URL.
  const host = settings.text('HOST', DEFAULT_HOST).replace(/^\[(.+)\]$/, '$1');
  if (URL.canParse(`http://${defaultHostname(host)}`)) return host;
  settings.problem('HOST', `must be an address of this machine, not "${host}"`, DEFAULT_HOST);
  return DEFAULT_HOST;
}

/**
 * Threat: on the way to a mail server, somebody reads recovery links. So only a relay on a private network may go
 * without TLS.
 */
function readSmtpTls(settings: SettingsReader, smtpUrl: Secret | null): boolean {
  const isOn = settings.onOff('SMTP_TLS', true);
  const host = smtpUrl === null ? null : new URL(smtpUrl.reveal()).hostname;
  if (isOn || (host !== null && isPrivateNetworkHost(host))) return isOn;
  settings.problem('SMTP_TLS', 'can be off only for an SMTP_URL whose host is on a private network', 'on');
  return true;
}

/**
 * Threat: an address left over from development. Requests to `/sandbox` would reach the simulators, without the checks
 * that the sandbox needs. So the address counts only while the sandbox is on.
 */
function readSandboxSettings(settings: SettingsReader, isProduction: boolean): Config['sandbox'] {
  const on = settings.onOff('SANDBOX', !isProduction);
  const url = settings.url('SANDBOX_URL', 'http://127.0.0.1:40000', null);
  return { on, url: on ? url : null };
}

/**
 * A host name that a browser on this machine can open: `0.0.0.0` and `::` bind every interface and are not addresses.
 */
function defaultHostname(host: string): string {
  if (isLoopback(host) || ANY_INTERFACE.has(host)) return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Rejects invalid combinations of individually valid settings. */
function validateCombinations(config: Config, settings: SettingsReader): void {
  const isProduction = config.environment === 'production';
  if (isProduction && config.sandbox.on) {
    settings.problem('SANDBOX', 'must be off with NODE_ENV=production: the sandbox shows everybody’s mail', 'off');
  } else if (config.sandbox.on) {
    // Threat: anyone who reaches the sandbox reads every recovery mail, so other machines must not reach it.
    const advice =
      'must be loopback while the sandbox is on, because the sandbox shows everybody’s mail; or set SANDBOX=off';
    if (!isLoopback(config.host)) settings.problem('HOST', advice, '127.0.0.1');
    if (!isLoopback(new URL(config.publicUrl).hostname))
      settings.problem('PUBLIC_URL', advice, 'http://localhost:3000');
  }
  if (!isProduction) return;
  if (!config.auth.rateLimits) {
    settings.problem('AUTH_RATE_LIMITS', 'cannot be off with NODE_ENV=production: anybody could guess passwords', 'on');
  }
}

function freezeDeeply<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !(part instanceof Secret)) freezeDeeply(part);
  }
  return Object.freeze(value);
}

const GROUP_OR_OTHER_ACCESS = 0o077;

/**
 * Creates the data directory (embedded database, signing key) with mode 0700, or warns when an existing one is
 * accessible to other users. It does not chmod an existing folder, because other programs may use it too.
 *
 * @throws Error that names DATA_DIR if the folder cannot be created
 */
export async function prepareDataDirectory(dataDir: string, log: Pick<Logger, 'warn'>): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `DATA_DIR=${dataDir} cannot be used (${error.code ?? error.message}): set it to a folder that this user can write`,
      { cause: error },
    );
  });
  // Windows has no POSIX permissions.
  if (process.platform === 'win32') return;
  const { mode } = await stat(dataDir);
  if ((mode & GROUP_OR_OTHER_ACCESS) === 0) return;
  const permissions = (mode & 0o777).toString(8);
  log.warn(
    { dataDir, permissions },
    `other users of this machine can access the data directory: run "chmod 700 ${dataDir}"`,
  );
}

/** The addresses of PostgreSQL: directly for migrations, locks and LISTEN, and optionally through a pooler for requests. */
type DatabaseSettings = {
  /** The owner's connection, which may name several servers. null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: Secret | null;
  /** Requests go through the pooler of this address. null: directly. */
  readonly databasePoolUrl: Secret | null;
};

const EXAMPLE = 'postgres://forge:password@db.example.com/forge';
const POOL_EXAMPLE = 'postgres://pooler.example.com:6432/forge';

function readDatabaseSettings(settings: SettingsReader): DatabaseSettings {
  const databaseUrl = readUrl(settings, 'DATABASE_URL', EXAMPLE);
  const databasePoolUrl = readUrl(settings, 'DATABASE_POOL_URL', POOL_EXAMPLE);
  if (databasePoolUrl && !settings.optional('DATABASE_URL'))
    settings.problem('DATABASE_POOL_URL', 'needs DATABASE_URL, the address without the pooler', POOL_EXAMPLE);
  if (databaseUrl && databasePoolUrl && !hasLoginOf(databasePoolUrl, databaseUrl))
    settings.problem('DATABASE_POOL_URL', 'must have the user and password of DATABASE_URL, or none', POOL_EXAMPLE);
  return { databaseUrl, databasePoolUrl };
}

/** Error messages name the setting but never show its value. */
function readUrl(settings: SettingsReader, name: string, example: string): Secret | null {
  const value = settings.optional(name);
  if (value === null) return null;
  const urls = splitHosts(value);
  if (!urls.every((url) => /^postgres(?:ql)?:$/.test(parseUrl(url)?.protocol ?? ''))) {
    settings.problem(name, 'must be an address that begins with postgres: or postgresql:', example);
    return null;
  }
  if (!urls.every((url) => hasDecodableLogin(parseUrl(url)!))) {
    settings.problem(name, UNDECODABLE_LOGIN, example);
    return null;
  }
  const attributes = sessionAttributes(value);
  const accepted = [null, 'read-write', 'primary', ...(urls.length === 1 ? ['any'] : [])];
  if (!accepted.includes(attributes)) {
    settings.problem(
      name,
      'must have target_session_attrs=read-write: saves need a server that accepts writes',
      example,
    );
    return null;
  }
  return new Secret(value);
}

/** PostgreSQL lets the host stand among the parameters (`user:password@/forge?host=/run/postgresql`); URLs do not. */
const parseUrl = (url: string): URL | null => URL.parse(url.replace('@/', '@localhost/'));

function hasLoginOf(url: Secret, other: Secret): boolean {
  const [login, expected] = [url, other].map((secret) => parseUrl(splitHosts(secret.reveal())[0]!));
  if (login?.username === '' && login.password === '') return true;
  return login?.username === expected?.username && login?.password === expected?.password;
}

/**
 * Splits a connection string that names several servers, in either form of libpq:
 * `postgres://user:password@a:5432,b:5433/forge` and `postgres://user:password@/forge?host=a,b&port=5432,5433`.
 * The driver accepts one server, so each server gets a URL of its own, in the order of the list.
 */
export function splitHosts(url: string): string[] {
  const [, scheme = '', authority = '', path = '', query] =
    /^([a-z]+:\/\/)([^/?]*)([^?]*)(?:\?(.*))?$/is.exec(url) ?? [];
  const at = authority.lastIndexOf('@') + 1;
  const credentials = authority.slice(0, at);
  const hosts = authority.slice(at).split(',');
  if (hosts.length > 1) {
    return hosts.map((host) => `${scheme}${credentials}${host}${path}${query === undefined ? '' : `?${query}`}`);
  }
  const parameters = new URLSearchParams(query);
  const names = parameters.get('host')?.split(',') ?? [];
  if (names.length < 2) return [url];
  const ports = (parameters.get('port') ?? '').split(',');
  return names.map((host, index) => {
    const hostParameters = new URLSearchParams(parameters);
    hostParameters.set('host', host);
    const port = ports.length === 1 ? ports[0] : ports[index];
    if (port) hostParameters.set('port', port);
    else hostParameters.delete('port');
    return `${scheme}${authority}${path}?${hostParameters.toString()}`;
  });
}

/** libpq's `target_session_attrs`; null if it is not given. */
export const sessionAttributes = (url: string): string | null =>
  new URLSearchParams(url.split('?')[1] ?? '').get('target_session_attrs');
