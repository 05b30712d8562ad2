/** The addresses of PostgreSQL: directly for migrations, locks and LISTEN, and optionally through a pooler for requests. */
import { Secret } from './secret.ts';
import { hasDecodableLogin, UNDECODABLE_LOGIN, type SettingsReader } from './settings-reader.ts';

export type DatabaseSettings = {
  /** The owner's connection, which may name several servers. null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: Secret | null;
  /** Requests go through the pooler of this address. null: directly. */
  readonly databasePoolUrl: Secret | null;
};

const EXAMPLE = 'postgres://forge:password@db.example.com/forge';
const POOL_EXAMPLE = 'postgres://pooler.example.com:6432/forge';

export function readDatabaseSettings(settings: SettingsReader): DatabaseSettings {
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
 * Connection strings that name several servers, in both forms of libpq:
 * `postgres://user:password@a:5432,b:5433/forge` and `postgres://user:password@/forge?host=a,b&port=5432,5433`.
 * The driver accepts one server, so each server gets a URL of its own.
 */

/** One URL per server, in the order of the list. A URL with one server is returned unchanged. */
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
