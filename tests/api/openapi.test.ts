/** Compares docs/api/openapi.yaml with the app's routes, the database's grants and responses of a running server. */
import { createECDH } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { addDays } from '#domain/day/day.ts';
import { IMPORT_BODY_BYTES } from '#domain/journals/import-plan.ts';
import { firstDayOf, rangeOf } from '#domain/plan/review-period.ts';
import { createApp, type Deps } from '#server/app.ts';
import { AUTH_ERROR_CODES, OAUTH_ERROR_CODES } from '#server/auth/http/errors.ts';
import { signServiceToken } from '#server/auth/keys/service-token.ts';
import { loadSigningKeys } from '#server/auth/keys/signing-keys.ts';
import { DATA_ERROR_CODES } from '#server/data/errors.ts';
import { EXPOSED_TABLES } from '#server/data/exposed-tables.ts';
import { listFunctions, GET_FUNCTIONS } from '#server/functions/routes.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { createLog } from '#server/log.ts';
import { readChanges } from '../support/read-changes.ts';
import { totpCode } from '../support/totp-code.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import { createSamlPeer } from './auth/sso/saml-world.ts';
import { setUpWorld } from '../support/set-up.ts';
import { daysAgo, startDataWorld, today, type DataWorld, type Person } from './data/fixture.ts';

type Content = Record<string, { schema?: object }>;
type Response = { $ref?: string; content?: Content };
type Operation = { operationId: string; responses: Record<string, Response>; requestBody?: { content: Content } };
type Schema = { properties: Record<string, object>; enum?: string[]; anyOf?: { enum?: string[] }[] };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
};

const VERBS = ['get', 'put', 'post', 'patch', 'delete', 'head', 'options'];
const api = parse(await readFile(new URL('../../docs/api/openapi.yaml', import.meta.url), 'utf8')) as Document;

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictTypes: false });
addFormats.default(ajv);
ajv.addVocabulary(Object.keys(api));
ajv.addSchema(api, 'api');
const pointer = (...names: string[]): string =>
  `api#/${names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
const validators = new Map<string, ReturnType<typeof ajv.compile>>();

/** Compiles the schema at a path of the document. */
function validatorFor(...names: string[]) {
  const $ref = encodeURI(pointer(...names));
  const validate = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validate);
  return validate;
}

/** Every operation of the document, such as `GET /healthz`. */
const documented = Object.entries(api.paths).flatMap(([path, item]) =>
  VERBS.filter((verb) => verb in item).map((verb) => `${verb.toUpperCase()} ${path}`),
);

/** Finds a response in the document and the path to its schemas. */
function findResponse(path: string, verb: string, status: string): { names: string[]; response: Response } | null {
  const response = api.paths[path]?.[verb]?.responses[status];
  if (!response) return null;
  if (response.$ref === undefined) return { names: ['paths', path, verb, 'responses', status], response };
  const name = response.$ref.split('/').at(-1)!;
  return { names: ['components', 'responses', name], response: api.components.responses[name]! };
}

/** The documented path of an address; a path with a parameter matches any value of it. */
const findPath = (address: string): string =>
  Object.keys(api.paths).find((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address)) ??
  address;

describe('the document', () => {
  test('has a schema for every response, and each compiles', () => {
    for (const [path, item] of Object.entries(api.paths)) {
      for (const verb of VERBS.filter((each) => each in item)) {
        const { responses, requestBody } = item[verb]!;
        for (const status of Object.keys(responses)) {
          const { names, response } = findResponse(path, verb, status)!;
          for (const type of Object.keys(response.content ?? {})) validatorFor(...names, 'content', type, 'schema');
        }
        for (const type of Object.keys(requestBody?.content ?? {})) {
          validatorFor('paths', path, verb, 'requestBody', 'content', type, 'schema');
        }
      }
    }
    for (const name of Object.keys(api.components.schemas)) validatorFor('components', 'schemas', name);
  });

  test('names every operation once', () => {
    const ids = Object.values(api.paths).flatMap((item) => VERBS.flatMap((verb) => item[verb]?.operationId ?? []));
    expect(new Set(ids).size).toBe(documented.length);
    expect(ids).toHaveLength(documented.length);
  });

  test.each([
    ['AuthErrorCode', AUTH_ERROR_CODES],
    ['OAuthErrorCode', OAUTH_ERROR_CODES],
    ['DataErrorCode', DATA_ERROR_CODES],
  ])('lists every %s of the server', (name, codes) => {
    const { enum: listed, anyOf } = api.components.schemas[name]!;
    expect(listed ?? anyOf?.[0]?.enum).toEqual([...codes].toSorted());
  });

  test('lists no error code of the auth API that nothing throws', async () => {
    const folder = new URL('../../src/server/', import.meta.url);
    const names = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
    const sources = (await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')))).join('\n');
    // Once in the list, and once where it is thrown.
    expect(AUTH_ERROR_CODES.filter((code) => sources.split(`'${code}'`).length < 3)).toEqual([]);
  });
});

const world = setUpWorld(startDataWorld);
beforeAll(async () => {
  // A recovery link, redeemed below, would otherwise claim Ana's account and end the session of the tests.
  await world.server.admin.query('update auth.users set email_proven_at = email_confirmed_at');
});

/** Lists the methods that the database's grants allow on a table. HEAD is allowed with GET. */
async function grantedMethods(table: string): Promise<string[]> {
  const { rows } = await world.server.admin.query<{ verb: string; granted: boolean }>(
    `select verb, case privilege when 'DELETE' then has_table_privilege('authenticated', $1, privilege)
                       else has_any_column_privilege('authenticated', $1, privilege) end as granted
       from (values ('GET', 'SELECT'), ('POST', 'INSERT'), ('PATCH', 'UPDATE'), ('DELETE', 'DELETE')) as v(verb, privilege)`,
    [`public.${table}`],
  );
  return rows.filter(({ granted }) => granted).map(({ verb }) => verb);
}

describe('routes', () => {
  /** Routes are only registered, never called, so these dependencies suffice. */
  const listRoutes = ({ config, database, clock }: DataWorld['server']) => {
    const site = { files: new Map(), pages: new Map(), configJson: '{}' };
    const signingKeys = { deriveSecret: () => Buffer.alloc(32) };
    const log = { child: () => ({}) };
    const limiters = createLimiters();
    const deps = { config, database, clock, limiters, site, signingKeys, log, payments: {}, coach: null };
    return createApp(deps as unknown as Deps).routes;
  };

  const CODES = '/auth/v1/factors/recovery-codes';
  const FACTOR = '/auth/v1/factors/{id}';
  /**
   * The routes whose `{id}` can be `recovery-codes`, with the operations that the document lists for them: those of
   * recovery codes, and those of a factor if the route serves factors too.
   */
  const RECOVERY_CODES = new Map([
    [`GET ${FACTOR}`, [`GET ${CODES}`]],
    [`POST ${FACTOR}`, [`POST ${CODES}`]],
    [`DELETE ${FACTOR}`, [`DELETE ${FACTOR}`, `DELETE ${CODES}`]],
    [`POST ${FACTOR}/verify`, [`POST ${FACTOR}/verify`, `POST ${CODES}/verify`]],
    [`POST ${FACTOR}/regenerate`, [`POST ${CODES}/regenerate`]],
  ]);

  test('match the document', async () => {
    const actual = new Set<string>();
    const patterns = new Set<string>();
    for (const { method, path } of listRoutes(world.server)) {
      if (method !== 'ALL' && path !== '/assets/*') {
        const operation = `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
        for (const served of RECOVERY_CODES.get(operation) ?? [operation]) actual.add(served);
      } else if (/:\w+$/.test(path)) patterns.add(path);
    }
    expect([...patterns], 'a new route pattern needs a list of its values').toEqual(['/rest/v1/:table']);
    for (const table of EXPOSED_TABLES.keys()) {
      for (const verb of await grantedMethods(table)) actual.add(`${verb} /rest/v1/${table}`);
    }
    const functions = listFunctions({
      ...world.server,
      limiters: createLimiters(),
      payments: null,
      coach: null,
    } as never);
    for (const name of functions.keys())
      actual.add(`${GET_FUNCTIONS.has(name) ? 'GET' : 'POST'} /functions/v1/${name}`);
    expect(documented.toSorted()).toEqual([...actual].toSorted());
  });

  test("suit Hono's regular-expression router: one other route makes every request use the slower trie router", () => {
    const router = new RegExpRouter<string>();
    for (const { method, path } of listRoutes(world.server)) router.add(method, path, path);
    for (const verb of VERBS) expect(() => router.match(verb.toUpperCase(), '/')).not.toThrow();
  });

  test.each([...EXPOSED_TABLES.values()])('columns of $name match the document', ({ name, columns }) => {
    const { content } = api.paths[`/rest/v1/${name}`]!['get']!.responses['200']!;
    const { $ref } = content!['application/vnd.pgrst.object+json']!.schema as { $ref: string };
    const { properties } = api.components.schemas[$ref.split('/').at(-1)!]!;
    expect(Object.keys(properties).toSorted()).toEqual([...columns.keys()].toSorted());
  });
});

type CallOptions = { as?: Person | null; body?: unknown; headers?: Record<string, string> };

/** Sends a request and compares status, content type and body of its response with the document. */
async function call(status: number, method: string, address: string, { as = null, body, headers }: CallOptions = {}) {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(world.server.url + address, {
    method,
    redirect: 'manual',
    headers: {
      'x-supabase-api-version': '2024-01-01',
      ...(as && { authorization: `Bearer ${as.token}` }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const what = `${method} ${address} -> ${response.status} ${text.slice(0, 300)}`;
  expect(response.status, what).toBe(status);
  const found = findResponse(findPath(address.replace(/\?.*$/s, '')), method.toLowerCase(), String(status));
  if (!found) throw new Error(`not in the document: ${what}`);
  const type = response.headers.get('content-type')?.split(';')[0];
  const types = Object.keys(found.response.content ?? {});
  if (text === '') return undefined;
  expect(types, what).toContain(type);
  if (!type?.endsWith('json')) return text;
  const value: unknown = JSON.parse(text);
  expectValid(validatorFor(...found.names, 'content', type, 'schema'), value, what);
  return value;
}

function expectValid(validate: ReturnType<typeof validatorFor>, value: unknown, what: string): void {
  expect(validate(value) === true ? null : validate.errors, what).toBeNull();
}

type Tokens = { access_token: string; refresh_token: string };
type Id = { id: string };
type Enrolled = Id & { totp: { secret: string } };
type Ceremony = { challenge_id: string; options: { challenge: string; rp: object; user: Id } };
const OLD_ERROR_FORMAT = { 'x-supabase-api-version': '' };
const OBJECT = { accept: 'application/vnd.pgrst.object+json' };
const ROWS = { prefer: 'return=representation' };

describe('responses match the document', () => {
  test('accounts', async () => {
    const body = { email: 'dora@example.com', password: 'correct horse', data: { name: 'Dora' } };
    const signedUp = (await call(200, 'POST', '/auth/v1/signup', { body })) as Tokens & { user: { id: string } };
    await call(422, 'POST', '/auth/v1/signup', { body });
    await call(422, 'POST', '/auth/v1/signup', { body: { email: 'e@example.com', password: 'short' } });
    await call(422, 'POST', '/auth/v1/signup', { body: { ...body, password: 'short' }, headers: OLD_ERROR_FORMAT });
    await call(400, 'POST', '/auth/v1/signup', { body: { ...body, email: 'no address' } });
    const wrong = { body: { ...body, password: 'wrong horse' } };
    await call(400, 'POST', '/auth/v1/token?grant_type=password', wrong);
    await call(400, 'POST', '/auth/v1/token?grant_type=password', { ...wrong, headers: OLD_ERROR_FORMAT });
    const { refresh_token } = signedUp;
    await call(200, 'POST', '/auth/v1/token?grant_type=refresh_token', { body: { refresh_token } });
    await call(400, 'POST', '/auth/v1/token?grant_type=refresh_token', { body: { refresh_token: 'x'.repeat(43) } });
    const { access_token } = (await call(200, 'POST', '/auth/v1/token?grant_type=password', { body })) as Tokens;
    const dora = { ...world.ana, id: signedUp.user.id, token: access_token };
    await call(200, 'GET', '/auth/v1/user', { as: dora });
    await call(401, 'GET', '/auth/v1/user');
    await call(403, 'GET', '/auth/v1/user', { as: { ...dora, token: 'x.y.z' } });
    await call(200, 'PUT', '/auth/v1/user', { as: dora, body: { data: { name: 'D.' }, email: 'new@example.com' } });
    await call(422, 'PUT', '/auth/v1/user', { as: dora, body: { password: body.password } });
    await call(200, 'POST', '/auth/v1/resend', { body: { type: 'email_change', email: body.email } });
    await call(400, 'POST', '/auth/v1/resend', { body: { email: body.email } });
    await call(200, 'GET', '/auth/v1/reauthenticate', { as: dora });
    await call(204, 'POST', '/auth/v1/logout?scope=others', { as: dora });
    await call(400, 'POST', '/auth/v1/logout?scope=mine', { as: dora });
    await call(204, 'POST', '/auth/v1/logout', { as: dora });
    await call(403, 'GET', '/auth/v1/user', { as: dora });
    await call(422, 'GET', '/auth/v1/web3/nonce');
    await call(404, 'POST', '/auth/v1/sso', { body: { domain: 'example.com' } });
    await call(404, 'POST', '/auth/v1/sso/saml/acs', { body: new URLSearchParams() });
    for (const path of ['metadata', 'continue']) await call(404, 'GET', `/auth/v1/sso/saml/${path}`);
    await call(422, 'POST', '/auth/v1/token?grant_type=web3', { body: {} });
    for (const path of ['settings', 'health', '.well-known/jwks.json']) await call(200, 'GET', `/auth/v1/${path}`);
  });

  test('own account', async () => {
    const body = { email: 'emil@example.com', password: 'correct horse' };
    const { access_token: token } = (await call(200, 'POST', '/auth/v1/signup', { body })) as Tokens;
    const as = { ...world.ana, token };
    const proof = { as, body: { password: body.password } };
    const { sessions } = (await call(200, 'GET', '/auth/v1/sessions', { as })) as { sessions: { id: string }[] };
    await call(401, 'GET', '/auth/v1/sessions');
    await call(404, 'DELETE', '/auth/v1/sessions/x', { as });
    await call(200, 'PUT', '/auth/v1/user', { as, body: { email: 'new-emil@example.com' } });
    await call(200, 'GET', '/auth/v1/account', { as });
    await call(204, 'DELETE', '/auth/v1/account/address-change', { as });
    await call(401, 'DELETE', '/auth/v1/account/address-change');
    await call(200, 'GET', '/auth/v1/account', { as });
    await call(400, 'POST', '/functions/v1/archive', { as, body: {} });
    await call(422, 'POST', '/functions/v1/archive', { as, body: { nonce: '000000' } });
    await call(200, 'POST', '/functions/v1/archive', proof);
    await call(400, 'DELETE', '/auth/v1/account', { as, body: { password: 'wrong horse' } });
    const { undo_token: token_hash } = (await call(200, 'DELETE', '/auth/v1/account', proof)) as { undo_token: string };
    await call(403, 'DELETE', '/auth/v1/account', proof);
    await call(200, 'GET', '/auth/v1/account/undo-deletion');
    await call(200, 'POST', '/auth/v1/account/undo-deletion', { body: { token_hash } });
    await call(403, 'POST', '/auth/v1/account/undo-deletion', { body: { token_hash } });
    await call(403, 'POST', '/auth/v1/account/undo-deletion', { body: new URLSearchParams({ token_hash }) });
    const signedIn = (await call(200, 'POST', '/auth/v1/token?grant_type=password', { body })) as Tokens;
    const again = { ...world.ana, token: signedIn.access_token };
    await call(404, 'DELETE', `/auth/v1/sessions/${sessions[0]!.id}`, { as: again });
    await call(200, 'DELETE', '/auth/v1/account', { ...proof, as: again });
    await call(200, 'POST', '/auth/v1/token?grant_type=password', { body });
  });

  test('access tokens and connected programs', async () => {
    const person = { email: 'gil@example.com', password: 'correct horse' };
    const { access_token: token } = (await call(200, 'POST', '/auth/v1/signup', { body: person })) as Tokens;
    const as = { ...world.ana, token };
    const asked = { name: 'laptop', scopes: ['read'], days: 30 };
    const made = (await call(200, 'POST', '/auth/v1/tokens', { as, body: asked })) as Id & { token: string };
    await call(400, 'POST', '/auth/v1/tokens', { as, body: { ...asked, days: 1 } });
    await call(200, 'GET', '/auth/v1/tokens', { as });
    const program = { ...as, token: made.token };
    await call(200, 'POST', '/functions/v1/read-days', { as: program, body: { from: today() } });
    await call(400, 'POST', '/functions/v1/read-days', { as: program, body: {} });
    await call(403, 'POST', '/functions/v1/append-item', { as: program, body: { text: 'x' } });
    await call(204, 'DELETE', `/auth/v1/tokens/${made.id}`, { as });
    await call(404, 'DELETE', `/auth/v1/tokens/${made.id}`, { as });
    await call(401, 'POST', '/functions/v1/read-days', { as: program, body: { from: today() } });

    const body = { client_id: 'hustle', scope: 'append' };
    const device = (await call(200, 'POST', '/auth/v1/device/authorize', { body })) as Record<string, string>;
    await call(400, 'POST', '/auth/v1/device/authorize', { body: { ...body, scope: 'all' } });
    const poll = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device['device_code'] };
    await call(400, 'POST', '/auth/v1/device/token', { body: poll });
    const code = device['user_code'];
    await call(200, 'POST', '/auth/v1/connect/show', { as, body: { code } });
    await call(404, 'POST', '/auth/v1/connect/show', { as, body: { code: 'WDJB-MJHT' } });
    await call(204, 'POST', '/auth/v1/connect/allow', { as, body: { code, days: 365 } });
    await call(404, 'POST', '/auth/v1/connect/refuse', { as, body: { code } });
    await call(200, 'POST', '/auth/v1/device/token', { body: poll });
    await call(404, 'POST', '/auth/v1/connect/unlink', { as, body: { team: 'T1', user: 'U1' } });
    for (const provider of ['postmark', 'mailgun', 'mailgun/mime', 'ses']) {
      await call(404, 'POST', `/functions/v1/inbound-mail/${provider}`, { body: {} });
    }
    await call(404, 'POST', '/functions/v1/slack', { body: new URLSearchParams({ text: 'help' }) });
  });

  test('second factors and passkeys', async () => {
    const person = { email: 'fay@example.com', password: 'correct horse' };
    const { access_token: first } = (await call(200, 'POST', '/auth/v1/signup', { body: person })) as Tokens;
    let as = { ...world.ana, token: first };
    const factor = { factor_type: 'totp', friendly_name: 'app' };
    const enrolled = (await call(200, 'POST', '/auth/v1/factors', { as, body: factor })) as Enrolled;
    await call(422, 'POST', '/auth/v1/factors', { as, body: factor });
    await call(400, 'POST', '/auth/v1/factors', { as, body: {} });
    const path = `/auth/v1/factors/${enrolled.id}`;
    const challenge = (await call(200, 'POST', `${path}/challenge`, { as })) as { id: string };
    const answer = { challenge_id: challenge.id, code: 'wrong' };
    await call(422, 'POST', `${path}/verify`, { as, body: answer });
    await call(404, 'POST', '/auth/v1/factors/x/verify', { as, body: answer });
    const code = totpCode(enrolled.totp.secret, world.server.clock.now().getTime());
    const raised = (await call(200, 'POST', `${path}/verify`, { as, body: { ...answer, code } })) as Tokens;
    const half = (await call(200, 'POST', '/auth/v1/token?grant_type=password', { body: person })) as Tokens;
    const halfway = { ...as, token: half.access_token };
    await call(403, 'GET', '/rest/v1/entries', { as: halfway });
    await call(403, 'POST', '/functions/v1/find-entries', { as: halfway });
    as = { ...as, token: raised.access_token };

    const codes = '/auth/v1/factors/recovery-codes';
    await call(404, 'GET', codes, { as });
    await call(200, 'POST', codes, { as });
    await call(200, 'GET', codes, { as });
    await call(422, 'POST', codes, { as });
    const { codes: fresh } = (await call(200, 'POST', `${codes}/regenerate`, { as })) as { codes: string[] };
    await call(422, 'POST', `${codes}/verify`, { as, body: { code: 'wrong' } });
    const session = (await call(200, 'POST', `${codes}/verify`, { as, body: { code: fresh[0] } })) as Tokens;
    as = { ...as, token: session.access_token };
    await call(200, 'DELETE', codes, { as });

    const authenticator = new SoftwareAuthenticator(world.server.config.publicUrl);
    const beginCeremony = async (ceremony: string) =>
      (await call(200, 'POST', `/auth/v1/passkeys/${ceremony}/options`, { as, body: {} })) as Ceremony;
    const registration = await beginCeremony('registration');
    const registered = {
      challenge_id: registration.challenge_id,
      credential: authenticator.create(registration.options),
    };
    const passkey = (await call(200, 'POST', '/auth/v1/passkeys/registration/verify', { as, body: registered })) as Id;
    await call(400, 'POST', '/auth/v1/passkeys/registration/verify', { as, body: registered });
    const signIn = await beginCeremony('authentication');
    const asserted = { challenge_id: signIn.challenge_id, credential: authenticator.get(signIn.options) };
    await call(200, 'POST', '/auth/v1/passkeys/authentication/verify', { body: asserted });
    await call(400, 'POST', '/auth/v1/passkeys/authentication/verify', { body: asserted });
    const own = `/auth/v1/passkeys/${passkey.id}`;
    await call(200, 'PATCH', own, { as, body: { friendly_name: 'Laptop' } });
    await call(200, 'GET', '/auth/v1/passkeys', { as });
    await call(204, 'DELETE', own, { as });
    await call(404, 'DELETE', own, { as });
    await call(200, 'GET', '/auth/v1/user', { as });
    await call(200, 'DELETE', path, { as });
  });

  test('links and codes', async () => {
    const email = 'ana@example.com';
    await call(200, 'POST', '/auth/v1/recover', { body: { email } });
    await call(400, 'POST', '/auth/v1/recover', { body: {} });
    await expect.poll(() => world.server.mailbox.messagesTo(email).length).toBeGreaterThan(0);
    const [mail] = world.server.mailbox.messagesTo(email);
    const [type, token] = ['recovery', 'wrong'];
    await call(200, 'GET', '/auth/v1/verify?type=recovery&token=wrong');
    await call(400, 'GET', '/auth/v1/verify');
    await call(303, 'POST', '/auth/v1/verify/continue', { body: new URLSearchParams({ type, token }) });
    await call(403, 'POST', '/auth/v1/verify', { body: { type, token_hash: token } });
    await call(200, 'POST', '/auth/v1/verify', { body: { type, email, token: mail!.code } });
    await call(200, 'POST', '/auth/v1/otp', { body: { email } });
    await call(400, 'POST', '/auth/v1/otp', { body: {} });
    await call(200, 'POST', '/auth/v1/magiclink', { body: { email } });
    await call(422, 'POST', '/auth/v1/magiclink', { body: {} });
    await call(422, 'POST', '/auth/v1/signup', { body: {} });
  });

  test('administration', async () => {
    const { config, clock, database } = world.server;
    const { dataDir, publicUrl } = config;
    const keys = await loadSigningKeys({ signingKeyFile: null, dataDir, database, clock, log: createLog('error') });
    const { token } = await signServiceToken(keys, { publicUrl, days: 1, now: clock.now() });
    const as = { ...world.ana, token };
    const path = '/auth/v1/admin/users';
    const body = { email: 'eve@example.com', password: 'correct horse', app_metadata: { team: 'blue' } };
    const { id } = (await call(200, 'POST', path, { as, body })) as { id: string };
    await call(422, 'POST', path, { as, body });
    await call(400, 'POST', path, { as, body: {} });
    await call(200, 'GET', `${path}?per_page=2`, { as });
    await call(400, 'GET', `${path}?per_page=0`, { as });
    await call(200, 'GET', `${path}?page=0&filter=ana&sort=created_at+asc`, { as });
    for (const [method, address] of [
      ['GET', path],
      ['POST', path],
      ['GET', '/auth/v1/admin/audit'],
    ] as const) {
      await call(401, method, address);
      await call(403, method, address, { as: world.ana });
    }
    await call(200, 'GET', `${path}/${id}`, { as });
    await call(200, 'PUT', `${path}/${id}`, { as, body: { ban_duration: '24h', role: 'editor' } });
    await call(422, 'PUT', `${path}/${id}`, { as, body: { email: 'ana@example.com' } });
    await call(400, 'PUT', `${path}/${id}`, { as, body: { ban_duration: 'long' } });
    await call(200, 'DELETE', `${path}/${id}`, { as, body: { should_soft_delete: true } });
    await call(200, 'GET', `${path}/${id}`, { as });
    await call(200, 'DELETE', `${path}/${id}`, { as });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      await call(401, method, `${path}/${id}`);
      await call(403, method, `${path}/${id}`, { as: world.ana });
      await call(404, method, `${path}/${id}`, { as, ...(method === 'PUT' && { body: {} }) });
    }
    await call(200, 'GET', '/auth/v1/admin/audit', { as });
  });

  test('links, factors and providers of the administration', async () => {
    const { config, clock, database } = world.server;
    const { dataDir, publicUrl } = config;
    const keys = await loadSigningKeys({ signingKeyFile: null, dataDir, database, clock, log: createLog('error') });
    const { token } = await signServiceToken(keys, { publicUrl, days: 1, now: clock.now() });
    const as = { ...world.ana, token };
    const link = '/auth/v1/admin/generate_link';
    await call(200, 'POST', link, { as, body: { type: 'magiclink', email: 'ana@example.com' } });
    await call(400, 'POST', link, { as, body: { type: 'signup', email: 'invited@example.com' } });
    await call(404, 'POST', link, { as, body: { type: 'recovery', email: 'nobody@example.com' } });
    await call(422, 'POST', link, { as, body: { type: 'invite', email: 'ana@example.com' } });
    await call(200, 'POST', '/auth/v1/invite', { as, body: { email: 'invited@example.com' } });
    await call(400, 'POST', '/auth/v1/invite', { as, body: { email: 'fay' } });
    await call(422, 'POST', '/auth/v1/invite', { as, body: { email: 'ana@example.com' } });
    const user = `/auth/v1/admin/users/${world.ana.id}`;
    const unknown = crypto.randomUUID();
    await call(404, 'PUT', `${user}/factors/${unknown}`, { as, body: {} });
    for (const kind of ['factors', 'passkeys']) {
      await call(200, 'GET', `${user}/${kind}`, { as });
      await call(404, 'GET', `/auth/v1/admin/users/${unknown}/${kind}`, { as });
      await call(404, 'DELETE', `${user}/${kind}/${unknown}`, { as });
    }
    const providers = '/auth/v1/admin/sso/providers';
    const { metadata: metadata_xml } = await createSamlPeer();
    const body = { type: 'saml', metadata_xml, domains: ['corp.example'], attribute_mapping: { keys: {} } };
    const { id } = (await call(201, 'POST', providers, { as, body })) as { id: string };
    const provider = `${providers}/${id}`;
    await call(422, 'POST', providers, { as, body });
    await call(400, 'POST', providers, { as, body: {} });
    await call(200, 'GET', providers, { as });
    await call(200, 'GET', provider, { as });
    await call(200, 'PUT', provider, { as, body: { disabled: true } });
    await call(400, 'PUT', provider, { as, body: { metadata_xml: '<x/>' } });
    await call(200, 'DELETE', provider, { as });
    for (const method of ['GET', 'PUT', 'DELETE'])
      await call(404, method, provider, { as, ...(method === 'PUT' && { body: {} }) });
    for (const [method, address] of [
      ['POST', link],
      ['POST', '/auth/v1/invite'],
      ['GET', `${user}/factors`],
      ['DELETE', `${user}/passkeys/${unknown}`],
      ['PUT', `${user}/factors/${unknown}`],
      ['GET', providers],
      ['POST', providers],
      ['DELETE', provider],
    ] as const) {
      await call(401, method, address);
      await call(403, method, address, { as: world.ana });
    }
  });

  test('logs', async () => {
    const { ana: as } = world;
    const [path, own] = ['/rest/v1/entries', `/rest/v1/entries?user_id=eq.${as.id}`];
    const row = (date: string, content = '<p>Shipped it</p>') => ({ user_id: as.id, date, content });
    const sent = { updated_at: new Date(0), ai_feedback: 'mine', hustle_score: 10, ai_analyzed_at: new Date(0) };
    await call(201, 'POST', path, { as, body: { ...row(today()), ...sent } });
    await call(201, 'POST', path, { as, body: [row(daysAgo(1)), row(daysAgo(2))], headers: ROWS });
    await call(409, 'POST', path, { as, body: row(today()) });
    await call(403, 'POST', path, { as, body: row(addDays(today(), 3)) });
    await call(401, 'POST', path, { body: row(today()) });
    await call(400, 'POST', path, { as, body: { nope: 1 } });
    await call(413, 'POST', path, { as, body: row(daysAgo(3), 'a'.repeat(256 * 1024 + 1)) });
    await call(413, 'POST', path, { as, body: row(daysAgo(3), 'a'.repeat(2 * 1024 * 1024)) });
    const merging = { prefer: 'resolution=merge-duplicates,return=representation' };
    await call(200, 'POST', path, { as, body: row(today(), '<p>More</p>'), headers: merging });
    await call(200, 'GET', own, { as });
    await call(200, 'GET', `${own}&select=date,revision&order=date.desc`, { as });
    expect(await call(200, 'GET', '/rest/v1/entry_dates', { as })).toHaveLength(3);
    await call(200, 'DELETE', `${own}&date=eq.${daysAgo(1)}`, { as, headers: ROWS });
    expect(await call(200, 'GET', '/rest/v1/entry_versions', { as })).toHaveLength(2);
    expect(await call(200, 'GET', '/rest/v1/deleted_days', { as })).toHaveLength(1);
    await call(206, 'GET', `${own}&limit=1`, { as, headers: { prefer: 'count=exact' } });
    await call(416, 'GET', `${own}&offset=99`, { as, headers: { prefer: 'count=exact' } });
    await call(200, 'GET', `${own}&date=eq.${today()}`, { as, headers: OBJECT });
    await call(406, 'GET', own, { as, headers: OBJECT });
    await call(400, 'GET', `${path}?date=eq.never`, { as });
    await call(401, 'GET', path, { as: { ...as, token: 'x.y.z' } });
    await call(200, 'PATCH', `${own}&date=eq.${today()}`, { as, body: { content: '<p>Again</p>' }, headers: ROWS });
    await call(204, 'PATCH', `${own}&date=eq.${today()}&revision=eq.99`, { as, body: { content: '<p>Late</p>' } });
    await call(400, 'PATCH', path, { as, body: { content: '' } });
    await call(200, 'DELETE', `${own}&date=eq.${daysAgo(2)}`, { as, headers: ROWS });
    await call(204, 'DELETE', `${own}&date=eq.${daysAgo(1)}`, { as });
  });

  test('profile and plan', async () => {
    const { ben: as } = world;
    const path = `/rest/v1/profiles?id=eq.${as.id}`;
    await call(200, 'GET', path, { as, headers: OBJECT });
    await call(409, 'POST', '/rest/v1/profiles', { as, body: { id: as.id } });
    await call(200, 'PATCH', path, { as, body: { country: 'PT' }, headers: ROWS });
    await call(400, 'PATCH', path, { as, body: { country: 'Portugal' } });
    await call(403, 'PATCH', path, { as, body: { subscription_plan: 'premium' } });
    await world.server.admin.query(
      "insert into plan_changes (user_id, plan, access_valid_until, reason) values ($1, 'free', null, 'expiry')",
      [as.id],
    );
    expect(await call(200, 'GET', '/rest/v1/plan_changes', { as })).toHaveLength(1);
  });

  test('preferences', async () => {
    const { ben: as } = world;
    const path = '/rest/v1/preferences';
    const upsert = { prefer: 'resolution=merge-duplicates,return=representation' };
    expect(await call(200, 'GET', path, { as })).toEqual([]);
    await call(201, 'POST', path, { as, body: { user_id: as.id, time_zone: 'Europe/Lisbon' }, headers: upsert });
    await call(200, 'POST', path, { as, body: { user_id: as.id, workdays: [0, 6] }, headers: upsert });
    const own = `${path}?user_id=eq.${as.id}`;
    expect(await call(200, 'PATCH', own, { as, body: { remind_at: 1080 }, headers: ROWS })).toMatchObject([
      { time_zone: 'Europe/Lisbon', workdays: [0, 6], remind_at: 1080, remind_by_mail: false },
    ]);
    await call(400, 'PATCH', own, { as, body: { remind_at: 120 } });
    await call(400, 'PATCH', own, { as, body: { workdays: [7] } });
    await call(204, 'PATCH', own, { as, body: { workdays: [] } });
    await call(403, 'POST', path, { as, body: { user_id: world.ana.id } });
    await call(409, 'POST', path, { as, body: { user_id: as.id } });
  });

  test('a reminder at once, and its links', async () => {
    const { ben: as } = world;
    const setConfirmed = (at: Date | null) =>
      world.server.admin.query('update auth.users set email_confirmed_at = $2 where id = $1', [as.id, at]);
    await setConfirmed(null);
    await call(403, 'POST', '/functions/v1/send-reminder', { as, body: {} });
    await setConfirmed(new Date());
    await call(200, 'POST', '/functions/v1/send-reminder', { as, body: {} });
    for (const path of ['/evening/x?entry=0', '/unsubscribe/x']) {
      await call(410, 'GET', path);
      await call(410, 'POST', path, { body: '' });
    }
  });

  test('devices', async () => {
    const { ben: as } = world;
    const path = '/rest/v1/push_subscriptions';
    const subscribe = (status: number, body: unknown, asked: Person | null = as) =>
      call(status, 'POST', '/functions/v1/push-subscription', { as: asked, body });
    await subscribe(401, {}, null);
    await subscribe(200, {});
    await subscribe(400, { subscription: {} });
    const browser = createECDH('prime256v1');
    const keys = { p256dh: browser.generateKeys('base64url'), auth: Buffer.alloc(16).toString('base64url') };
    const subscription = { endpoint: 'https://fcm.googleapis.com/fcm/send/a', keys };
    await subscribe(403, { subscription: { ...subscription, endpoint: 'https://127.0.0.1/' } });
    const { renewalToken: token } = (await subscribe(200, { subscription })) as { renewalToken: string };
    await call(200, 'POST', '/push/renew', { body: { token, subscription } });
    await call(400, 'POST', '/push/renew', { body: { token } });
    await call(410, 'POST', '/push/renew', { body: { token: 'x', subscription } });
    expect(await call(200, 'GET', path, { as })).toHaveLength(1);
    await call(204, 'DELETE', `${path}?user_id=eq.${as.id}`, { as });
    expect(await call(200, 'GET', path, { as })).toEqual([]);
  });

  test('time off', async () => {
    const { ben: as } = world;
    const path = '/rest/v1/time_off';
    const row = { user_id: as.id, first_day: '2026-12-21', last_day: '2026-12-31' };
    expect(await call(200, 'GET', path, { as })).toEqual([]);
    await call(201, 'POST', path, { as, body: row });
    const longer = { ...row, last_day: '2027-01-03' };
    expect(await call(201, 'POST', path, { as, body: longer, headers: ROWS })).toMatchObject([longer]);
    expect(await call(200, 'GET', path, { as })).toHaveLength(1);
    await call(400, 'POST', path, { as, body: { ...row, last_day: '2026-12-20' } });
    await call(403, 'POST', path, { as, body: { ...row, user_id: world.ana.id } });
    await call(204, 'DELETE', `${path}?user_id=eq.${as.id}`, { as });
    expect(await call(200, 'GET', path, { as })).toEqual([]);
  });

  test('payments', async () => {
    const { ben: as } = world;
    const create = '/functions/v1/paypal-create-order';
    const body = { amount: '24.00', currency: 'USD', user_id: as.id };
    const { approval_url } = (await call(200, 'POST', create, { as, body })) as { approval_url: string };
    await call(400, 'POST', create, { as, body: { ...body, amount: 1 } });
    await call(403, 'POST', create, { as, body: { ...body, user_id: world.ana.id } });
    const capture = '/functions/v1/paypal-capture-order';
    const order = { order_id: new URL(approval_url).searchParams.get('token'), user_id: as.id };
    await call(402, 'POST', capture, { as, body: order });
    await call(404, 'POST', capture, { as, body: { ...order, order_id: '5O190127TN364715T' } });
    await call(400, 'POST', capture, { as, body: { ...order, order_id: 'no order' } });
    expect(await call(200, 'GET', '/rest/v1/payments', { as })).toHaveLength(1);
    await call(400, 'POST', '/functions/v1/paypal-webhook', { body: {} });
  });

  test('the coach', async () => {
    const { cleo: as, ana } = world;
    const feedback = '/functions/v1/ai-feedback';
    await call(403, 'POST', feedback, { as: ana, body: { date: today() } });
    await call(403, 'POST', feedback, { as, body: { date: today() } });
    await call(204, 'PATCH', `/rest/v1/profiles?id=eq.${as.id}`, { as, body: { ai_consent: true } });
    await call(404, 'POST', feedback, { as, body: { date: today() } });
    await call(400, 'POST', feedback, { as, body: { date: 'today' } });
    const content = '<ol><li><p>Shipped the billing page to 40 users</p></li></ol>';
    await call(201, 'POST', '/rest/v1/entries', { as, body: { user_id: as.id, date: today(), content } });
    await expectEvents(await call(200, 'POST', feedback, { as, body: { date: today() } }), 'FeedbackResult');
    const period = { period: '7-day', from: firstDayOf('7-day', today()), to: today() };
    const review = '/functions/v1/trend-analysis';
    await expectEvents(await call(200, 'POST', review, { as, body: period }), 'ReviewResult');
    const quarter = { period: 'quarter', ...rangeOf('quarter', today()) };
    await expectEvents(await call(200, 'POST', review, { as, body: quarter }), 'ReviewResult');
    expect(await call(200, 'GET', '/rest/v1/analyses', { as })).toHaveLength(4);
    expect(await call(200, 'GET', '/rest/v1/kept_reviews?period=eq.7-day', { as })).toMatchObject([
      { is_changed: false },
    ]);
    expect(await call(200, 'DELETE', '/rest/v1/reviews?period=eq.7-day', { as, headers: ROWS })).toHaveLength(1);
    expect(await call(200, 'GET', '/rest/v1/reviews', { as })).toHaveLength(1);
    expect(await call(200, 'GET', '/rest/v1/analyses', { as })).toHaveLength(3);
  });

  async function expectEvents(stream: unknown, result: 'FeedbackResult' | 'ReviewResult'): Promise<void> {
    const schemas: Record<string, string> = {
      score: 'CoachScore',
      text: 'CoachText',
      progress: 'ReviewProgress',
      done: result,
    };
    const events = [...String(stream).matchAll(/^event: (\w+)\ndata: (.*)$/gm)];
    expect(events.at(-1)?.[1]).toBe('done');
    for (const [, event = '', data = ''] of events) {
      expectValid(validatorFor('components', 'schemas', schemas[event] ?? 'CoachProblem'), JSON.parse(data), event);
    }
  }

  test('Find, import and export', async () => {
    const { cleo: as, ana } = world;
    await call(200, 'POST', '/functions/v1/find-entries', { as: ana, body: { query: 'again' } });
    await call(200, 'POST', '/functions/v1/year-summary', { as: ana, body: { year: today().slice(0, 4) } });
    await call(400, 'POST', '/functions/v1/year-summary', { as: ana, body: { year: 'none' } });
    const changes = await readChanges(world.server.url, as.token);
    const { error } = await as.client
      .from('entries')
      .insert({ user_id: as.id, date: daysAgo(9), content: '<p>live</p>' });
    expect(error).toBeNull();
    for (let event = await changes.next(); ; event = await changes.next()) {
      if (event.event !== 'change') continue;
      expectValid(validatorFor('components', 'schemas', 'DayChange'), event.data, JSON.stringify(event.data));
      break;
    }
    changes.close();
    const append = '/functions/v1/append-item';
    await call(200, 'POST', append, { as: ana, body: { text: 'more', date: today(), key: 'k' } });
    await call(400, 'POST', append, { as: ana, body: {} });
    await call(403, 'POST', append, { as: ana, body: { text: 'more', date: daysAgo(60) } });
    await call(422, 'POST', append, { as: ana, body: { text: 'other', date: today(), key: 'k' } });
    await call(400, 'POST', '/functions/v1/find-entries', { as: ana, body: {} });
    await call(403, 'POST', '/functions/v1/record-export', { as: ana });
    await call(200, 'POST', '/functions/v1/record-export', { as });
    const entry = { date: daysAgo(40), content: '<p>Then</p>', replaces: null };
    const entries = [entry, entry, { date: 'never', content: '' }];
    await call(400, 'POST', '/functions/v1/import-entries', { as, body: { entries: [] } });
    const importId = '0f0e0d0c-0b0a-4908-8706-050403020100';
    await call(200, 'POST', '/functions/v1/import-entries', { as, body: { importId, entries } });
    await call(200, 'POST', '/functions/v1/list-imports', { as });
    await call(400, 'POST', '/functions/v1/undo-import', { as, body: {} });
    await call(200, 'POST', '/functions/v1/undo-import', { as, body: { importId } });
  });

  test('every function rejects a guest, an invalid token and a body that is too large', async () => {
    const paths = Object.keys(api.paths).filter((path) =>
      /^\/functions\/v1\/(?!paypal-webhook|slack|inbound-mail)/.test(path),
    );
    for (const path of paths) {
      const method = 'post' in api.paths[path]! ? 'POST' : 'GET';
      await call(401, method, path, { ...(method === 'POST' && { body: {} }) });
      await call(401, method, path, { as: { ...world.ana, token: 'x.y.z' }, ...(method === 'POST' && { body: {} }) });
      if (method === 'GET') continue;
      const bytes = path.endsWith('/import-entries') ? IMPORT_BODY_BYTES : 64 * 1024;
      await call(413, 'POST', path, { as: world.ana, body: 'a'.repeat(bytes) });
    }
  });

  test('settings, health and metrics', async () => {
    for (const path of ['/config.json', '/healthz', '/readyz', '/metrics']) await call(200, 'GET', path);
    await call(404, 'GET', '/metrics', { headers: { 'x-forwarded-for': '192.0.2.1' } });
  });
});
