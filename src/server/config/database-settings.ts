/** The addresses of PostgreSQL: directly for migrations, locks and LISTEN, and optionally through a pooler for requests. */
import { sessionAttributes, splitHosts } from '../database/connection/split-hosts.ts';
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
