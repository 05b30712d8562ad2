/** Registers the sandbox's SAML identity provider at the product over HTTP, as an administrator would. */
import { setTimeout as wait } from 'node:timers/promises';
import { signServiceToken } from '#server/auth/keys/service-token.ts';
import { loadSigningKeys } from '#server/auth/keys/signing-keys.ts';
import { systemClock } from '#server/clock.ts';
import { readConfig, type Config } from '#server/config/config.ts';
import { openDatabase } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { createLog } from '#server/log.ts';

type Product = Pick<Config, 'auth' | 'dataDir' | 'host' | 'port' | 'publicUrl'>;
type Registration = { metadata_xml: string; domains: string[] };
type Provider = { id: string; saml: { metadata_xml: string }; domains: { domain: string }[] };

const RETRY_MS = 500;
const MAX_TRIES = 240;

/**
 * Best effort: writes a failure to stderr, because the rest of the sandbox works without single sign-on.
 *
 * @param env the product's settings
 */
export async function offerSsoProvider(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = readValidConfig(env);
  if (config === null || !config.sandbox.on || config.sandbox.url === null) return;
  try {
    await waitUntilReady(config);
    const answer = await fetch(`${config.sandbox.url}/sandbox/saml/registration`);
    const registration = (await answer.json()) as Registration;
    const database = await openDatabase({ config, log: createLog('warn'), whenRunning: 'join' });
    try {
      await registerSsoProvider(config, database, registration);
    } finally {
      await database.close();
    }
  } catch (error) {
    // Reports nothing if the server has stopped meanwhile or never became ready: the next start registers again.
    if (!(await isReady(config))) return;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The sandbox has no single sign-on: ${reason}\n`);
  }
}

/** Null for invalid settings, which the server reports. */
function readValidConfig(env: Parameters<typeof readConfig>[0]): Config | null {
  try {
    return readConfig(env);
  } catch {
    return null;
  }
}

/** Idempotent: creates the provider of the domain, or updates it once its metadata have changed. */
export async function registerSsoProvider(
  product: Product,
  database: Database,
  registration: Registration,
): Promise<void> {
  const request = await openAdminApi(product, database);
  const { items } = await request<{ items: Provider[] }>('GET', '/sso/providers');
  const registered = items.find(({ domains }) => domains.some(({ domain }) => registration.domains.includes(domain)));
  if (registered === undefined) {
    await request('POST', '/sso/providers', registration);
    return;
  }
  const path = `/sso/providers/${registered.id}`;
  const { saml } = await request<Provider>('GET', path);
  if (saml.metadata_xml !== registration.metadata_xml) await request('PUT', path, registration);
}

/** Not the public address: in development that is Vite's, which prints an error for each request that comes too early. */
const serverUrl = ({ host, port }: Product): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

async function openAdminApi(product: Product, database: Database) {
  const { auth, dataDir, publicUrl } = product;
  const { signingKeyFile } = auth;
  const keys = await loadSigningKeys({ signingKeyFile, dataDir, database, clock: systemClock, log: createLog('warn') });
  const { token } = await signServiceToken(keys, { publicUrl, days: 1, now: systemClock.now() });
  return async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await fetch(`${serverUrl(product)}/auth/v1/admin${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
}

const isReady = (product: Product): Promise<boolean> =>
  fetch(`${serverUrl(product)}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

async function waitUntilReady(product: Product): Promise<void> {
  for (let tries = 1; tries < MAX_TRIES && !(await isReady(product)); tries += 1) {
    await wait(RETRY_MS, undefined, { ref: false });
  }
}
