/** Signing in with a provider over OpenID Connect (docs/specification/api.md 27), with an independent provider. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import fc from 'fast-check';
import { Events } from 'oauth2-mock-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimProviderFlow } from '#server/auth/sessions/flows.ts';
import { forwardedParameters, parseScopes } from '#server/auth/providers/start-flow.ts';
import { queryText } from '../../../support/unicode-text.ts';
import { Browser, fragmentOf } from './browser.ts';
import { newAddress, PASSWORD, startAuthWorld, type AuthWorld } from '../fixture.ts';
import { PEER_CLIENT_ID, startOidcPeer, type OidcPeer } from './oidc-peer.ts';

let peer: OidcPeer;
let world: AuthWorld;
beforeAll(async () => {
  peer = await startOidcPeer();
  world = await startAuthWorld({ ...peer.settings, AUTH_AUTOCONFIRM: 'off' });
});
afterAll(async () => {
  await world.close();
  await peer.close();
});

/** The account that is signed in at the provider. */
const account = () => ({ sub: randomUUID(), email: newAddress(), email_verified: true, name: 'Ana' });
beforeEach(() => {
  peer.claims = account();
});

const target = () => `${world.url}/journal?from=test`;
const authorizeUrl = (parameters: Record<string, string> = {}): string =>
  `${world.url}/auth/v1/authorize?${new URLSearchParams({ provider: 'peer', redirect_to: target(), ...parameters }).toString()}`;

/** Signs in with the implicit flow and returns the address that the client is opened at. */
const signIn = (browser = new Browser(), parameters: Record<string, string> = {}): Promise<URL> =>
  browser.follow(authorizeUrl(parameters), `${world.url}/journal`);

const newChallenge = () => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

/** Stops at the callback, the URL that the provider redirects the browser to. */
const startAtProvider = (browser: Browser, parameters: Record<string, string> = {}): Promise<URL> =>
  browser.follow(authorizeUrl(parameters), `${world.url}/auth/v1/callback`);

async function passwordAccount(email: string, { confirmed }: { confirmed: boolean }): Promise<string> {
  await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
  if (confirmed)
    await world.admin.query(
      'update auth.users set email_confirmed_at = now(), email_proven_at = now() where email = $1',
      [email],
    );
  const { rows } = await world.admin.query('select id from auth.users where email = $1', [email]);
  return String(rows[0].id);
}

const userOf = async (url: URL) => {
  const token = fragmentOf(url)['access_token']!;
  const { status, body } = await world.request('GET', '/user', { token });
  expect(status, url.href).toBe(200);
  return body;
};

const signInWithPassword = (email: string) =>
  world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });

describe('the implicit flow', () => {
  test('returns a session in the fragment and creates the account', async () => {
    const url = await signIn();
    expect(url.search).toBe('?from=test');
    const fields = fragmentOf(url);
    expect(Object.keys(fields)).toEqual([
      'access_token',
      'expires_at',
      'expires_in',
      'provider_refresh_token',
      'provider_token',
      'refresh_token',
      'sb',
      'token_type',
    ]);
    const user = await userOf(url);
    expect(user).toMatchObject({
      email: peer.claims['email'],
      app_metadata: { provider: 'peer', providers: ['peer'] },
      user_metadata: { full_name: 'Ana', name: 'Ana', email_verified: true, sub: peer.claims['sub'] },
    });
    expect(user.identities).toMatchObject([
      {
        provider: 'peer',
        id: peer.claims['sub'],
        identity_data: { iss: peer.issuer, provider_id: peer.claims['sub'] },
      },
    ]);
    const claims = JSON.parse(Buffer.from(fields['access_token']!.split('.')[1]!, 'base64url').toString());
    expect(claims.amr).toMatchObject([{ method: 'oauth', provider: 'peer' }]);
    const renewed = await world.request('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: fields['refresh_token'] },
    });
    expect(renewed.status).toBe(200);
  });

  test('opens the same account at the next sign-in', async () => {
    const first = await userOf(await signIn());
    peer.claims = { ...peer.claims, email: newAddress(), name: 'Ana B.' };
    const second = await userOf(await signIn());
    expect(second.id).toBe(first.id);
    expect(second.email).toBe(first.email);
  });

  test('undoes a pending deletion and tells the owner', async () => {
    const { id } = await userOf(await signIn());
    await world.admin.query("update auth.users set deletion_due_at = now() + interval '1 hour' where id = $1", [id]);
    await signIn();
    const { rows } = await world.admin.query('select deletion_due_at from auth.users where id = $1', [id]);
    expect(rows).toEqual([{ deletion_due_at: null }]);
    expect((await world.waitForMail(String(peer.claims['email']))).subject).toContain('deleted');
  });

  test('sends the owner a notice for each browser that has not signed in before', async () => {
    const email = String(peer.claims['email']);
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
      await signIn(browser);
      await world.waitForSignInNotices(email, count);
    }
  });

  test('the redirect to the provider carries state, nonce, PKCE and the requested scopes, and nothing is cached', async () => {
    const parameters = { scopes: 'calendar.read,"bad openid', prompt: 'select_account', login_hint: 'ana' };
    const page = await new Browser().open(
      authorizeUrl({
        ...parameters,
        redirect_uri: 'https://evil.example',
        state: 'x',
        client_id: 'evil',
        nonce: 'mine',
      }),
    );
    expect(page.status).toBe(302);
    expect(page.headers.get('cache-control')).toBe('no-store');
    const url = new URL(page.headers.get('location')!);
    expect(url.origin).toBe(peer.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: PEER_CLIENT_ID,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      login_hint: 'ana',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      prompt: 'select_account',
      redirect_uri: `${world.url}/auth/v1/callback`,
      response_type: 'code',
      scope: 'openid email profile calendar.read',
      state: expect.stringMatching(/^[\da-f-]{36}$/),
    });
  });

  test('a redirect target on another site is replaced by PUBLIC_URL', async () => {
    for (const redirectTo of ['https://evil.example/', 'javascript:alert(1)', `${world.url}@evil.example/`]) {
      const url = await new Browser().follow(authorizeUrl({ redirect_to: redirectTo }), `${world.url}/#`);
      expect(url.origin).toBe(world.url);
      expect(fragmentOf(url)['access_token']).toBeDefined();
    }
  });
});

describe('the PKCE flow', () => {
  const memory = () => {
    const items = new Map<string, string>();
    return {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
      removeItem: (key: string) => void items.delete(key),
    };
  };
  const pkceClient = () =>
    createClient(world.url, world.config.publishableKey, {
      auth: { flowType: 'pkce', storage: memory(), autoRefreshToken: false, detectSessionInUrl: false },
    });

  test('the real client exchanges the code once, and gets the tokens of the provider', async () => {
    const client = pkceClient();
    const { data } = await client.auth.signInWithOAuth({
      provider: 'peer' as 'google',
      options: { redirectTo: target() },
    });
    const url = await new Browser().follow(data.url!, `${world.url}/journal`);
    expect(url.hash).toBe('');
    expect(url.searchParams.get('from')).toBe('test');
    const code = url.searchParams.get('code')!;
    const stranger = pkceClient();
    await stranger.auth.signInWithOAuth({ provider: 'peer' as 'google' });
    expect((await stranger.auth.exchangeCodeForSession(code)).error).toMatchObject({ code: 'bad_code_verifier' });
    const { data: exchanged, error } = await client.auth.exchangeCodeForSession(code);
    expect(error).toBeNull();
    expect(exchanged.user?.email).toBe(peer.claims['email']);
    expect(exchanged.session?.provider_token).toBeTruthy();
    expect(exchanged.session?.provider_refresh_token).toBeTruthy();
    const { verifier } = newChallenge();
    const again = await world.request('POST', '/token?grant_type=pkce', {
      body: { auth_code: code, code_verifier: verifier },
    });
    expect(again.body).toMatchObject({ code: 'flow_state_not_found' });
  });

  test('the provider tokens are sealed in the database', async () => {
    const { challenge } = newChallenge();
    await signIn(new Browser(), { code_challenge: challenge, code_challenge_method: 's256' });
    const { rows } = await world.admin.query('select provider_secrets from auth.flows where code_challenge = $1', [
      challenge,
    ]);
    const stored = (rows[0].provider_secrets as Buffer).toString('latin1');
    expect(stored).not.toMatch(/provider_token|eyJ/);
  });

  test('a client may continue in another process, because only the verifier proves the client', async () => {
    const { challenge, verifier } = newChallenge();
    const parameters = { code_challenge: challenge, code_challenge_method: 's256' };
    const callback = await startAtProvider(new Browser(), parameters);
    const url = await new Browser().follow(callback, `${world.url}/journal`);
    const { status } = await world.request('POST', '/token?grant_type=pkce', {
      body: { auth_code: url.searchParams.get('code'), code_verifier: verifier },
    });
    expect(status).toBe(200);
  });

  test('an incomplete challenge is refused before the browser leaves', async () => {
    const { status, body } = await world.request('GET', '/authorize?provider=peer&code_challenge=abc');
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_failed' });
  });
});

describe('linking by address', () => {
  test('a verified address opens the confirmed account, whose owner is told by mail', async () => {
    const email = String(peer.claims['email']);
    const id = await passwordAccount(email, { confirmed: true });
    const user = await userOf(await signIn());
    expect(user.id).toBe(id);
    expect(user.app_metadata).toEqual({ provider: 'email', providers: ['email', 'peer'] });
    expect((await signInWithPassword(email)).status).toBe(200);
    expect((await world.waitForMail(email, 2)).subject).toBe('Peer can now sign you in');
  });

  test('the proven owner of an unconfirmed account evicts the stranger who signed up with the address', async () => {
    const email = String(peer.claims['email']);
    const id = await passwordAccount(email, { confirmed: false });
    const user = await userOf(await signIn());
    expect(user.id).toBe(id);
    expect(user.identities).toHaveLength(1);
    expect((await signInWithPassword(email)).body).toMatchObject({ code: 'invalid_credentials' });
    // The link of the stranger's sign-up mail is void as well.
    const link = new URL((await world.waitForMail(email)).links[0]!);
    const verified = await world.request('POST', '/verify', {
      body: { type: 'email', token_hash: link.searchParams.get('token_hash') },
    });
    expect(verified.body).toMatchObject({ code: 'otp_expired' });
  });

  test.each([
    ['unverified', { email_verified: false }],
    ['of unknown verification', { email_verified: undefined }],
    ['verified only in words', { email_verified: 'yes' }],
  ])('an address %s opens no account, and the answer is that of a free address', async (_, claims) => {
    const taken = newAddress();
    await passwordAccount(taken, { confirmed: true });
    peer.claims = { ...account(), ...claims, email: taken };
    const refused = await signIn();
    peer.claims = { ...account(), ...claims };
    const free = await signIn();
    for (const url of [refused, free]) {
      expect(fragmentOf(url)).toEqual({
        error: 'access_denied',
        error_code: 'provider_email_needs_verification',
        error_description: 'Unverified email with peer. A confirmation email has been sent to that address',
        sb: '',
      });
      expect(url.searchParams.get('error_code')).toBe('provider_email_needs_verification');
    }
    expect((await world.waitForMail(taken, 2)).subject).toBe('You already have an account');
  });

  test('an unverified address signs in once its owner has confirmed it by mail', async () => {
    peer.claims = { ...account(), email_verified: false };
    await signIn();
    const mail = await world.waitForMail(String(peer.claims['email']));
    const hash = new URL(mail.links[0]!).searchParams.get('token_hash');
    const verified = await world.request('POST', '/verify', { body: { type: 'email', token_hash: hash } });
    expect(verified.status).toBe(200);
    const user = await userOf(await signIn());
    expect(user.id).toBe(verified.body.user.id);
    expect(user.app_metadata.providers.toSorted()).toEqual(['email', 'peer']);
  });

  test("an unverified claim of an address does not survive the owner's sign-up", async () => {
    peer.claims = { ...account(), email_verified: false };
    const email = String(peer.claims['email']);
    await signIn();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
    const hash = new URL((await world.waitForMail(email, 2)).links[0]!).searchParams.get('token_hash');
    const verified = await world.request('POST', '/verify', { body: { type: 'email', token_hash: hash } });
    expect(verified.body.user.identities).toMatchObject([{ provider: 'email' }]);
    expect(verified.body.user.app_metadata).toEqual({ provider: 'email', providers: ['email'] });
    expect(fragmentOf(await signIn())).toMatchObject({ error_code: 'provider_email_needs_verification' });
  });

  test('a look-alike of an address opens no account', async () => {
    const email = `kelvin-${randomUUID()}@example.com`;
    await passwordAccount(email, { confirmed: true });
    for (const lookAlike of [email.replace('k', '\u212a'), email.replace('e', '\u0435'), email.replace('@', '＠')]) {
      peer.claims = { ...account(), email: lookAlike };
      expect(fragmentOf(await signIn())).toMatchObject({
        error: 'server_error',
        error_code: 'unexpected_failure',
        error_description: 'Error getting user email from external provider',
      });
    }
  });

  describe('with an invitation', () => {
    const invite = async (email: string) => {
      const id = await passwordAccount(email, { confirmed: false });
      const token = randomBytes(32).toString('base64url');
      await world.admin.query(
        `insert into auth.one_time_tokens (user_id, purpose, address, link_hash, code_hash, expires_at)
         values ($1, 'invite', $2, $3, sha256('1'), now() + interval '1 hour')`,
        [id, email, createHash('sha256').update(token).digest()],
      );
      return { id, token };
    };

    test('the mail proves the address that the provider has not verified, once', async () => {
      const email = newAddress();
      const { id, token } = await invite(email);
      peer.claims = { ...account(), email, email_verified: false };
      const user = await userOf(await signIn(new Browser(), { invite_token: token }));
      expect(user.id).toBe(id);
      const again = await world.request('GET', `/authorize?provider=peer&invite_token=${token}`);
      expect({ status: again.status, code: again.body.code }).toEqual({ status: 403, code: 'otp_expired' });
    });

    test('another unverified address is not proven', async () => {
      const { token } = await invite(newAddress());
      const victim = newAddress();
      await passwordAccount(victim, { confirmed: true });
      peer.claims = { ...account(), email: victim, email_verified: false };
      expect(fragmentOf(await signIn(new Browser(), { invite_token: token }))).toMatchObject({
        error_code: 'provider_email_needs_verification',
      });
    });
  });

  test('a banned user is not signed in', async () => {
    const user = await userOf(await signIn());
    await world.admin.query("update auth.users set banned_until = now() + interval '1 day' where id = $1", [user.id]);
    expect(fragmentOf(await signIn())).toMatchObject({ error: 'access_denied', error_code: 'user_banned' });
  });
});

describe('the callback', () => {
  const callback = (parameters: Record<string, string>, browser = new Browser()) =>
    browser.open(`${world.url}/auth/v1/callback?${new URLSearchParams(parameters).toString()}`);
  const errorOf = (location: string | null) => fragmentOf(new URL(location!));

  test.each([
    ['no state', {}, 'bad_oauth_callback', 'OAuth state parameter missing'],
    ['a malformed state', { state: "' or 1=1" }, 'bad_oauth_state', 'OAuth state is invalid'],
    ['an unknown state', { state: randomUUID() }, 'bad_oauth_state', 'OAuth state not found or expired'],
  ])('with %s redirects to the site with an error', async (_, parameters, code, description) => {
    const page = await callback({ code: 'x', ...parameters });
    expect(page.status).toBe(303);
    const url = new URL(page.headers.get('location')!);
    expect(url.origin).toBe(world.url);
    const fields = { error: 'invalid_request', error_code: code, error_description: description };
    expect(fragmentOf(url)).toEqual({ ...fields, sb: '' });
    expect(Object.fromEntries(url.searchParams)).toEqual(fields);
  });

  test('of a flow of another browser is refused, in both directions', async () => {
    const [attacker, victim] = [new Browser(), new Browser()];
    const attackersCallback = await startAtProvider(attacker);
    const foreign = await victim.open(attackersCallback);
    expect(errorOf(foreign.headers.get('location'))).toMatchObject({ error_code: 'bad_oauth_state' });
    // Also when the victim has a flow, and so a cookie, of their own.
    const victimsCallback = await startAtProvider(victim);
    expect(errorOf((await victim.open(attackersCallback)).headers.get('location'))).toMatchObject({
      error_code: 'bad_oauth_state',
    });
    // A refused attempt of another browser does not use up the flow.
    expect(errorOf((await attacker.open(attackersCallback)).headers.get('location'))['access_token']).toBeDefined();
    const swapped = new URL(victimsCallback);
    swapped.searchParams.set('code', (await startAtProvider(attacker)).searchParams.get('code')!);
    expect(errorOf((await victim.open(swapped)).headers.get('location'))).toMatchObject({
      error: 'server_error',
      error_description: 'Unable to exchange external code',
    });
  });

  test('is accepted once, also of concurrent copies', async () => {
    const browser = new Browser();
    const url = await startAtProvider(browser);
    const pages = await Promise.all([browser.open(url), browser.open(url), browser.open(url)]);
    const results = pages.map((page) => errorOf(page.headers.get('location')));
    expect(results.filter((fields) => fields['access_token'] !== undefined)).toHaveLength(1);
    const codes = new Set(results.flatMap((fields) => fields['error_code'] ?? []));
    for (const code of codes) expect(['flow_state_already_used', 'bad_oauth_state']).toContain(code);
  });

  test('of a flow is claimed by one of several processes', async () => {
    const state = (await startAtProvider(new Browser())).searchParams.get('state')!;
    const service = world.database.asService('test');
    const claims = await Promise.all([1, 2, 3].map(() => claimProviderFlow(service, state, new Date())));
    expect(claims.filter((flow) => flow !== null)).toHaveLength(1);
    const later = new Date(Date.now() + 301_000);
    const expired = (await startAtProvider(new Browser())).searchParams.get('state')!;
    expect(await claimProviderFlow(service, expired, later)).toBeNull();
  });

  test('after the flow has expired is refused', async () => {
    const browser = new Browser();
    const url = await startAtProvider(browser);
    await world.admin.query("update auth.flows set expires_at = now() - interval '1 second' where id = $1", [
      url.searchParams.get('state'),
    ]);
    expect(errorOf((await browser.open(url)).headers.get('location'))).toMatchObject({
      error_description: 'OAuth state has expired',
    });
  });

  test('of a mail flow is refused', async () => {
    const { rows } = await world.admin.query(
      "insert into auth.flows (method, redirect_to, expires_at) values ('magiclink', $1, now() + interval '1 hour') returning id",
      [world.url],
    );
    const page = await callback({ state: rows[0].id, code: 'x' });
    expect(errorOf(page.headers.get('location'))).toMatchObject({ error_code: 'bad_oauth_state' });
  });

  test('returns the error of the provider to the client', async () => {
    const browser = new Browser();
    const url = await startAtProvider(browser);
    const denied = new URL(url);
    denied.search = new URLSearchParams({
      state: url.searchParams.get('state')!,
      error: 'access_denied',
      error_description: 'The user said\u0000 no <script>',
    }).toString();
    const page = await browser.open(denied);
    expect(page.status).toBe(302);
    const location = new URL(page.headers.get('location')!);
    expect(location.pathname).toBe('/journal');
    expect(location.searchParams.get('from')).toBe('test');
    expect(fragmentOf(location)).toEqual({
      error: 'access_denied',
      error_code: 'access_denied',
      error_description: 'The user said no <script>',
      sb: '',
    });
  });

  test('without a code is refused', async () => {
    const browser = new Browser();
    const url = await startAtProvider(browser);
    url.searchParams.delete('code');
    expect(errorOf((await browser.open(url)).headers.get('location'))).toMatchObject({
      error_code: 'bad_oauth_callback',
    });
  });

  test('as a form post works, although the cookie only comes with the following GET', async () => {
    const browser = new Browser();
    const url = await startAtProvider(browser);
    const body = new URLSearchParams({ ...Object.fromEntries(url.searchParams), redirect_uri: 'https://evil.example' });
    const posted = await new Browser().open(`${world.url}/auth/v1/callback`, { method: 'POST', body });
    expect(posted.status).toBe(303);
    const next = new URL(posted.headers.get('location')!, world.url);
    expect([...next.searchParams.keys()]).toEqual(['code', 'state']);
    expect(errorOf((await browser.open(next)).headers.get('location'))['access_token']).toBeDefined();
  });
});

describe('a provider that returns forged answers', () => {
  const failed = { error: 'server_error', error_code: 'unexpected_failure' };
  const now = () => Math.floor(Date.now() / 1000);

  test.each([
    ['another audience', { aud: 'another-client' }],
    ['a second audience without an authorized party', { aud: [PEER_CLIENT_ID, 'another-client'] }],
    ['another authorized party', { azp: 'another-client' }],
    ['another issuer', { iss: 'https://accounts.google.com' }],
    ['another nonce', { nonce: 'stolen' }],
    ['no nonce', { nonce: undefined }],
    ['an expired lifetime', { exp: now() - 3_600, iat: now() - 7_200 }],
    ['no expiry', { exp: undefined }],
    ['no subject', { sub: '' }],
    ['a subject that cannot be stored', { sub: 'a\u0000b' }],
    ['an endless subject', { sub: 'a'.repeat(256) }],
  ])('an ID token with %s is refused', async (_, change) => {
    peer.alterToken((token) => Object.assign(token.payload, change));
    expect(fragmentOf(await signIn())).toMatchObject(failed);
  });

  /** Replaces the ID token in the next answer of the token endpoint. */
  const answerWith = (change: (idToken: string) => string) =>
    peer.server.service.once(Events.BeforeResponse, (response: { body: Record<string, unknown> }) => {
      response.body['id_token'] = change(String(response.body['id_token']));
    });
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test.each<[string, (idToken: string) => string]>([
    ['without a signature', (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
    ['with a forged signature', (token) => token.replace(/[^.]+$/, randomBytes(256).toString('base64url'))],
    [
      'with changed claims',
      (token) => {
        const [header, payload, signature] = token.split('.') as [string, string, string];
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
        return `${header}.${encode({ ...claims, sub: 'victim' })}.${signature}`;
      },
    ],
    ['that is missing', () => ''],
  ])('an ID token %s is refused', async (_, change) => {
    answerWith(change);
    expect(fragmentOf(await signIn())).toMatchObject(failed);
  });

  test('an answer that names another issuer is refused, so no code reaches the wrong provider', async () => {
    peer.server.service.once(Events.BeforeAuthorizeRedirect, ({ url }: { url: URL }) => {
      url.searchParams.set('iss', 'https://honest.example');
    });
    expect(fragmentOf(await signIn())).toMatchObject(failed);
  });

  test('an error of the token endpoint is reported without its text', async () => {
    peer.server.service.once(Events.BeforeResponse, (response: { body: unknown; statusCode: number }) => {
      response.statusCode = 400;
      response.body = { error: 'invalid_grant', error_description: '<b>secret</b>' };
    });
    expect(fragmentOf(await signIn())).toMatchObject({
      ...failed,
      error_description: 'Unable to exchange external code',
    });
  });

  test('an unavailable token endpoint asks the user to try again', async () => {
    peer.server.service.once(Events.BeforeResponse, (response: { statusCode: number }) => {
      response.statusCode = 503;
    });
    expect(fragmentOf(await signIn())).toMatchObject({ error: 'temporarily_unavailable' });
  });

  test('claims of the wrong type and links with scripts are dropped', async () => {
    peer.claims = {
      ...account(),
      name: { first: 'Ana' },
      picture: 'javascript:alert(1)',
      preferred_username: 'a\u0000',
    };
    const { user_metadata: data } = await userOf(await signIn());
    expect(data).not.toHaveProperty('name');
    expect(data).not.toHaveProperty('picture');
    expect(data).not.toHaveProperty('user_name');
  });

  test('an address that is only in the user info is read there', async () => {
    const { email, ...claims } = account();
    peer.claims = claims;
    peer.server.service.once(Events.BeforeUserinfo, (response: { body: unknown }) => {
      response.body = { sub: claims.sub, email, email_verified: true };
    });
    expect((await userOf(await signIn())).email).toBe(email);
    peer.server.service.once(Events.BeforeUserinfo, (response: { body: unknown }) => {
      response.body = { sub: 'another', email, email_verified: true };
    });
    expect(fragmentOf(await signIn())).toMatchObject(failed);
  });
});

describe('the request', () => {
  test.each([
    ['peer2', 'Unsupported provider: Provider peer2 could not be found'],
    ['', 'Unsupported provider: Provider  could not be found'],
    ['github', 'Unsupported provider: provider is not enabled'],
  ])('for the provider "%s" answers 400', async (provider, message) => {
    const { status, body } = await world.request('GET', `/authorize?provider=${provider}`);
    expect({ status, ...body }).toEqual({ status: 400, code: 'validation_failed', message });
    const old = await world.request('GET', `/authorize?provider=${provider}`, {
      headers: { 'X-Supabase-Api-Version': '' },
    });
    expect(old.body).toEqual({ code: 400, error_code: 'validation_failed', msg: message });
  });

  test('is listed in the settings', async () => {
    const { body } = await world.request('GET', '/settings');
    expect(body.external).toMatchObject({ peer: true, google: false, github: false, email: true });
  });

  test('never forwards a reserved parameter or an invalid scope', () => {
    fc.assert(
      fc.property(queryText(), fc.string(), (query, scopes) => {
        const names = forwardedParameters(new URLSearchParams(`${query}&STATE=1&redirect_uri=x&Nonce=1`)).map(
          ([name]) => name,
        );
        for (const name of names) expect(name).not.toMatch(/^(state|redirect_uri|nonce|client_id|request)$/i);
        for (const scope of parseScopes(scopes)) expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
      }),
    );
  });
});
