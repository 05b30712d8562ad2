/** Linked sign-ins and ID tokens (docs/specification/api.md 27 and 28), with an independent provider. */
import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { purgeExpired } from '#server/jobs/purges.ts';
import { Browser, fragmentOf } from './browser.ts';
import { blockRequest, endSessionsOf } from '../block-request.ts';
import { newAddress, PASSWORD, startAuthWorld, type AuthWorld } from '../fixture.ts';
import { PEER_CLIENT_ID, startOidcPeer, type OidcPeer } from './oidc-peer.ts';

let peer: OidcPeer;
let world: AuthWorld;
beforeAll(async () => {
  peer = await startOidcPeer();
  world = await startAuthWorld(peer.settings);
});
afterAll(async () => {
  await world.close();
  await peer.close();
});

const account = () => ({ sub: randomUUID(), email: newAddress(), email_verified: true });
beforeEach(() => {
  peer.claims = account();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const grant = (body: Record<string, unknown>, token?: string) =>
  world.request('POST', '/token?grant_type=id_token', { body, ...(token !== undefined && { token }) });

/** A session that was started through the provider. */
async function signedInAtPeer() {
  const { body, status } = await grant({ provider: 'peer', id_token: await peer.idToken({}) });
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: String(body.user.id), access: String(body.access_token), refresh: String(body.refresh_token) };
}

const identitiesOf = async (token: string) => {
  const { body } = await world.request('GET', '/user', { token });
  return body.identities as { identity_id: string; provider: string; id: string }[];
};

describe('an ID token', () => {
  test('signs in through the real client, with the nonce that its hash names', async () => {
    const client = world.client();
    const nonce = randomBytes(16).toString('hex');
    const token = await peer.idToken({ nonce: sha256(nonce), name: 'Ana' });
    const { data, error } = await client.auth.signInWithIdToken({ provider: 'peer', token, nonce });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({ email: peer.claims['email'], user_metadata: { full_name: 'Ana' } });
    expect(data.session).not.toHaveProperty('provider_token');
    const claims = JSON.parse(Buffer.from(data.session!.access_token.split('.')[1]!, 'base64url').toString());
    expect(claims.amr).toMatchObject([{ method: 'oauth', provider: 'peer' }]);
  });

  test('is found by client and issuer, too', async () => {
    const byIssuer = { client_id: PEER_CLIENT_ID, issuer: `${peer.issuer}/` };
    expect((await grant({ ...byIssuer, id_token: await peer.idToken({}) })).status).toBe(200);
  });

  test('is accepted once, also of concurrent copies', async () => {
    const token = await peer.idToken({});
    const body = { provider: 'peer', id_token: token };
    const answers = await Promise.all([grant(body), grant(body), grant(body)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const again = await grant(body);
    expect(again.body).toEqual({ error: 'invalid request', error_description: 'Bad ID token' });
    // Base64url ignores the low bits of the last character: the copy has the same signature.
    const last = token.at(-1)!;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const copy = `${token.slice(0, -1)}${alphabet[alphabet.indexOf(last) ^ 1]}`;
    expect((await grant({ provider: 'peer', id_token: copy })).status).toBe(400);
    // The hash is stored only while the token could be used.
    const stored = async () => (await world.admin.query('select from auth.used_id_tokens')).rows.length;
    const purge = (ahead: number) =>
      purgeExpired(world.database.asService('test'), new Date(Date.now() + ahead * 1000), new AbortController().signal);
    await purge(3_500);
    expect(await stored()).toBeGreaterThan(0);
    await purge(3_700);
    expect(await stored()).toBe(0);
  });

  test.each([
    ['without a token', {}, 'id_token required'],
    [
      'without a provider',
      { id_token: 'x', issuer: 'https://id.example.com' },
      'provider or client_id and issuer required',
    ],
    ['that is no token', { provider: 'peer', id_token: 'x.y.z' }, 'Bad ID token'],
  ])('request %s answers an OAuth error in both formats', async (_, body, description) => {
    for (const headers of [{}, { 'X-Supabase-Api-Version': '' }]) {
      const answer = await world.request('POST', '/token?grant_type=id_token', { body, headers });
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 400,
        body: { error: 'invalid request', error_description: description },
      });
    }
  });

  test.each([
    ['google', 400, 'provider_disabled', 'Provider (issuer "https://accounts.google.com") is not enabled'],
    ['github', 400, 'provider_disabled', 'Provider (issuer "") is not enabled'],
    ['evil', 400, 'validation_failed', 'Custom OIDC provider "evil" not allowed'],
  ])('of the provider %s is refused', async (provider, status, code, message) => {
    const answer = await grant({ provider, id_token: await peer.idToken({}) });
    expect({ status: answer.status, ...answer.body }).toEqual({ status, code, message });
  });

  const seconds = (ahead: number) => Math.floor(Date.now() / 1000) + ahead;
  test.each([
    ['another audience', { aud: 'another-client' }, 'Unacceptable audience in id_token: [another-client]'],
    ['a second audience', { aud: [PEER_CLIENT_ID, 'another-client'] }, 'Bad ID token'],
    ['no audience', { aud: undefined }, 'Unacceptable audience in id_token: []'],
    ['another authorized party', { azp: 'another-client' }, 'Bad ID token'],
    ['another issuer', { iss: 'https://accounts.google.com' }, 'Bad ID token'],
    ['an expired lifetime', { exp: seconds(-60) }, 'Bad ID token'],
    ['no expiry', { exp: undefined }, 'Bad ID token'],
    ['an old date of issue', { iat: seconds(-7_200) }, 'Bad ID token'],
    ['a date of issue in the future', { iat: seconds(3_600) }, 'Bad ID token'],
    ['no subject', { sub: undefined }, 'Bad ID token'],
    ['an unusable subject', { sub: 'a\u0000' }, 'Bad ID token'],
  ])('with %s is refused', async (_, claims, description) => {
    const { status, body } = await grant({ provider: 'peer', id_token: await peer.idToken(claims) });
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'invalid request', error_description: description },
    });
  });

  test('without a signature, with another key or with an HMAC of the public key is refused', async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [header, payload] = (await peer.idToken({})).split('.') as [string, string, string];
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwks = (await (await fetch(`${peer.issuer}/jwks`)).json()) as { keys: unknown[] };
    const publicKey = Buffer.from(JSON.stringify(jwks.keys[0]));
    const forgeries = [
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'none', kid })}.${payload}.AA`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey),
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'unknown' }).sign(privateKey),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(publicKey),
    ];
    for (const token of forgeries) {
      const { body } = await grant({ provider: 'peer', id_token: token });
      expect(body).toEqual({ error: 'invalid request', error_description: 'Bad ID token' });
    }
  });

  test('needs a nonce in the request exactly if it carries one', async () => {
    const bothOrNone = 'Passed nonce and nonce in id_token should either both exist or not.';
    const without = await grant({ provider: 'peer', id_token: await peer.idToken({}), nonce: 'n' });
    expect(without.body).toEqual({ error: 'invalid request', error_description: bothOrNone });
    const token = await peer.idToken({ nonce: sha256('mine') });
    expect((await grant({ provider: 'peer', id_token: token })).body.error_description).toBe(bothOrNone);
    for (const nonce of ['yours', sha256('mine')]) {
      const { body } = await grant({ provider: 'peer', id_token: token, nonce });
      expect(body).toEqual({ error: 'invalid nonce', error_description: 'Nonces mismatch' });
    }
    expect((await grant({ provider: 'peer', id_token: token, nonce: 'mine' })).status).toBe(200);
  });

  test('must belong to the access token that comes with it', async () => {
    const hashOf = (token: string) => createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url');
    const claims = { at_hash: hashOf('access') };
    const swapped = { provider: 'peer', id_token: await peer.idToken(claims), access_token: 'another' };
    expect((await grant(swapped)).body.error_description).toBe('Bad ID token');
    expect((await grant({ ...swapped, access_token: 'access' })).status).toBe(200);
  });

  test('with an unverified address opens no account', async () => {
    const { email, id } = await world.signUpUser();
    const token = await peer.idToken({ email, email_verified: false });
    const { status, body } = await grant({ provider: 'peer', id_token: token });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'provider_email_needs_verification' });
    const { rows } = await world.admin.query('select from auth.identities where user_id = $1', [id]);
    expect(rows).toHaveLength(1);
  });
});

describe('linking', () => {
  const authorize = (parameters: Record<string, string>, token?: string) =>
    world.request('GET', `/user/identities/authorize?${new URLSearchParams(parameters).toString()}`, {
      ...(token !== undefined && { token }),
    });

  /** Starts linking with the request that the page sends, so that `browser` stores the cookie of the flow. */
  async function startLinking(browser: Browser, token: string, parameters: Record<string, string> = {}) {
    const query = new URLSearchParams({
      provider: 'peer',
      skip_http_redirect: 'true',
      redirect_to: `${world.url}/journal`,
      ...parameters,
    });
    const page = await browser.open(`${world.url}/auth/v1/user/identities/authorize?${query.toString()}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(page.status, page.text).toBe(200);
    return String(JSON.parse(page.text).url);
  }
  const finish = (browser: Browser, url: string) => browser.follow(url, `${world.url}/journal`);

  test('adds the identity to the signed-in account, whatever its address, and tells the owner', async () => {
    const owner = await world.signUpUser();
    peer.claims = { ...account(), email_verified: false };
    const browser = new Browser();
    const url = await finish(browser, await startLinking(browser, owner.access));
    const { access_token: access } = fragmentOf(url);
    const { body } = await world.request('GET', '/user', { token: access! });
    expect(body).toMatchObject({ id: owner.id, email: owner.email });
    expect(body.app_metadata).toEqual({ provider: 'email', providers: ['email', 'peer'] });
    expect(body.identities.map((identity: { provider: string }) => identity.provider)).toEqual(['email', 'peer']);
    expect((await world.waitForMail(owner.email)).subject).toBe('Peer can now sign you in');
  });

  test('works through the real client by address and by ID token', async () => {
    const owner = await world.signUpUser();
    const client = createClient(world.url, world.config.publishableKey, {
      auth: { persistSession: false, autoRefreshToken: false },
    });
    await client.auth.setSession({ access_token: owner.access, refresh_token: owner.refresh });
    const { data, error } = await client.auth.linkIdentity({
      provider: 'peer' as 'google',
      options: { skipBrowserRedirect: true },
    });
    expect(error).toBeNull();
    expect(new URL(data.url!).origin).toBe(peer.issuer);
    const linked = await client.auth.linkIdentity({ provider: 'peer', token: await peer.idToken({}) });
    expect(linked.error).toBeNull();
    const { data: identities } = await client.auth.getUserIdentities();
    expect(identities?.identities.map(({ provider }) => provider)).toEqual(['email', 'peer']);
  });

  test('is finished only by the browser that started it', async () => {
    const [attacker, victim] = [await world.signUpUser(), new Browser()];
    const url = await startLinking(new Browser(), attacker.access);
    // The victim is signed in at the provider and follows the attacker's address.
    const callback = await victim.follow(url, `${world.url}/auth/v1/callback`);
    const page = await victim.open(callback);
    expect(fragmentOf(new URL(page.headers.get('location')!))).toMatchObject({ error_code: 'bad_oauth_state' });
    expect(await identitiesOf(attacker.access)).toHaveLength(1);
    // Also with PKCE, whose verifier would be the attacker's.
    const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' };
    const withPkce = await startLinking(new Browser(), attacker.access, challenge);
    const second = await victim.open(await victim.follow(withPkce, `${world.url}/auth/v1/callback`));
    expect(fragmentOf(new URL(second.headers.get('location')!))).toMatchObject({ error_code: 'bad_oauth_state' });
  });

  test('of an identity that has an account is refused', async () => {
    const owner = await world.signUpUser();
    const browser = new Browser();
    await finish(browser, await startLinking(browser, owner.access));
    const again = fragmentOf(await finish(browser, await startLinking(browser, owner.access)));
    expect(again).toEqual({
      error_code: 'identity_already_exists',
      error_description: 'Identity is already linked',
      sb: '',
    });
    const stranger = await world.signUpUser();
    const other = fragmentOf(await finish(browser, await startLinking(browser, stranger.access)));
    expect(other['error_description']).toBe('Identity is already linked to another user');
    const token = await peer.idToken({});
    const { status, body } = await grant({ provider: 'peer', id_token: token, link_identity: true }, stranger.access);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'identity_already_exists' });
  });

  test('needs a signed-in user and an enabled provider', async () => {
    expect((await authorize({ provider: 'peer' })).body).toMatchObject({ code: 'no_authorization' });
    const guest = await authorize({ provider: 'peer' }, world.config.publishableKey);
    expect(guest).toMatchObject({ status: 403, body: { code: 'bad_jwt' } });
    const { access } = await world.signUpUser();
    expect(await authorize({ provider: 'github' }, access)).toMatchObject({ status: 400 });
    expect(await authorize({ provider: 'peer' }, access)).toMatchObject({ status: 302 });
    const token = await peer.idToken({});
    const unsigned = await grant({ provider: 'peer', id_token: token, link_identity: true });
    expect(unsigned).toMatchObject({ status: 401, body: { code: 'no_authorization' } });
  });

  test('ends when the password changes in the meantime', async () => {
    const owner = await world.signUpUser();
    const browser = new Browser();
    const url = await startLinking(browser, owner.access);
    await world.request('PUT', '/user', { token: owner.access, body: { password: 'another battery staple' } });
    const page = await browser.open(await browser.follow(url, `${world.url}/auth/v1/callback`));
    expect(fragmentOf(new URL(page.headers.get('location')!))).toMatchObject({ error_code: 'bad_oauth_state' });
  });

  test('ends when the session that started it ends', async () => {
    const owner = await world.signUpUser();
    const browser = new Browser();
    const url = await startLinking(browser, owner.access);
    await world.request('POST', '/logout?scope=global', { token: owner.access });
    expect(fragmentOf(await finish(browser, url))).toMatchObject({ error_code: 'bad_oauth_state' });
    const { rows } = await world.admin.query('select from auth.identities where user_id = $1', [owner.id]);
    expect(rows).toHaveLength(1);
  });

  test.each(['a provider flow', 'an ID token'])(
    'by %s is refused when the session ends while it waits',
    async (way) => {
      const owner = await world.signUpUser();
      const browser = new Browser();
      const url = way === 'a provider flow' ? await startLinking(browser, owner.access) : null;
      const token = await peer.idToken({});
      const linking = (): Promise<unknown> =>
        url ? finish(browser, url) : grant({ provider: 'peer', id_token: token, link_identity: true }, owner.access);
      await blockRequest(world.admin, owner.id, linking, endSessionsOf(owner.id));
      const { rows } = await world.admin.query('select provider from auth.identities where user_id = $1', [owner.id]);
      expect(rows).toEqual([{ provider: 'email' }]);
      const sessions = await world.admin.query('select from auth.sessions where user_id = $1', [owner.id]);
      expect(sessions.rowCount).toBe(0);
    },
  );

  test('from an old session needs the mailed code', async () => {
    const owner = await world.signUpUser();
    await world.admin.query("update auth.sessions set created_at = now() - interval '25 hours' where user_id = $1", [
      owner.id,
    ]);
    const refused = await authorize({ provider: 'peer' }, owner.access);
    expect(refused).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    await world.request('GET', '/reauthenticate', { token: owner.access });
    const nonce = (await world.waitForMail(owner.email)).code!;
    const wrong = nonce === '123456' ? '123457' : '123456';
    expect((await authorize({ provider: 'peer', nonce: wrong }, owner.access)).body).toMatchObject({
      code: 'reauthentication_not_valid',
    });
    const allowed = await authorize({ provider: 'peer', nonce }, owner.access);
    expect(allowed.status).toBe(302);
    expect(new URL(allowed.headers.get('location')!).searchParams.get('nonce')).not.toBe(nonce);
    expect((await authorize({ provider: 'peer', nonce }, owner.access)).status).toBe(422);
  });

  test('needs the second factor of an account that has one', async () => {
    const owner = await world.signUpUser();
    await world.admin.query(
      "insert into auth.mfa_factors (user_id, factor_type, status) values ($1, 'totp', 'verified')",
      [owner.id],
    );
    expect(await authorize({ provider: 'peer' }, owner.access)).toMatchObject({
      status: 403,
      body: { code: 'insufficient_aal' },
    });
  });
});

describe('an anonymous user', () => {
  test('becomes permanent by linking, and adopts the verified address', async () => {
    const guests = await startAuthWorld({ ...peer.settings, AUTH_ANONYMOUS: 'on' });
    try {
      const client = guests.client();
      const { data } = await client.auth.signInAnonymously();
      const { data: linked, error } = await client.auth.linkIdentity({
        provider: 'peer',
        token: await peer.idToken({}),
      });
      expect(error).toBeNull();
      expect(linked.user).toMatchObject({ id: data.user?.id, email: peer.claims['email'], is_anonymous: false });
      expect(linked.user?.app_metadata).toEqual({ provider: 'peer', providers: ['peer'] });
    } finally {
      await guests.close();
    }
  });
});

describe('unlinking', () => {
  const unlink = (id: string, token: string) => world.request('DELETE', `/user/identities/${id}`, { token });
  const linked = async (claims: Record<string, unknown> = {}) => {
    const owner = await world.signUpUser();
    const token = await peer.idToken(claims);
    const { body } = await grant({ provider: 'peer', id_token: token, link_identity: true }, owner.access);
    const [email, provider] = body.user.identities as { identity_id: string }[];
    return {
      ...owner,
      viaPeer: String(body.access_token),
      email: { address: owner.email, identity: email!.identity_id },
      peer: provider!.identity_id,
    };
  };

  test('removes the identity and the sessions that it started, and tells the owner', async () => {
    const owner = await linked();
    const atPeer = await signedInAtPeer();
    expect(atPeer.id).toBe(owner.id);
    expect(await unlink(owner.peer, owner.access)).toMatchObject({ status: 200, body: {} });
    const { body } = await world.request('GET', '/user', { token: owner.access });
    expect(body.app_metadata).toEqual({ provider: 'email', providers: ['email'] });
    const ended = await world.request('GET', '/user', { token: atPeer.access });
    expect(ended).toMatchObject({ status: 403, body: { code: 'session_not_found' } });
    expect((await world.waitForMail(owner.email.address, 2)).text).toContain('You can no longer sign in with Peer');
    const fresh = await signedInAtPeer();
    expect(fresh.id).not.toBe(owner.id);
  });

  test('works through the real client', async () => {
    const owner = await linked();
    const client = world.client();
    await client.auth.setSession({ access_token: owner.access, refresh_token: owner.refresh });
    const { data } = await client.auth.getUserIdentities();
    const identity = data!.identities.find(({ provider }) => provider === 'peer')!;
    expect((await client.auth.unlinkIdentity(identity)).error).toBeNull();
  });

  test.each([
    ['a malformed id', 'x', 404, 'validation_failed', 'identity_id must be an UUID'],
    ['an unknown id', randomUUID(), 422, 'identity_not_found', "Identity doesn't exist"],
  ])('with %s is refused', async (_, id, status, code, message) => {
    const { access } = await linked();
    const answer = await unlink(id, access);
    expect({ status: answer.status, ...answer.body }).toEqual({ status, code, message });
  });

  test("of another user's identity is refused", async () => {
    const [owner, stranger] = [await linked(), await world.signUpUser()];
    peer.claims = account();
    await grant({ provider: 'peer', id_token: await peer.idToken({}), link_identity: true }, stranger.access);
    expect((await unlink(owner.peer, stranger.access)).body).toMatchObject({ code: 'identity_not_found' });
  });

  test('of the last identity is refused, also by two concurrent requests', async () => {
    const { access } = await world.signUpUser();
    const [only] = await identitiesOf(access);
    expect((await unlink(only!.identity_id, access)).body).toEqual({
      code: 'single_identity_not_deletable',
      message: 'User must have at least 1 identity after unlinking',
    });
    const owner = await linked({ email: newAddress() });
    const answers = await Promise.all([unlink(owner.peer, owner.access), unlink(owner.email.identity, owner.access)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await identitiesOf(owner.access)).toHaveLength(1);
  });

  test('of the last proven identity is refused, while the address waits for its confirmation', async () => {
    const owner = await linked();
    await world.admin.query('update auth.users set email_confirmed_at = null where id = $1', [owner.id]);
    expect((await unlink(owner.peer, owner.access)).body).toMatchObject({ code: 'single_identity_not_deletable' });
  });

  test('of the password moves the account to the verified address of the provider', async () => {
    const owner = await linked();
    expect((await unlink(owner.email.identity, owner.access)).status).toBe(200);
    const { body } = await world.request('GET', '/user', { token: owner.access });
    expect(body).toMatchObject({ id: owner.id, email: peer.claims['email'] });
    expect(body.app_metadata).toEqual({ provider: 'peer', providers: ['peer'] });
    for (const email of [owner.email.address, peer.claims['email']]) {
      const signIn = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
      expect(signIn.body).toMatchObject({ code: 'invalid_credentials' });
    }
    // The notices of the link, of the removal and of the new address.
    await world.waitForMail(owner.email.address, 3);
  });

  test.each([
    ['the password ends', 'email', []],
    ['a provider keeps', 'peer', [{ name: 'Laptop' }]],
  ] as const)('of %s the access tokens of the account', async (_, provider, tokens) => {
    const owner = await linked();
    const body = { name: 'Laptop', scopes: ['append'], days: 30 };
    expect((await world.request('POST', '/tokens', { token: owner.access, body })).status).toBe(200);
    const identity = provider === 'email' ? owner.email.identity : owner.peer;
    expect((await unlink(identity, owner.access)).status).toBe(200);
    expect((await world.request('GET', '/tokens', { token: owner.access })).body).toMatchObject({ tokens });
  });

  test('of an old sign-in is refused while every other one is newer than a week', async () => {
    const owner = await linked();
    const weekAgo = "now() - interval '8 days'";
    await world.admin.query(`update auth.users set email_confirmed_at = ${weekAgo} where id = $1`, [owner.id]);
    expect((await unlink(owner.email.identity, owner.access)).body).toMatchObject({
      code: 'single_identity_not_deletable',
    });
    const { body } = await world.request('GET', '/user', { token: owner.access });
    expect(body.email).toBe(owner.email.address);
    await world.admin.query(`update auth.identities set created_at = ${weekAgo} where id = $1`, [owner.peer]);
    expect((await unlink(owner.email.identity, owner.access)).status).toBe(200);
  });

  test('never moves an account to an address that the provider has not verified', async () => {
    const owner = await linked({ email: newAddress(), email_verified: false });
    expect((await unlink(owner.email.identity, owner.access)).status).toBe(200);
    const { body } = await world.request('GET', '/user', { token: owner.access });
    expect(body.email).toBe('');
  });

  test('is refused when the remaining address belongs to another account', async () => {
    const other = await world.signUpUser();
    const owner = await linked({ email: other.email });
    expect(await unlink(owner.email.identity, owner.access)).toMatchObject({
      status: 422,
      body: {
        code: 'email_conflict_identity_not_deletable',
        message: 'Unable to unlink identity due to email conflict',
      },
    });
    expect(await identitiesOf(owner.access)).toHaveLength(2);
  });

  test('leaves the password of a user who signed up with the provider and set one later', async () => {
    const owner = await signedInAtPeer();
    await world.request('PUT', '/user', { token: owner.access, body: { password: PASSWORD } });
    const [identity] = await identitiesOf(owner.access);
    expect((await unlink(identity!.identity_id, owner.access)).status).toBe(200);
    const signIn = await world.request('POST', '/token?grant_type=password', {
      body: { email: peer.claims['email'], password: PASSWORD },
    });
    expect(signIn.body.user.id).toBe(owner.id);
  });
});

test('linking and unlinking answer 404 when they are switched off', async () => {
  const off = await startAuthWorld({ ...peer.settings, AUTH_MANUAL_LINKING: 'off' });
  try {
    const { access } = await off.signUpUser();
    const disabled = { status: 404, body: { code: 'manual_linking_disabled', message: 'Manual linking is disabled' } };
    const authorize = await off.request('GET', '/user/identities/authorize?provider=peer', { token: access });
    expect(authorize).toMatchObject(disabled);
    expect(await off.request('DELETE', '/user/identities/x', { token: access })).toMatchObject(disabled);
    const byToken = await off.request('POST', '/token?grant_type=id_token', {
      token: access,
      body: { provider: 'peer', id_token: await peer.idToken({}), link_identity: true },
    });
    expect(byToken).toMatchObject(disabled);
  } finally {
    await off.close();
  }
});
