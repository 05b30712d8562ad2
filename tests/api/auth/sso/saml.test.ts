/** Signing in with SAML (docs/specification/wire.md 29), with an independent identity provider. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@supabase/supabase-js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSsoProvider, updateSsoProvider } from '#server/auth/saml/sso-providers.ts';
import type { NewSsoProvider, SsoProvider, SsoProviderChange } from '#server/auth/saml/sso-providers.ts';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { registerSsoProvider } from '../../../../scripts/sandbox/register-sso-provider.ts';
import { Browser, fragmentOf } from '../providers/browser.ts';
import { PASSWORD, SIGN_IN_NOTICE, newAddress, startAuthWorld } from '../fixture.ts';
import type { AuthWorld, WireBody } from '../fixture.ts';
import type { SamlIdentityProvider } from '../../../../simulators/saml/identity-provider.ts';
import { newKeyPair } from '../../../../simulators/saml/key-pair.ts';
import { attribute } from '../../../../simulators/saml/response.ts';
import type { ResponseFields } from '../../../../simulators/saml/response.ts';
import { createSamlApp } from '../../../../simulators/saml/server.ts';
import { createSamlPeer } from './saml-peer.ts';

const DOMAIN = 'corp.example';
const MAPPING = {
  keys: {
    full_name: { name: 'displayName' },
    department: { names: ['dept', 'ou'], default: 'none' },
    role: { name: 'role' },
  },
};

let world: AuthWorld;
let peer: SamlIdentityProvider;
let provider: SsoProvider;
let ourMetadata: string;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-saml-'));
  const { privateKey, certificate } = await newKeyPair('hustle-forge');
  await writeFile(join(folder, 'saml.pem'), privateKey + certificate);
  [world, peer] = await Promise.all([
    startAuthWorld({ AUTH_SAML_KEY_FILE: join(folder, 'saml.pem'), AUTH_AUTOCONFIRM: 'off' }),
    createSamlPeer(),
  ]);
  provider = await addProvider({ metadataXml: peer.metadata, domains: [DOMAIN], attributeMapping: MAPPING });
  ourMetadata = (await world.request('GET', '/sso/saml/metadata')).body;
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const deps = () => ({ publicUrl: world.config.publicUrl, now: world.clock.now() });
const addProvider = (settings: NewSsoProvider) =>
  world.database.transactAsService('test', (transaction) => createSsoProvider(transaction, settings, deps()));
const changeProvider = (id: string, change: SsoProviderChange) =>
  world.database.transactAsService('test', (transaction) => updateSsoProvider(transaction, id, change, deps()));

const target = () => `${world.url}/journal?from=test`;
const acsUrl = () => `${world.url}/auth/v1/sso/saml/acs`;

type Started = { id: string; relayState: string; browser: Browser };

/** Starts a sign-in in a browser and reads the request that the identity provider gets. */
async function start(body: WireBody = {}, browser = new Browser()): Promise<Started> {
  const page = await browser.open(`${world.url}/auth/v1/sso`, {
    method: 'POST',
    body: JSON.stringify({ domain: DOMAIN, redirect_to: target(), skip_http_redirect: true, ...body }),
  });
  expect(page.status, page.text).toBe(200);
  const { url } = JSON.parse(page.text) as { url: string };
  return { ...(await peer.readRequest(url, ourMetadata)), browser };
}

/**
 * Posts a response as the identity provider's page does. Returns the address of the client that the browser ends at.
 */
async function post({ relayState, browser }: Omit<Started, 'id'>, samlResponse: string): Promise<URL> {
  const page = await browser.open(acsUrl(), {
    method: 'POST',
    headers: { Origin: 'https://idp.example', 'Sec-Fetch-Site': 'cross-site' },
    body: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }),
  });
  const location = new URL(page.headers.get('location')!, world.url);
  if (location.pathname !== '/auth/v1/sso/saml/continue') return location;
  return browser.follow(location, `${world.url}/journal`, { isCrossSite: true });
}

type Overrides = Partial<ResponseFields>;
type Signing = Parameters<SamlIdentityProvider['respond']>[2];

async function signIn(fields: Overrides = {}, signing?: Signing, body: WireBody = {}): Promise<URL> {
  const started = await start(body);
  return post(started, await peer.respond(ourMetadata, { requestId: started.id, ...fields }, signing));
}

const userOf = async (url: URL) => {
  const token = fragmentOf(url)['access_token']!;
  const { status, body } = await world.request('GET', '/user', { token });
  expect(status, url.href).toBe(200);
  return body;
};

const problemOf = (url: URL): string => {
  const { error_code, access_token, error_description } = fragmentOf(url);
  expect([access_token, url.searchParams.get('code'), url.searchParams.get('error_code')], url.href).toEqual([
    undefined,
    null,
    error_code,
  ]);
  return `${error_code}: ${error_description}`;
};

const INVALID = 'validation_failed: SAML Assertion is not valid';
const NOT_FOUND = 'saml_relay_state_not_found: SAML RelayState does not exist, try logging in again?';

describe('a sign-in', () => {
  test('returns to the client with a session', async () => {
    const url = await signIn({
      nameId: 'Ana@Corp.example',
      attributes: attribute('displayName', 'Ana &amp; Co') + attribute('ou', '', 'Research'),
    });
    expect(url.href.startsWith(`${target()}#access_token=`)).toBe(true);
    const user = await userOf(url);
    expect(user).toMatchObject({
      email: 'ana@corp.example',
      email_confirmed_at: expect.any(String),
      app_metadata: { provider: `sso:${provider.id}`, providers: [`sso:${provider.id}`] },
      user_metadata: { full_name: 'Ana & Co', custom_claims: { department: 'Research' } },
      identities: [
        {
          provider: `sso:${provider.id}`,
          id: 'ana@corp.example',
          identity_data: {
            sub: 'ana@corp.example',
            iss: peer.entityId,
            email: 'ana@corp.example',
            email_verified: true,
          },
        },
      ],
    });
    expect(user.user_metadata.custom_claims).not.toHaveProperty('role');
    const { rows } = await world.admin.query('select is_sso_user from auth.users where id = $1', [user.id]);
    expect(rows).toEqual([{ is_sso_user: true }]);
    const [, payload = ''] = fragmentOf(url)['access_token']!.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).amr).toMatchObject([
      { method: 'sso/saml', provider: `sso:${provider.id}` },
    ]);
  });

  test('opens the same account again, by its name at the identity provider', async () => {
    const first = await userOf(await signIn({ nameId: 'ben@corp.example' }));
    const attributes = attribute('displayName', 'Ben');
    const second = await userOf(await signIn({ nameId: 'BEN@corp.example', attributes }, { sign: 'both' }));
    expect(second.id).toBe(first.id);
    expect(second.identities[0].identity_data.full_name).toBe('Ben');
  });

  test('sends the owner a notice for each browser that has not signed in before', async () => {
    const email = newAddress();
    const [own, other, third] = [new Browser(), new Browser(), new Browser()];
    const steps = [
      [own, 0],
      [own, 0],
      [other, 1],
      [other, 1],
      [own, 1],
      [third, 2],
    ] as const;
    for (const [browser, count] of steps) {
      const started = await start({}, browser);
      await post(started, await peer.respond(ourMetadata, { requestId: started.id, nameId: email }));
      await world.signInNotices(email, count);
    }
  });

  test('prefers the subject id to the name', async () => {
    const subjectId = attribute('urn:oasis:names:tc:SAML:attribute:subject-id', 'u-1@corp.example');
    const first = await userOf(await signIn({ nameId: 'carl@corp.example', attributes: subjectId }));
    const second = await userOf(await signIn({ nameId: 'carl.new@corp.example', attributes: subjectId }));
    expect([second.id, second.identities[0].id]).toEqual([first.id, 'u-1@corp.example']);
  });

  test('takes the address from an attribute for a persistent name', async () => {
    const nameIdFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
    const attributes = attribute('urn:oid:0.9.2342.19200300.100.1.3', 'Dora@corp.example');
    const user = await userOf(await signIn({ nameId: 'Id-7', nameIdFormat, attributes }));
    expect([user.email, user.identities[0].id]).toEqual(['dora@corp.example', 'Id-7']);
  });

  test('never opens an account with the same address that another way to sign in made', async () => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
    await world.admin.query('update auth.users set email_confirmed_at = now() where email = $1', [email]);
    const user = await userOf(await signIn({ nameId: email }));
    const { rows } = await world.admin.query('select id, is_sso_user from auth.users where email = $1', [email]);
    expect(rows).toHaveLength(2);
    expect(rows.find(({ is_sso_user: isSso }) => isSso)?.id).toBe(user.id);
    const password = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    expect(password.body.user.id).not.toBe(user.id);
  });

  test('opens two accounts for the same name at two identity providers', async () => {
    const other = await createSamlPeer('other.example');
    const { id } = await addProvider({ metadataXml: other.metadata });
    const started = await start({ domain: null, provider_id: id });
    const response = await other.respond(ourMetadata, { requestId: started.id, nameId: 'ana@corp.example' });
    const [theirs, ours] = [await userOf(await post(started, response)), await userOf(await signIn())];
    expect(theirs.id).not.toBe(ours.id);
  });

  test('by the real client with PKCE needs no cookie', async () => {
    const storage = new Map<string, string>();
    const { auth } = createClient(world.url, world.config.publishableKey, {
      auth: {
        flowType: 'pkce',
        autoRefreshToken: false,
        detectSessionInUrl: false,
        storage: {
          getItem: (key) => storage.get(key) ?? null,
          setItem: (key, value) => void storage.set(key, value),
          removeItem: (key) => void storage.delete(key),
        },
      },
    });
    const { data, error } = await auth.signInWithSSO({ domain: DOMAIN, options: { redirectTo: target() } });
    expect(error).toBeNull();
    const request = await peer.readRequest(data!.url, ourMetadata);
    const response = await peer.respond(ourMetadata, { requestId: request.id });
    const url = await post({ ...request, browser: new Browser() }, response);
    expect(url.href.startsWith(`${target()}&code=`)).toBe(true);
    const session = await auth.exchangeCodeForSession(url.searchParams.get('code')!);
    expect(session.error).toBeNull();
    expect(session.data.user?.email).toBe('ana@corp.example');
    expect(session.data.session?.provider_token).toBeUndefined();
    const { data: claims } = await auth.getClaims();
    expect(claims?.claims.amr).toMatchObject([{ method: 'sso/saml', provider: `sso:${provider.id}` }]);
  });

  test('makes the browser no known device of another account with the same address', async () => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
    const { code } = await world.mailTo(email);
    await world.request('POST', '/verify', { body: { type: 'signup', email, token: code } });

    const browser = new Browser();
    const started = await start({}, browser);
    const url = await post(started, await peer.respond(ourMetadata, { requestId: started.id, nameId: email }));
    expect((await userOf(url)).email).toBe(email);
    const page = await browser.open(`${world.url}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    expect(page.status).toBe(200);
    await world.mailWith(SIGN_IN_NOTICE, email);
  });

  test('replaces a target that is not allowed', async () => {
    const started = await start({ redirect_to: 'https://evil.example/' });
    const { rows } = await world.admin.query('select redirect_to from auth.flows where id = $1', [started.relayState]);
    expect(rows).toEqual([{ redirect_to: world.config.publicUrl }]);
  });

  test('redirects the browser itself without skip_http_redirect', async () => {
    const { status, headers } = await world.request('POST', '/sso', { body: { domain: DOMAIN.toUpperCase() } });
    expect([status, new URL(headers.get('location')!).origin]).toEqual([303, 'https://idp.example']);
  });

  test('is rejected for a banned user and, without sign-ups, for a new one', async () => {
    const user = await userOf(await signIn({ nameId: 'gil@corp.example' }));
    await world.admin.query("update auth.users set banned_until = 'infinity' where id = $1", [user.id]);
    expect(problemOf(await signIn({ nameId: 'gil@corp.example' }))).toBe('user_banned: User is banned');
  });
});

describe('an account of an identity provider', () => {
  test('cannot change its address or password, but its metadata', async () => {
    const token = fragmentOf(await signIn({ nameId: 'hal@corp.example' }))['access_token']!;
    for (const body of [{ email: newAddress() }, { password: 'another horse' }]) {
      const answer = await world.request('PUT', '/user', { token, body });
      expect([answer.status, answer.body]).toEqual([
        422,
        {
          code: 'user_sso_managed',
          message: 'Updating email, phone, password of a SSO account only possible via SSO',
        },
      ]);
    }
    expect((await world.request('PUT', '/user', { token, body: { data: { theme: 'dark' } } })).status).toBe(200);
  });

  test('gets no recovery mail', async () => {
    const email = newAddress();
    await signIn({ nameId: email });
    expect((await world.request('POST', '/recover', { body: { email } })).status).toBe(200);
    const { rows } = await world.admin.query('select from auth.one_time_tokens where address = $1', [email]);
    expect(rows).toHaveLength(0);
  });
});

describe('POST /sso', () => {
  const reasons: [WireBody, number, string, string][] = [
    [{}, 400, 'validation_failed', 'A provider_id or domain needs to be provided'],
    [
      { domain: DOMAIN, provider_id: randomUUID() },
      400,
      'validation_failed',
      'Only one of provider_id or domain supported',
    ],
    [{ domain: 'unknown.example' }, 404, 'sso_provider_not_found', 'No SSO provider assigned for this domain'],
    [{ provider_id: randomUUID() }, 404, 'sso_provider_not_found', 'No such SSO provider'],
    [{ provider_id: 'corp' }, 404, 'sso_provider_not_found', 'No such SSO provider'],
    [
      { domain: DOMAIN, code_challenge: 'x' },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
    [{ domain: 7 }, 400, 'bad_json', 'Could not parse request body as JSON: domain must be a string'],
  ];
  test.each(reasons)('%j answers %i %s', async (body, status, code, message) => {
    const answer = await world.request('POST', '/sso', { body });
    expect([answer.status, answer.body]).toEqual([status, { code, message }]);
    const old = await world.request('POST', '/sso', { body, headers: { 'X-Supabase-Api-Version': '' } });
    expect(old.body).toEqual({ code: status, error_code: code, msg: message });
  });

  test('rejects a disabled provider, and so does its response', async () => {
    const started = await start();
    await changeProvider(provider.id, { disabled: true });
    const answer = await world.request('POST', '/sso', { body: { domain: DOMAIN } });
    const url = await post(started, await peer.respond(ourMetadata, { requestId: started.id }));
    await changeProvider(provider.id, { disabled: false });
    const message = 'SSO Provider assigned for this domain is currently disabled';
    expect([answer.status, answer.body]).toEqual([404, { code: 'sso_provider_disabled', message }]);
    expect(problemOf(url)).toBe(`sso_provider_disabled: ${message}`);
  });
});

test('the metadata names our addresses and our key, and is the same each time', async () => {
  const first = await world.request('GET', '/sso/saml/metadata');
  const second = await world.request('GET', '/sso/saml/metadata?download=true');
  expect(first.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(second.headers.get('content-disposition')).toBe('attachment; filename="metadata.xml"');
  expect(second.body).toBe(first.body);
  expect(first.body).toContain(`entityID="${world.config.publicUrl}/auth/v1/sso/saml/metadata"`);
  expect(first.body).toContain(`Location="${acsUrl()}"`);
  expect(first.body).toContain('WantAssertionsSigned="true"');
  expect(first.body).not.toContain('PRIVATE');
});

describe('the browser', () => {
  test('that did not start the flow gets no session', async () => {
    const started = await start();
    const response = await peer.respond(ourMetadata, { requestId: started.id });
    const page = await new Browser().open(acsUrl(), {
      method: 'POST',
      body: new URLSearchParams({ SAMLResponse: response, RelayState: started.relayState }),
    });
    const next = new URL(page.headers.get('location')!, world.url);
    expect(problemOf(await new Browser().follow(next, `${world.url}/?`))).toBe(NOT_FOUND);
  });

  test("of an attacker cannot continue a victim's flow without its code", async () => {
    const attacker = await start();
    // The victim's browser posts the response, and the attacker's browser has the cookie.
    const victim = { ...attacker, browser: new Browser() };
    const response = await peer.respond(ourMetadata, { requestId: attacker.id, nameId: 'victim@corp.example' });
    await victim.browser.open(acsUrl(), {
      method: 'POST',
      body: new URLSearchParams({ SAMLResponse: response, RelayState: attacker.relayState }),
    });
    for (const code of ['', attacker.relayState, randomBytes(32).toString('base64url')]) {
      const url = await attacker.browser.follow(
        `${world.url}/auth/v1/sso/saml/continue?code=${code}`,
        `${world.url}/?`,
      );
      expect(problemOf(url)).toBe(NOT_FOUND);
    }
  });

  test('cannot exchange the code of a flow without PKCE for a session, nor continue one with PKCE', async () => {
    const implicit = await start();
    const response = await peer.respond(ourMetadata, { requestId: implicit.id });
    const page = await implicit.browser.open(acsUrl(), {
      method: 'POST',
      body: new URLSearchParams({ SAMLResponse: response, RelayState: implicit.relayState }),
    });
    const auth_code = new URL(page.headers.get('location')!, world.url).searchParams.get('code')!;
    const exchange = { auth_code, code_verifier: 'x'.repeat(43) };
    const { body } = await world.request('POST', '/token?grant_type=pkce', { body: exchange });
    expect(body.code).toBe('bad_code_verifier');

    const code_challenge = createHash('sha256').update('y'.repeat(43)).digest('base64url');
    const pkce = await start({ code_challenge, code_challenge_method: 's256' });
    const url = await post(pkce, await peer.respond(ourMetadata, { requestId: pkce.id }));
    const code = url.searchParams.get('code')!;
    const next = await pkce.browser.follow(`${world.url}/auth/v1/sso/saml/continue?code=${code}`, `${world.url}/?`);
    expect(problemOf(next)).toBe(NOT_FOUND);
  });

  test.each([
    ['an OAuth flow', "method = 'oauth'"],
    ['a flow with PKCE', "code_challenge = repeat('a', 43), code_challenge_method = 'plain'"],
    ['an expired flow', 'expires_at = created_at'],
  ])('cannot continue %s', async (_, change) => {
    const started = await start();
    const response = await peer.respond(ourMetadata, { requestId: started.id });
    const page = await started.browser.open(acsUrl(), {
      method: 'POST',
      body: new URLSearchParams({ SAMLResponse: response, RelayState: started.relayState }),
    });
    await world.admin.query(`update auth.flows set ${change} where id = $1`, [started.relayState]);
    const answer = await started.browser.open(new URL(page.headers.get('location')!, world.url));
    expect(problemOf(new URL(answer.headers.get('location')!))).toMatch(/^saml_relay_state_/);
  });

  test('continues once', async () => {
    const started = await start();
    const response = await peer.respond(ourMetadata, { requestId: started.id });
    const page = await started.browser.open(acsUrl(), {
      method: 'POST',
      body: new URLSearchParams({ SAMLResponse: response, RelayState: started.relayState }),
    });
    const next = new URL(page.headers.get('location')!, world.url);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(fragmentOf(await started.browser.follow(next, target()))['access_token']).toBeDefined();
    expect(problemOf(await started.browser.follow(next, `${world.url}/?`))).toBe(NOT_FOUND);
  });
});

describe('the relay state', () => {
  test.each(['', 'https://app.example/', 'x', '../..', '0'.repeat(36)])('%j is not accepted', async (relayState) => {
    const { id, browser } = await start();
    const url = await post({ relayState, browser }, await peer.respond(ourMetadata, { requestId: id }));
    expect(problemOf(url)).toBe('validation_failed: SAML RelayState is not a valid UUID or URL');
    expect(url.origin).toBe(world.url);
  });

  test('of an unknown flow and of a provider flow of another kind is not found', async () => {
    const { id, browser } = await start();
    const response = await peer.respond(ourMetadata, { requestId: id });
    const { rows } = await world.admin.query(
      `insert into auth.flows (method, redirect_to, expires_at) values ('oauth', $1, now() + interval '1 minute')
       returning id`,
      [target()],
    );
    for (const relayState of [randomUUID(), rows[0].id as string])
      expect(problemOf(await post({ relayState, browser }, response))).toBe(NOT_FOUND);
  });

  test('expires after five minutes', async () => {
    const started = await start();
    world.clock.advance(300_000);
    const response = await peer.respond(ourMetadata, { requestId: started.id });
    expect(problemOf(await post(started, response))).toBe(
      'saml_relay_state_expired: SAML RelayState has expired. Try logging in again?',
    );
    world.clock.advance(-300_000);
  });
});

describe('a response', () => {
  const base64 = (xml: string): string => Buffer.from(xml).toString('base64');
  const textOf = (response: string): string => Buffer.from(response, 'base64').toString();

  test('that is missing or not base64 is refused', async () => {
    expect(problemOf(await post(await start(), ''))).toBe('validation_failed: SAMLResponse is missing');
    for (const response of ['<xml/>', 'a'.repeat(400_000)])
      expect(problemOf(await post(await start(), response))).toBe(
        'validation_failed: SAMLResponse is not a valid Base64 string',
      );
  });

  test('is accepted once, also of ten at the same time', async () => {
    const started = await start({ code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' });
    const response = await peer.respond(ourMetadata, { requestId: started.id });
    const urls = await Promise.all(Array.from({ length: 10 }, () => post(started, response)));
    expect(urls.filter((url) => url.searchParams.has('code'))).toHaveLength(1);
    expect(problemOf(await post(started, response))).toBe(NOT_FOUND);
  });

  test('that failed once ends its flow', async () => {
    const started = await start();
    expect(problemOf(await post(started, base64('<x/>')))).toBe(INVALID);
    expect(problemOf(await post(started, await peer.respond(ourMetadata, { requestId: started.id })))).toBe(NOT_FOUND);
    const { rows } = await world.admin.query('select from auth.flows where id = $1', [started.relayState]);
    expect(rows).toHaveLength(0);
  });

  test("of another flow is refused, with either flow's relay state", async () => {
    const [first, second] = [await start(), await start()];
    const response = await peer.respond(ourMetadata, { requestId: first.id });
    expect(problemOf(await post(second, response))).toBe(INVALID);
    // The first flow still accepts its own response.
    expect(fragmentOf(await post(first, response))['access_token']).toBeDefined();
  });

  const wrong: [string, Overrides, Signing?][] = [
    ['for another audience', { audience: 'https://other.example/metadata' }],
    ['for another recipient', { recipient: 'https://other.example/acs' }],
    ['for another destination', { destination: 'https://other.example/acs' }],
    ['of another issuer', { issuer: 'https://other.example/metadata' }],
    ['that has expired', { notBefore: new Date(Date.now() - 600_000), notOnOrAfter: new Date(Date.now() - 120_000) }],
    [
      'that is not valid yet',
      { notBefore: new Date(Date.now() + 120_000), notOnOrAfter: new Date(Date.now() + 300_000) },
    ],
    ['with a failed status', { status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }],
    ['without a signature', {}, { sign: 'none' }],
    ['with a signed message but an unsigned assertion', {}, { sign: 'message' }],
    ['with a SHA-1 signature', {}, { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }],
    ['for another request', { requestId: '_0123456789abcdef' }],
    ['with a comment in the name', { nameId: 'ana@corp.example<!---->.evil.example' }],
    ['with a CDATA section in the name', { nameId: '<![CDATA[ana@corp.example]]>' }],
    ['with an element in the name', { nameId: 'ana@corp.example<saml:x/>.evil.example' }],
    ['without a name', { edit: (xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, '') }],
    ['with a transient name', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }],
    ['without an address', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' }],
    ['with no valid address', { nameId: 'ana' }],
    [
      'without confirmation',
      { edit: (xml) => xml.replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, '') },
    ],
    ['with another confirmation method', { edit: (xml) => xml.replace('cm:bearer', 'cm:holder-of-key') }],
    ['with an endless confirmation', { edit: (xml) => xml.replace(/(ConfirmationData) NotOnOrAfter="[^"]+"/, '$1') }],
    [
      'with an assertion for any request',
      { edit: (xml) => xml.replace(/(Recipient="[^"]+") InResponseTo="[^"]+"/, '$1') },
    ],
    ['without conditions', { edit: (xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, '') }],
    ['without an audience', { edit: (xml) => xml.replace(/<saml:AudienceRestriction.*Restriction>/, '') }],
    ['without an authentication', { edit: (xml) => xml.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, '') }],
    [
      'whose session at the identity provider has ended',
      { edit: (xml) => xml.replace('<saml:AuthnStatement', '$& SessionNotOnOrAfter="2026-01-01T00:00:00Z"') },
    ],
    ['that no request asked for', { edit: (xml) => xml.replaceAll(/ InResponseTo="[^"]+"/g, '') }],
  ];
  const SPECIAL: Record<string, string> = {
    'without a name': 'saml_assertion_no_user_id',
    'with a transient name': 'saml_assertion_no_user_id',
    'without an address': 'saml_assertion_no_email',
    'with no valid address': 'saml_assertion_no_email',
  };
  test.each(wrong)('%s is refused', async (what, fields, signing) => {
    const problem = problemOf(await signIn(fields, signing));
    if (SPECIAL[what]) expect(problem).toMatch(SPECIAL[what]);
    else expect(problem).toBe(INVALID);
  });

  test('signed with a key that is embedded in it is refused', async () => {
    const keys = await newKeyPair('idp.example');
    expect(problemOf(await signIn({}, { keys }))).toBe(INVALID);
    expect(problemOf(await signIn({}, { keys, sign: 'both' }))).toBe(INVALID);
  });

  test('of another identity provider of ours is refused', async () => {
    const other = await createSamlPeer('third.example');
    await addProvider({ metadataXml: other.metadata });
    for (const issuer of [other.entityId, peer.entityId]) {
      const started = await start();
      const response = await other.respond(ourMetadata, { requestId: started.id, issuer });
      expect(problemOf(await post(started, response))).toBe(INVALID);
    }
  });

  test("is refused once its assertion has expired by the server's clock", async () => {
    world.clock.advance(200_000);
    const started = await start();
    const fields = { requestId: started.id, notOnOrAfter: new Date(Date.now() + 130_000) };
    expect(problemOf(await post(started, await peer.respond(ourMetadata, fields)))).toBe(INVALID);
    world.clock.advance(-200_000);
  });

  describe('that was changed after it was signed', () => {
    const changes: [string, (xml: string) => string][] = [
      ['in its name', (xml) => xml.replace('>ana@corp.example<', '>boss@corp.example<')],
      ['in its format', (xml) => xml.replace('emailAddress"', 'unspecified"')],
      ['in its audience', (xml) => xml.replace('<saml:Audience>', '<saml:Audience> ')],
      ['in its end', (xml) => xml.replace(/(<saml:Conditions [^>]*NotOnOrAfter=")\d{4}/, '$12099')],
      [
        'by an attribute',
        (xml) =>
          xml.replace(
            '</saml:AuthnStatement>',
            `$&<saml:AttributeStatement>${attribute('mail', 'x@y.z')}</saml:AttributeStatement>`,
          ),
      ],
      ['by a comment', (xml) => xml.replace('>ana@corp.example<', '>ana@corp.example<!-- -->.evil.example<')],
      ['by its signature going', (xml) => xml.replace(/<ds:Signature.*<\/ds:Signature>/s, '')],
      ['by another digest', (xml) => xml.replace(/(?<=<ds:DigestValue>)./, (first) => (first === 'A' ? 'B' : 'A'))],
      ['by an empty reference', (xml) => xml.replace(/URI="#[^"]+"/, 'URI=""')],
      [
        'by an added transform',
        (xml) =>
          xml.replace(
            '</ds:Transforms>',
            '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>false()</ds:XPath></ds:Transform></ds:Transforms>',
          ),
      ],
      ['by a document type', (xml) => `<!DOCTYPE x>${xml}`],
      [
        'by an internal entity',
        (xml) => `<!DOCTYPE x [<!ENTITY boss "boss@corp.example">]>${xml.replace('>ana@corp.example<', '>&boss;<')}`,
      ],
      [
        'by an external entity',
        (xml) =>
          `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml.replace('ana@', '&e;@')}`,
      ],
      [
        'by a billion laughs',
        (xml) => {
          const entities = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
            '',
          );
          return `<!DOCTYPE x [<!ENTITY l0 "ha">${entities}]>${xml.replace('ana@', '&l9;@')}`;
        },
      ],
      ['by a processing instruction', (xml) => xml.replace('<samlp:Status>', '<?php x ?>$&')],
      ['by text after the end', (xml) => `${xml}<x/>`],
      ['by being cut', (xml) => xml.slice(0, -20)],
    ];
    test.each(changes)('%s is refused', async (_, change) => {
      for (const sign of ['assertion', 'both'] as const) {
        const started = await start();
        const xml = textOf(await peer.respond(ourMetadata, { requestId: started.id }, { sign }));
        const changed = change(xml);
        expect(changed).not.toBe(xml);
        expect(problemOf(await post(started, base64(changed)))).toBe(INVALID);
      }
    });
  });

  test('with any edit never signs in as somebody else', async () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat({ max: 60 }),
      added: fc.oneof(
        fc.string({ maxLength: 10 }),
        fc.constantFrom('boss@corp.example', '<!---->', '<saml:NameID>boss@corp.example</saml:NameID>', 'ID="_x" '),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const started = await start();
        let xml = textOf(await peer.respond(ourMetadata, { requestId: started.id }));
        for (const { at, cut, added } of edits) {
          const index = Math.floor(at * xml.length);
          xml = xml.slice(0, index) + added + xml.slice(index + cut);
        }
        const url = await post(started, base64(xml));
        // An edit of what is not signed, such as white space at the end, changes nothing.
        if (fragmentOf(url)['access_token'] !== undefined) expect((await userOf(url)).email).toBe('ana@corp.example');
        else expect(problemOf(url)).toBe(INVALID);
      }),
      { numRuns: fuzzBudget(80) },
    );
  });

  describe('with a wrapped signature', () => {
    /** The parts of a signed response. */
    const parts = (xml: string) => {
      const assertion = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)![0];
      const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(assertion)![0];
      const unsigned = assertion.replace(signature, '');
      const forged = unsigned.replace('>ana@corp.example<', '>boss@corp.example<');
      return { assertion, signature, unsigned, forged, forgedId: forged.replace(/ ID="[^"]+"/, ' ID="_forged"') };
    };
    const wrap = (xml: string, before: string, after: string): string =>
      xml.replace(parts(xml).assertion, () => before + parts(xml).assertion + after);
    const replace = (xml: string, assertion: string): string => xml.replace(parts(xml).assertion, () => assertion);

    const attacks: [string, (xml: string) => string][] = [
      ['a forged assertion before the signed one', (xml) => wrap(xml, parts(xml).forgedId, '')],
      ['a forged assertion after the signed one', (xml) => wrap(xml, '', parts(xml).forgedId)],
      ['a forged assertion with the same id', (xml) => wrap(xml, parts(xml).forged, '')],
      [
        'the signed assertion within the forged one',
        (xml) =>
          replace(
            xml,
            parts(xml).forgedId.replace('</saml:Assertion>', () => `${parts(xml).assertion}</saml:Assertion>`),
          ),
      ],
      [
        'the signed assertion within the signature of the forged one',
        (xml) => {
          const { forgedId, signature, unsigned } = parts(xml);
          const wrapping = signature.replace(
            '</ds:Signature>',
            () => `<ds:Object>${unsigned}</ds:Object></ds:Signature>`,
          );
          return replace(
            xml,
            forgedId.replace('</saml:Issuer>', () => `</saml:Issuer>${wrapping}`),
          );
        },
      ],
      [
        'the signature moved to the forged assertion, with the signed one as a sibling',
        (xml) => {
          const { forgedId, signature, unsigned } = parts(xml);
          return replace(xml, forgedId.replace('</saml:Issuer>', () => `</saml:Issuer>${signature}`) + unsigned);
        },
      ],
      [
        'the signed assertion in an extension of the response',
        (xml) =>
          replace(xml, parts(xml).forgedId).replace(
            '<samlp:Status>',
            () => `<samlp:Extensions>${parts(xml).assertion}</samlp:Extensions><samlp:Status>`,
          ),
      ],
      [
        'the signed assertion in the confirmation data',
        (xml) =>
          replace(
            xml,
            parts(xml).forgedId.replace(
              /(<saml:SubjectConfirmationData[^>]*)\/>/,
              (_, open: string) => `${open}>${parts(xml).assertion}</saml:SubjectConfirmationData>`,
            ),
          ),
      ],
      [
        'a whole signed response within a forged one',
        (xml) => replace(xml, parts(xml).forgedId).replace('</samlp:Response>', () => `<x>${xml}</x></samlp:Response>`),
      ],
      [
        'a forged assertion in another namespace',
        (xml) =>
          wrap(xml, parts(xml).forgedId.replaceAll('saml:', 'evil:').replace('ID=', 'xmlns:evil="urn:evil" ID='), ''),
      ],
      [
        'a second name beside the signed one',
        (xml) => xml.replace(/<saml:NameID/, '<saml:NameID>boss@corp.example</saml:NameID>$&'),
      ],
      [
        'a second signature',
        (xml) => xml.replace(parts(xml).signature, () => parts(xml).signature + parts(xml).signature),
      ],
    ];
    test.each(attacks)('%s is refused', async (_, attack) => {
      const started = await start();
      const xml = textOf(await peer.respond(ourMetadata, { requestId: started.id }));
      const attacked = attack(xml);
      expect(attacked).not.toBe(xml);
      expect(problemOf(await post(started, base64(attacked)))).toBe(INVALID);
    });
  });

  test('writes why it was refused to the audit log', async () => {
    await signIn({}, { sign: 'none' });
    const { rows } = await world.admin.query('select * from auth.audit_log order by id desc limit 1');
    expect(rows[0]).toMatchObject({
      event: 'sign_in_failed',
      actor: 'guest',
      user_id: null,
      details: { method: 'sso/saml', provider: `sso:${provider.id}`, reason: 'validation_failed' },
    });
  });
});

describe('the administration', () => {
  const path = '/admin/sso/providers';

  test.each([
    ['GET', path],
    ['POST', path],
    ['GET', `${path}/no-uuid`],
    ['PUT', `${path}/no-uuid`],
    ['DELETE', `${path}/no-uuid`],
  ])('opens %s %s to a service token alone', async (method, address) => {
    const token = fragmentOf(await signIn())['access_token']!;
    const body = method === 'GET' ? {} : { body: {} };
    const answers = [
      await world.request(method, address, body),
      await world.request(method, address, { ...body, token }),
    ];
    expect(answers.map(({ body: { code } }) => code)).toEqual(['no_authorization', 'not_admin']);
  });

  test('sets up a provider that signs in, changes it and deletes it', async () => {
    const [token, other, domain] = [
      await world.serviceToken(),
      await createSamlPeer('fourth.example'),
      'fourth.example',
    ];
    const body = { type: 'saml', metadata_xml: other.metadata, domains: [domain] };
    const created = await world.request('POST', path, { token, body });
    expect([created.status, created.body]).toMatchObject([201, { disabled: false, domains: [{ domain }] }]);
    const address = `${path}/${created.body.id}`;
    expect((await world.request('GET', address, { token })).body).toEqual(created.body);
    const { items } = (await world.request('GET', path, { token })).body;
    const { metadata_xml: _, ...saml } = created.body.saml;
    expect(items).toContainEqual({ ...created.body, saml });

    const started = await start({ domain });
    const url = await post(started, await other.respond(ourMetadata, { requestId: started.id }));
    expect((await userOf(url)).app_metadata.provider).toBe(`sso:${created.body.id}`);

    const attribute_mapping = { keys: { name: { name: 'cn' } } };
    const changed = await world.request('PUT', address, { token, body: { disabled: true, attribute_mapping } });
    expect(changed.body).toMatchObject({ disabled: true, saml: { attribute_mapping }, domains: [{ domain }] });
    expect((await world.request('POST', '/sso', { body: { domain } })).body.code).toBe('sso_provider_disabled');
    expect((await world.request('DELETE', address, { token })).body.id).toBe(created.body.id);
    for (const [method, id] of ['GET', 'PUT', 'DELETE'].flatMap((name) => [
      [name, created.body.id],
      [name, 'mine'],
    ])) {
      const answer = await world.request(method, `${path}/${id}`, { token, ...(method === 'PUT' && { body: {} }) });
      expect([answer.status, answer.body]).toEqual([
        404,
        { code: 'sso_provider_not_found', message: 'SSO Identity Provider not found' },
      ]);
    }
    const { rows } = await world.admin.query(
      "select event, actor from auth.audit_log where details ->> 'provider' = $1 order by id",
      [created.body.id],
    );
    expect(rows).toEqual(
      ['created', 'changed', 'deleted'].map((what) => ({ event: `sso_provider_${what}`, actor: 'service' })),
    );
  });

  test('refuses an entity or a domain of another provider', async () => {
    const token = await world.serviceToken();
    const [one, two] = await Promise.all([createSamlPeer('fifth.example'), createSamlPeer('sixth.example')]);
    const create = (metadata_xml: string, domains: string[]) =>
      world.request('POST', path, { token, body: { type: 'saml', metadata_xml, domains } });
    const { body: first } = await create(one.metadata, ['shared.example']);
    expect((await create(one.metadata, [])).body.code).toBe('saml_idp_already_exists');
    expect((await create(two.metadata, ['shared.example'])).body.code).toBe('sso_domain_already_exists');
    const renamed = await world.request('PUT', `${path}/${first.id}`, { token, body: { metadata_xml: two.metadata } });
    expect([renamed.status, renamed.body.code]).toEqual([400, 'saml_entity_id_mismatch']);
  });

  test.each([
    [{}, "validation_failed: Only 'saml' supported for SSO provider type"],
    [{ type: 'oidc' }, "validation_failed: Only 'saml' supported for SSO provider type"],
    [{ type: 'saml' }, 'validation_failed: metadata_xml must be set'],
    [
      { type: 'saml', metadata_url: 'http://169.254.169.254/' },
      'validation_failed: metadata_url is not supported: send its content as metadata_xml',
    ],
    [
      { type: 'saml', metadata_xml: '<x/>', domains: ['a.example', 7] },
      'bad_json: Could not parse request body as JSON: domains must be a list of strings',
    ],
    [
      { type: 'saml', metadata_xml: '<x/>', domains: 'a.example' },
      'bad_json: Could not parse request body as JSON: domains must be a list of strings',
    ],
    [
      { type: 'saml', metadata_xml: '<!DOCTYPE x><x/>' },
      'validation_failed: SAML Metadata is not valid: the document has forbidden markup',
    ],
  ])('refuses %j', async (body, problem) => {
    const answer = await world.request('POST', path, { token: await world.serviceToken(), body });
    expect([answer.status, `${answer.body.code}: ${answer.body.message}`]).toEqual([400, problem]);
  });
});

describe("the sandbox's identity provider", () => {
  const openSandbox = () =>
    createSamlApp({ publicUrl: world.config.publicUrl, keyFolder: join(folder, 'sandbox') }).then(({ app }) => app);
  const readRegistration = async (app: Awaited<ReturnType<typeof openSandbox>>) =>
    (await app.request('/sandbox/saml/registration')).json();

  test('is registered once, keeps its key, and is changed with its metadata', async () => {
    const registration = await readRegistration(await openSandbox());
    await registerSsoProvider(world.config, world.database, registration);
    await registerSsoProvider(world.config, world.database, await readRegistration(await openSandbox()));
    const moved = { ...registration, metadata_xml: registration.metadata_xml.replace('/sandbox/', '/moved/') };
    await registerSsoProvider(world.config, world.database, moved);
    await registerSsoProvider(world.config, world.database, registration);
    const { rows } = await world.admin.query(
      `select event from auth.audit_log where details->>'entity_id' = 'https://sso.example/metadata' order by id`,
    );
    expect(rows.map(({ event }) => event)).toEqual([
      'sso_provider_created',
      'sso_provider_changed',
      'sso_provider_changed',
    ]);
  });

  /** Starts a sign-in and posts the choice on the consent page. Returns the fields that the browser posts to us. */
  async function choose(choice: Record<string, string>) {
    const app = await openSandbox();
    await registerSsoProvider(world.config, world.database, await readRegistration(app));
    const browser = new Browser();
    const started = await browser.open(`${world.url}/auth/v1/sso`, {
      method: 'POST',
      body: JSON.stringify({ domain: 'sso.example', redirect_to: target(), skip_http_redirect: true }),
    });
    const { url } = JSON.parse(started.text) as { url: string };
    expect(await (await app.request(url)).text()).toContain('value="ben@sso.example"');
    const html = await (await app.request(url, { method: 'POST', body: new URLSearchParams(choice) })).text();
    const fieldOf = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(html)![1]!;
    return { url, app, browser, relayState: fieldOf('RelayState'), response: fieldOf('SAMLResponse') };
  }

  test.each([
    [{ account: 'ben@sso.example' }, { email: 'ben@sso.example', user_metadata: { name: 'Ben Baker' } }],
    [{ email: "o'hara@other.example" }, { email: "o'hara@other.example", user_metadata: { name: "o'hara" } }],
  ])('signs the visitor in that chose %j', async (choice, user) => {
    const chosen = await choose(choice);
    expect(await userOf(await post(chosen, chosen.response))).toMatchObject(user);
  });

  test('refuses a sign-in that the visitor denied', async () => {
    const denied = await choose({ deny: 'on' });
    expect(problemOf(await post(denied, denied.response))).toBe(INVALID);
  });

  test('shows an error for a request that this server has not signed', async () => {
    const { app, url } = await choose({ deny: 'on' });
    for (const wrong of [url.replace('RelayState=', 'RelayState=0'), url.replace(/&Signature=.*/, '')]) {
      expect((await app.request(wrong)).status).toBe(400);
    }
  });
});

describe('switched off', () => {
  test('every path answers saml_provider_disabled', async () => {
    const off = await startAuthWorld();
    for (const [method, path] of [
      ['POST', '/sso'],
      ['GET', '/sso/saml/metadata'],
      ['POST', '/sso/saml/acs'],
      ['GET', '/sso/saml/continue'],
    ] as const) {
      const { status, body } = await off.request(method, path, method === 'POST' ? { body: {} } : {});
      expect([status, body]).toEqual([404, { code: 'saml_provider_disabled', message: 'SAML 2.0 is disabled' }]);
    }
    await off.close();
  });
});
