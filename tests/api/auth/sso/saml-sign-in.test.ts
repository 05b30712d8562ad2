/** A sign-in with SAML, and the browser and the relay state that it is bound to (docs/specification/api.md 29). */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { describe, expect, test } from 'vitest';
import { Browser, fragmentOf } from '../providers/browser.ts';
import { PASSWORD, SIGN_IN_NOTICE, newAddress, type WireBody } from '../fixture.ts';
import { attribute } from '../../../../simulators/saml/response.ts';
import { createSamlPeer, DOMAIN, NOT_FOUND, problemOf, setUpSaml } from './saml-world.ts';

const { world, addProvider, changeProvider, target, acsUrl, start, post, signIn, userOf } = setUpSaml();

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
      app_metadata: { provider: `sso:${world.provider.id}`, providers: [`sso:${world.provider.id}`] },
      user_metadata: { full_name: 'Ana & Co', custom_claims: { department: 'Research' } },
      identities: [
        {
          provider: `sso:${world.provider.id}`,
          id: 'ana@corp.example',
          identity_data: {
            sub: 'ana@corp.example',
            iss: world.peer.entityId,
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
      { method: 'sso/saml', provider: `sso:${world.provider.id}` },
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
      await post(started, await world.peer.respond(world.ourMetadata, { requestId: started.id, nameId: email }));
      await world.waitForSignInNotices(email, count);
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
    const response = await other.respond(world.ourMetadata, { requestId: started.id, nameId: 'ana@corp.example' });
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
    const request = await world.peer.readRequest(data!.url, world.ourMetadata);
    const response = await world.peer.respond(world.ourMetadata, { requestId: request.id });
    const url = await post({ ...request, browser: new Browser() }, response);
    expect(url.href.startsWith(`${target()}&code=`)).toBe(true);
    const session = await auth.exchangeCodeForSession(url.searchParams.get('code')!);
    expect(session.error).toBeNull();
    expect(session.data.user?.email).toBe('ana@corp.example');
    expect(session.data.session?.provider_token).toBeUndefined();
    const { data: claims } = await auth.getClaims();
    expect(claims?.claims.amr).toMatchObject([{ method: 'sso/saml', provider: `sso:${world.provider.id}` }]);
  });

  test('makes the browser no known device of another account with the same address', async () => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
    const { code } = await world.waitForMail(email);
    await world.request('POST', '/verify', { body: { type: 'signup', email, token: code } });

    const browser = new Browser();
    const started = await start({}, browser);
    const url = await post(
      started,
      await world.peer.respond(world.ourMetadata, { requestId: started.id, nameId: email }),
    );
    expect((await userOf(url)).email).toBe(email);
    const page = await browser.open(`${world.url}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    expect(page.status).toBe(200);
    await world.waitForMailWith(SIGN_IN_NOTICE, email);
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
        { code: 'user_sso_managed', message: 'Updating email, phone, password of a SSO account only possible via SSO' },
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
    await changeProvider(world.provider.id, { disabled: true });
    const answer = await world.request('POST', '/sso', { body: { domain: DOMAIN } });
    const url = await post(started, await world.peer.respond(world.ourMetadata, { requestId: started.id }));
    await changeProvider(world.provider.id, { disabled: false });
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
    const response = await world.peer.respond(world.ourMetadata, { requestId: started.id });
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
    const response = await world.peer.respond(world.ourMetadata, {
      requestId: attacker.id,
      nameId: 'victim@corp.example',
    });
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
    const response = await world.peer.respond(world.ourMetadata, { requestId: implicit.id });
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
    const url = await post(pkce, await world.peer.respond(world.ourMetadata, { requestId: pkce.id }));
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
    const response = await world.peer.respond(world.ourMetadata, { requestId: started.id });
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
    const response = await world.peer.respond(world.ourMetadata, { requestId: started.id });
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
    const url = await post({ relayState, browser }, await world.peer.respond(world.ourMetadata, { requestId: id }));
    expect(problemOf(url)).toBe('validation_failed: SAML RelayState is not a valid UUID or URL');
    expect(url.origin).toBe(world.url);
  });

  test('of an unknown flow and of a provider flow of another kind is not found', async () => {
    const { id, browser } = await start();
    const response = await world.peer.respond(world.ourMetadata, { requestId: id });
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
    const response = await world.peer.respond(world.ourMetadata, { requestId: started.id });
    expect(problemOf(await post(started, response))).toBe(
      'saml_relay_state_expired: SAML RelayState has expired. Try logging in again?',
    );
    world.clock.advance(-300_000);
  });
});
