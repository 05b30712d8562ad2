/** Signing in with the simulated Google and GitHub, through their consent pages (docs/specification/api.md 27). */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectProvider } from '#server/auth/providers/start-flow.ts';
import { identityFromClaims, ProviderError } from '#server/auth/providers/provider-client.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { unicodeText } from '../../../support/unicode-text.ts';
import { startIdentityServer, type IdentityServer } from '../../../../simulators/identity-provider/server.ts';
import { Browser, fragmentOf } from './browser.ts';
import { newAddress, startAuthWorld, type AuthWorld } from '../fixture.ts';

let providers: IdentityServer;
let world: AuthWorld;
beforeAll(async () => {
  providers = await startIdentityServer();
  world = await startAuthWorld(providers.settings);
});
afterEach(() => providers.control.reset());
afterAll(async () => {
  await world.close();
  await providers.close();
});

type Provider = 'google' | 'github';
const target = () => `${world.url}/journal`;
const authorizeUrl = (provider: Provider, parameters: Record<string, string> = {}): string =>
  `${world.url}/auth/v1/authorize?${new URLSearchParams({ provider, redirect_to: target(), ...parameters }).toString()}`;

/** Opens the consent page. */
async function consentPage(browser: Browser, provider: Provider, parameters: Record<string, string> = {}) {
  const leaving = await browser.open(authorizeUrl(provider, parameters));
  expect(leaving.status, leaving.text).toBe(302);
  return browser.open(leaving.headers.get('location')!);
}

/** Answers the consent page, and stops at the callback. */
async function choose(browser: Browser, page: { url: URL }, form: Record<string, string>): Promise<URL> {
  const answered = await browser.open(page.url, { method: 'POST', body: new URLSearchParams(form) });
  expect(answered.status, answered.text).toBe(302);
  return new URL(answered.headers.get('location')!);
}

async function signIn(provider: Provider, form: Record<string, string>, parameters: Record<string, string> = {}) {
  const browser = new Browser();
  const callback = await choose(browser, await consentPage(browser, provider, parameters), form);
  return browser.follow(callback, target());
}

const userOf = async (url: URL) => {
  const { body, status } = await world.request('GET', '/user', { token: fragmentOf(url)['access_token']! });
  expect(status, url.href).toBe(200);
  return body;
};

const verifiedChoice = (email = newAddress()) => ({ email, verified: 'on' });
const failed = { error: 'server_error', error_code: 'unexpected_failure' };

describe.each<Provider>(['google', 'github'])('the simulated %s', (provider) => {
  test('signs in with an account of its page', async () => {
    const browser = new Browser();
    const page = await consentPage(browser, provider);
    expect(page.text).toContain('ana@example.com');
    const user = await userOf(
      await browser.follow(await choose(browser, page, { account: 'ana@example.com' }), target()),
    );
    expect(user).toMatchObject({ email: 'ana@example.com', user_metadata: { full_name: 'Ana Andersson' } });
    const again = await userOf(await signIn(provider, { account: 'ana@example.com' }));
    expect(again.id).toBe(user.id);
    expect(again.identities.map((identity: { provider: string }) => identity.provider)).toContain(provider);
  });

  test('returns a denial to the client', async () => {
    expect(fragmentOf(await signIn(provider, { deny: 'on' }))).toMatchObject({
      error: 'access_denied',
      error_code: 'access_denied',
    });
  });

  test('gives an unverified address as unverified', async () => {
    const { email } = await world.signUpUser();
    expect(fragmentOf(await signIn(provider, { email }))).toMatchObject({
      error_code: 'provider_email_needs_verification',
    });
  });

  test('accepts a code once', async () => {
    const browser = new Browser();
    const first = await choose(browser, await consentPage(browser, provider), verifiedChoice());
    const second = await choose(browser, await consentPage(browser, provider), verifiedChoice());
    await browser.follow(first, target());
    second.searchParams.set('code', first.searchParams.get('code')!);
    expect(fragmentOf(await browser.follow(second, target()))).toMatchObject(failed);
  });

  test("refuses a code that was stolen from another browser's flow", async () => {
    const [thief, victim] = [new Browser(), new Browser()];
    const stolen = await choose(victim, await consentPage(victim, provider), verifiedChoice());
    const own = await choose(thief, await consentPage(thief, provider), verifiedChoice());
    own.searchParams.set('code', stolen.searchParams.get('code')!);
    expect(fragmentOf(await thief.follow(own, target()))).toMatchObject(failed);
  });

  test('answers a foreign client or redirect target with a page, never with a redirect', async () => {
    const leaving = await new Browser().open(authorizeUrl(provider));
    for (const [name, value] of [
      ['client_id', 'evil'],
      ['redirect_uri', 'https://evil.example/auth/v1/callback'],
      ['redirect_uri', `${world.url}/journal`],
    ] as const) {
      const url = new URL(leaving.headers.get('location')!);
      url.searchParams.set(name, value);
      const page = await new Browser().open(url);
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(page.headers.get('location')).toBeNull();
    }
  });

  test.each([
    ['a broken connection', { drop: 'before' }, 'temporarily_unavailable'],
    ['an answer that is lost', { drop: 'after' }, 'temporarily_unavailable'],
    ['an error of its server', { status: 502 }, 'temporarily_unavailable'],
    ['too many requests', { status: 429 }, 'temporarily_unavailable'],
    ['no token', { status: 200, body: { token_type: 'bearer' } }, 'server_error'],
    ['another token type', { status: 200, body: { access_token: 'x', token_type: 'mac' } }, 'server_error'],
    ['an OAuth error', { status: 400, body: { error: 'invalid_grant' } }, 'server_error'],
  ] as const)('reports %s at the token endpoint', async (_, fault, error) => {
    providers.control.fail({ ...fault, path: `${provider}/(token|login/oauth/access_token)$` });
    expect(fragmentOf(await signIn(provider, verifiedChoice()))).toMatchObject({ error });
  });
});

describe('the simulated Google', () => {
  test.each([
    ['a foreign key', { signature: 'foreign' }],
    ['no signature', { signature: 'none' }],
    ['another issuer', { claims: { iss: 'https://accounts.google.com' } }],
    ['another audience', { claims: { aud: 'another' } }],
  ] as const)('is not trusted with an ID token with %s', async (_, fault) => {
    providers.control.fail({ ...fault, path: 'google/token$' });
    expect(fragmentOf(await signIn('google', verifiedChoice()))).toMatchObject(failed);
  });

  test('names itself in its answer, and an answer without this name is rejected (mix-up attack)', async () => {
    const browser = new Browser();
    const callback = await choose(browser, await consentPage(browser, 'google'), verifiedChoice());
    expect(callback.searchParams.get('iss')).toBe(providers.settings.GOOGLE_ISSUER);
    callback.searchParams.delete('iss');
    expect(fragmentOf(await browser.follow(callback, target()))).toMatchObject(failed);
  });

  test('gets the parameter prompt=none, and its answer reaches the client', async () => {
    const browser = new Browser();
    const url = await browser.follow(authorizeUrl('google', { prompt: 'none' }), target());
    expect(fragmentOf(url)).toMatchObject({ error: 'login_required', error_code: 'login_required' });
  });

  test('joins the account that GitHub opened with the same verified address', async () => {
    const email = newAddress();
    const first = await userOf(await signIn('github', verifiedChoice(email)));
    const second = await userOf(await signIn('google', verifiedChoice(email)));
    expect(second.id).toBe(first.id);
    expect(second.app_metadata).toEqual({ provider: 'github', providers: ['github', 'google'] });
  });

  test('offers ID tokens for native sign-ins', async () => {
    const email = newAddress();
    const idToken = await providers.control.idToken({ sub: '1', email, email_verified: true });
    const { status, body } = await world.request('POST', '/token?grant_type=id_token', {
      body: { provider: 'google', id_token: idToken },
    });
    expect({ status, email: body.user?.email }).toEqual({ status: 200, email });
  });
});

describe('the simulated GitHub', () => {
  test('is asked for the primary address, and for further scopes', async () => {
    const page = await consentPage(new Browser(), 'github', { scopes: 'repo' });
    expect(page.url.searchParams.get('scope')).toBe('user:email repo');
    expect(page.url.searchParams.get('code_challenge_method')).toBe('S256');
    const email = newAddress();
    const user = await userOf(await signIn('github', verifiedChoice(email)));
    expect(user.email).toBe(email);
    expect(user.user_metadata).toMatchObject({
      user_name: email.replace(/@.*/, ''),
      preferred_username: email.replace(/@.*/, ''),
      avatar_url: expect.stringMatching(/^https:\/\/avatars\.githubusercontent\.com\/u\/\d+/),
      email_verified: true,
      iss: providers.settings.GITHUB_API_BASE,
    });
  });

  const emails = (body: unknown, status = 200) => ({ path: 'github/api/user/emails$', status, body });
  test.each([
    ['no primary address', emails([{ email: 'a@example.com', primary: false, verified: true }])],
    ['no addresses', emails([])],
    ['addresses of the wrong shape', emails({ email: 'a@example.com' })],
    ['an address of the wrong type', emails([{ email: 7, primary: true, verified: true }])],
    ['no right to read the addresses', emails({ message: 'Not Found' }, 404)],
  ])('with %s opens no new account', async (_, fault) => {
    providers.control.fail(fault);
    expect(fragmentOf(await signIn('github', verifiedChoice()))).toMatchObject({
      ...failed,
      error_description: 'Error getting user email from external provider',
    });
  });

  test('still opens a known account when it gives no address', async () => {
    const email = newAddress();
    const { id } = await userOf(await signIn('github', verifiedChoice(email)));
    providers.control.fail(emails({ message: 'Not Found' }, 404));
    expect((await userOf(await signIn('github', verifiedChoice(email)))).id).toBe(id);
  });

  test.each([
    ['verified in words only', [{ email: 'x', primary: true, verified: 'yes' }]],
    ['unverified', [{ email: 'x', primary: true, verified: false }]],
  ])('with an address %s opens no existing account', async (_, list) => {
    const { email } = await world.signUpUser();
    providers.control.fail(emails(list.map((entry) => ({ ...entry, email }))));
    expect(fragmentOf(await signIn('github', verifiedChoice()))).toMatchObject({
      error_code: 'provider_email_needs_verification',
    });
  });

  test('names the error of its token endpoint, which has status 200, for the log', async () => {
    const configured = world.config.auth.oauthProviders.find(({ name }) => name === 'github')!;
    const url = new URL(`${world.url}/auth/v1/callback?code=x&state=s`);
    const answer = { url, state: 's', nonce: '', verifier: 'v'.repeat(43) };
    await expect(connectProvider(configured).readAccount(answer)).rejects.toThrow('answered bad_verification_code');
    const stranger = connectProvider({ ...configured, clientSecret: new Secret('wrong') });
    await expect(stranger.readAccount(answer)).rejects.toThrow('answered incorrect_client_credentials');
  });

  const user = (body: unknown, status = 200) => ({ path: 'github/api/user$', status, body });
  test.each([
    ['without an id', user({ login: 'ana' }), 'server_error'],
    ['with an id that is text', user({ id: '1', login: 'ana' }), 'server_error'],
    ['with an id beyond safe integers', user({ id: 2 ** 60 }), 'server_error'],
    ['that is no object', user(null), 'server_error'],
    ['that its API refuses', user({ message: 'Bad credentials' }, 401), 'server_error'],
    ['that its API cannot give', user({}, 503), 'temporarily_unavailable'],
  ])('with a user %s is not trusted', async (_, fault, error) => {
    providers.control.fail(fault);
    expect(fragmentOf(await signIn('github', verifiedChoice()))).toMatchObject({ error });
  });
});

describe('the discovery of a provider', () => {
  test('refuses another issuer, and accepts a slash after the configured one', async () => {
    const other = await startIdentityServer();
    const fresh = await startAuthWorld({ ...other.settings });
    try {
      const issuer = other.settings.GOOGLE_ISSUER;
      const document = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
      const answerWith = (name: string) =>
        other.control.fail({ path: 'openid-configuration$', status: 200, body: { ...document, issuer: name } });
      const start = () => new Browser().open(`${fresh.url}/auth/v1/authorize?provider=google`);
      for (const foreign of ['https://evil.example', `${issuer}/evil`, `${issuer}//`]) {
        answerWith(foreign);
        expect((await start()).headers.get('location')).toContain('error=temporarily_unavailable');
      }
      answerWith(`${issuer}/`);
      expect((await start()).headers.get('location')).toContain(`${issuer}/authorize?`);
      const claims = { iss: `${issuer}/`, sub: '1', email: newAddress(), email_verified: true };
      const { status } = await fresh.request('POST', '/token?grant_type=id_token', {
        body: { provider: 'google', id_token: await other.control.idToken(claims) },
      });
      expect(status).toBe(200);
    } finally {
      await fresh.close();
      await other.close();
    }
  });
});

describe('a provider that cannot be reached at all', () => {
  test('redirects back and says so, and works again afterwards', async () => {
    const other = await startIdentityServer();
    const fresh = await startAuthWorld({ ...other.settings });
    try {
      other.control.fail({ path: 'openid-configuration$', status: 500 });
      const browser = new Browser();
      const url = `${fresh.url}/auth/v1/authorize?provider=google`;
      const failedStart = await browser.open(url);
      expect(fragmentOf(new URL(failedStart.headers.get('location')!))).toMatchObject({
        error: 'temporarily_unavailable',
        error_code: 'request_timeout',
      });
      const { access } = await fresh.signUpUser();
      other.control.fail({ path: 'openid-configuration$', drop: 'before' });
      const linking = await fresh.request('GET', '/user/identities/authorize?provider=google', { token: access });
      expect(linking).toMatchObject({ status: 503, body: { code: 'request_timeout' } });
      expect((await browser.open(url)).headers.get('location')).toContain('/google/authorize?');
      const { rows } = await fresh.admin.query('select from auth.flows');
      expect(rows).toHaveLength(1);
    } finally {
      await fresh.close();
      await other.close();
    }
  });
});

test('any claims of a provider lead to an identity that can be stored, or to a ProviderError', () => {
  const claims = fc.record(
    {
      sub: fc.oneof(unicodeText(), fc.anything()),
      email: fc.oneof(fc.emailAddress(), unicodeText(), fc.anything()),
      email_verified: fc.oneof(fc.boolean(), fc.constant('true'), fc.anything()),
      name: fc.oneof(unicodeText(), fc.anything()),
      picture: fc.oneof(fc.webUrl(), fc.string(), fc.anything()),
      preferred_username: fc.anything(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(claims, (record) => {
      let identity;
      try {
        identity = identityFromClaims('peer', 'https://id.example.com', record);
      } catch (error) {
        expect(error).toBeInstanceOf(ProviderError);
        return;
      }
      const text = JSON.stringify(identity.data);
      expect(text.length).toBeLessThan(4_000);
      expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      if (identity.email !== null) expect(identity.email).toMatch(/^[\x21-\x7e]+$/);
      expect(identity.emailVerified && identity.email === null).toBe(false);
      if (identity.data['picture'] !== undefined) expect(identity.data['picture']).toMatch(/^https:/i);
    }),
  );
});
