/** The signed-in user's account and the authentication of protected routes (docs/specification/api.md 5 and 12). */
import { createHmac, createPublicKey } from 'node:crypto';
import { SignJWT, generateKeyPair, importJWK, type JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import { utcDayOf } from '#domain/day/day.ts';
import { keySource, readKeys } from '#server/auth/keys/key-file.ts';
import { createMailToken, findMailToken, storeMailTokens } from '#server/habit/mail-tokens.ts';
import { blockRequest, endSessionsOf } from './block-request.ts';
import { setUpAuthWorld, PASSWORD, newAddress, openRequest } from './fixture.ts';

const HOUR = 3_600_000;

const world = setUpAuthWorld();

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claimsIn = (token: string): JWTPayload => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

/** Signs with the server's own key. */
async function signClaims(claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
  const { signing } = await readKeys(keySource({ signingKeyFile: null }, world.database));
  const key = await importJWK(signing.privateJwk, 'ES256');
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header }).sign(key);
}

describe('GET /user', () => {
  test('returns the user', async () => {
    const { email, id, access } = await world.signUpUser();
    const { status, headers, body } = await world.request('GET', '/user', { token: access });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ id, email, phone: '', is_anonymous: false, identities: [{ provider: 'email' }] });
    expect(Object.values(body)).not.toContain(null);
  });

  test('rejects a missing or malformed Bearer', async () => {
    for (const headers of [{}, { Authorization: 'Basic abc' }, { Authorization: 'Bearer ' }]) {
      const response = await world.request('GET', '/user', { headers });
      expect([response.status, response.body]).toEqual([
        401,
        { code: 'no_authorization', message: 'This endpoint requires a valid Bearer token' },
      ]);
    }
  });

  test('rejects the publishable key and malformed tokens', async () => {
    for (const token of [world.config.publishableKey, 'a.b.c', 'x']) {
      const { status, body } = await world.request('GET', '/user', { token });
      expect([status, body.code]).toEqual([403, 'bad_jwt']);
    }
  });

  test('rejects every forged token', async () => {
    const { access } = await world.signUpUser();
    const claims = claimsIn(access);
    const [header, payload, signature] = access.split('.') as [string, string, string];
    const { body: jwks } = await world.request('GET', '/.well-known/jwks.json');
    const publicPem = createPublicKey({ key: jwks.keys[0], format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    }) as string;
    const hmac = (key: string): string => {
      const text = `${base64({ alg: 'HS256', typ: 'JWT', kid: jwks.keys[0].kid })}.${payload}`;
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const stranger = await generateKeyPair('ES256');
    const forged = {
      'alg none': `${base64({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      'alg None with a signature': `${base64({ alg: 'None' })}.${payload}.${signature}`,
      'HS256 with the public key as PEM': hmac(publicPem),
      'HS256 with the public key as JSON': hmac(JSON.stringify(jwks.keys[0])),
      'another key': await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(stranger.privateKey),
      'another key under our kid': await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: jwks.keys[0].kid })
        .sign(stranger.privateKey),
      'a key of its own in the header': await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' } })
        .sign(stranger.privateKey),
      'other claims': `${header}.${base64({ ...claims, sub: '00000000-0000-4000-8000-000000000000' })}.${signature}`,
      'an empty signature': `${header}.${payload}.`,
      'a signature of zeros': `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    };
    for (const [name, token] of Object.entries(forged)) {
      const { status, body } = await world.request('GET', '/user', { token });
      expect([status, body.code], name).toEqual([403, 'bad_jwt']);
      expect(body.message, name).toMatch(/^invalid JWT: unable to parse or verify signature, /);
      const data = await fetch(`${world.url}/rest/v1/profiles`, { headers: { Authorization: `Bearer ${token}` } });
      expect(data.status, name).toBe(401);
    }
    expect((await world.request('GET', '/user', { token: access })).status).toBe(200);
  });

  test('rejects an expired token, also when it is cached', async () => {
    const { access } = await world.signUpUser();
    expect((await world.request('GET', '/user', { token: access })).status).toBe(200);
    world.clock.advance(HOUR);
    const { status, body } = await world.request('GET', '/user', { token: access });
    expect([status, body]).toEqual([
      403,
      {
        code: 'bad_jwt',
        message: 'invalid JWT: unable to parse or verify signature, token has invalid claims: token is expired',
      },
    ]);
  });

  test('validates each claim of a genuine token', async () => {
    const { access, id } = await world.signUpUser();
    const claims = claimsIn(access);
    const cases: [JWTPayload, number, string][] = [
      [{ ...claims, sub: '' }, 403, 'bad_jwt'],
      [{ ...claims, sub: 'somebody' }, 400, 'bad_jwt'],
      [{ ...claims, session_id: 'here' }, 403, 'bad_jwt'],
      [{ ...claims, nbf: claims.exp! + 60 }, 403, 'bad_jwt'],
      [{ ...claims, sub: '00000000-0000-4000-8000-000000000000' }, 403, 'user_not_found'],
      [{ ...claims, session_id: '00000000-0000-4000-8000-000000000000' }, 403, 'session_not_found'],
    ];
    for (const [changed, status, code] of cases) {
      const response = await world.request('GET', '/user', { token: await signClaims(changed) });
      expect([response.status, response.body.code]).toEqual([status, code]);
    }
    const { exp: _exp, ...withoutExpiry } = claims;
    expect((await world.request('GET', '/user', { token: await signClaims(withoutExpiry) })).body.code).toBe('bad_jwt');
    expect(
      (await world.request('GET', '/user', { token: await signClaims(claims, { kid: 'another' }) })).body.code,
    ).toBe('bad_jwt');
    const { session_id: _session, ...withoutSession } = claims;
    expect((await world.request('GET', '/user', { token: await signClaims(withoutSession) })).body.id).toBe(id);
  });

  test('rejects another audience than the token’s', async () => {
    const { access: token } = await world.signUpUser();
    const read = (audience: string) => world.request('GET', '/user', { token, headers: { 'X-JWT-AUD': audience } });
    expect((await read('authenticated')).status).toBe(200);
    const { status, body } = await read('another');
    expect([status, body]).toEqual([
      400,
      { code: 'validation_failed', message: "Token audience doesn't match request audience" },
    ]);
  });

  test('rejects a session of another user', async () => {
    const [one, other] = [await world.signUpUser(), await world.signUpUser()];
    const mixed = await signClaims({ ...claimsIn(one.access), session_id: claimsIn(other.access)['session_id'] });
    expect((await world.request('GET', '/user', { token: mixed })).body.code).toBe('session_not_found');
  });

  test('rejects within thirty seconds a session that another server ended', async () => {
    const { id, access } = await world.signUpUser();
    const read = () => fetch(`${world.url}/rest/v1/profiles`, { headers: { Authorization: `Bearer ${access}` } });
    expect((await read()).status).toBe(200);
    await world.admin.query('delete from auth.sessions where user_id = $1', [id]);
    expect((await read()).status).toBe(200);
    world.clock.advance(30_000);
    expect((await read()).status).toBe(401);
  });

  test('changes no setting with a session that another server ended', async () => {
    const { id, access } = await world.signUpUser();
    const send = async (method: string, path: string, body?: unknown) => {
      const headers = { Authorization: `Bearer ${access}`, 'Content-Type': 'application/json' };
      const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      return (await fetch(`${world.url}/rest/v1/${path}`, request)).status;
    };
    expect(await send('POST', 'preferences', { user_id: id, time_zone: 'UTC' })).toBe(201);
    await world.admin.query('delete from auth.sessions where user_id = $1', [id]);
    expect(await send('GET', 'preferences')).toBe(200);
    expect(await send('PATCH', `preferences?user_id=eq.${id}`, { digest: true })).toBe(401);
    expect(await send('PATCH', `profiles?id=eq.${id}`, { ai_consent: true })).toBe(401);
    expect(await send('DELETE', `push_subscriptions?user_id=eq.${id}`)).toBe(401);
  });

  test('makes the client drop an ended session', async () => {
    const client = world.client();
    await client.auth.signUp({ email: newAddress(), password: PASSWORD });
    const token = (await client.auth.getSession()).data.session!.access_token;
    await world.request('POST', '/logout', { token });
    const { error } = await client.auth.getUser();
    expect(error).toMatchObject({ name: 'AuthSessionMissingError' });
    expect((await client.auth.getSession()).data.session).toBeNull();
  });
});

describe('PUT /user', () => {
  test('merges metadata and removes null values', async () => {
    const client = world.client();
    await client.auth.signUp({
      email: newAddress(),
      password: PASSWORD,
      options: { data: { name: 'Ada', town: 'London' } },
    });
    const { data, error } = await client.auth.updateUser({ data: { name: 'Grace', town: null } });
    expect(error).toBeNull();
    expect(data.user?.user_metadata).toMatchObject({ name: 'Grace', email_verified: true });
    expect(data.user?.user_metadata).not.toHaveProperty('town');
  });

  test('a password change keeps this session and ends the others', async () => {
    const { email, access } = await world.signUpUser();
    const other = (await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } }))
      .body;
    const { status } = await world.request('PUT', '/user', { token: access, body: { password: 'quite another' } });
    expect(status).toBe(200);
    expect((await world.request('GET', '/user', { token: access })).status).toBe(200);
    expect((await world.request('GET', '/user', { token: other.access_token })).body.code).toBe('session_not_found');
    const old = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    expect(old.body.code).toBe('invalid_credentials');
    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('Your password was changed');
    expect(mail.text).not.toContain('read-only links');
  });

  test('a password change keeps read-only links, and tells their owner where to end them', async () => {
    const { email, id, access } = await world.signUpUser();
    await world.admin.query(
      `with document as (
         insert into documents (user_id, title, first_day, last_day, content)
         values ($1, 'Wins', '2026-01-01', '2026-12-31', '{}')
         returning id)
       insert into document_links (user_id, document_id, token_hash, expires_at)
       select $1, id, sha256('link'), now() + interval '1 day' from document`,
      [id],
    );
    const { status } = await world.request('PUT', '/user', { token: access, body: { password: 'quite another' } });
    expect(status).toBe(200);
    const { text, links } = await world.waitForMailWith('Your password was changed', email);
    expect(text).toContain('Your read-only links still show');
    expect(links).toContain(`${world.config.publicUrl}/settings`);
    const { rowCount } = await world.admin.query('select from document_links where user_id = $1', [id]);
    expect(rowCount).toBe(1);
  });

  test('a password change refuses a sign-in that is checking the old password', async () => {
    const { email, id } = await world.signUpUser();
    const signIn = () => world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    const { status, body } = await blockRequest(world.admin, id, signIn, async (transaction) => {
      await transaction.query("update auth.users set password_hash = 'another hash' where id = $1", [id]);
      await endSessionsOf(id)(transaction);
    });
    expect([status, body.code]).toEqual([400, 'invalid_credentials']);
    const sessions = await world.admin.query('select from auth.sessions where user_id = $1', [id]);
    expect(sessions.rowCount).toBe(0);
  });

  test('a password change invalidates every outstanding link', async () => {
    const { email, access } = await world.signUpUser();
    await world.proveAddress(email);
    await world.request('POST', '/recover', { body: { email } });
    const { code } = await world.waitForMail(email);
    await world.request('PUT', '/user', { token: access, body: { password: 'quite another' } });
    const { status } = await world.request('POST', '/verify', { body: { type: 'recovery', email, token: code } });
    expect(status).toBe(403);
  });

  test('a password change ends the tokens of notifications, but not the addresses for replies', async () => {
    const { id, access } = await world.signUpUser();
    const tokens = (['tap', 'reply'] as const).map((purpose) => ({ token: createMailToken(id), purpose }));
    const [now, service] = [world.clock.now(), world.database.asService('test')];
    await storeMailTokens(service, { day: utcDayOf(now), now, tokens });
    expect((await world.request('PUT', '/user', { token: access, body: { password: 'quite another' } })).status).toBe(
      200,
    );
    const found = tokens.map(({ token, purpose }) => findMailToken(service, token.text, purpose, now));
    expect(await Promise.all(found)).toEqual([null, expect.objectContaining({ userId: id })]);
  });

  test.each(['password', 'email'])('a request whose body ends after the session changes no %s', async (field) => {
    const { email, access } = await world.signUpUser();
    const { body: thief } = await world.request('POST', '/token?grant_type=password', {
      body: { email, password: PASSWORD },
    });
    const value = field === 'password' ? 'quite another' : newAddress();
    const open = await openRequest(world, 'PUT', '/user', { token: thief.access_token, body: { [field]: value } });
    expect((await world.request('POST', '/logout?scope=others', { token: access })).status).toBe(204);
    expect(await open.finish()).toMatchObject({ status: 403, body: { code: 'session_not_found' } });
    const { body } = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    expect(body.user.new_email).toBeUndefined();
  });

  test('an old session must reauthenticate with a code before it changes password or address', async () => {
    const { email, refresh } = await world.signUpUser();
    world.clock.advance(24 * HOUR);
    const token = (await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } }))
      .body.access_token;
    const change = (body: unknown) => world.request('PUT', '/user', { token, body });
    expect((await change({ password: 'quite another' })).body).toEqual({
      code: 'reauthentication_needed',
      message: 'Password update requires reauthentication',
    });
    expect((await change({ email: newAddress() })).body.code).toBe('reauthentication_needed');
    expect((await change({ data: { name: 'Still fine' } })).status).toBe(200);

    const asked = await world.request('GET', '/reauthenticate', { token });
    expect([asked.status, asked.body]).toEqual([200, {}]);
    const mail = await world.waitForMail(email);
    expect(mail.links).toEqual([`${world.config.publicUrl}/forgot-password`]);
    const wrong = await change({ password: 'quite another', nonce: mail.code === '000000' ? '1' : '000000' });
    expect([wrong.status, wrong.body.code]).toEqual([422, 'reauthentication_not_valid']);
    expect((await change({ password: 'quite another', nonce: mail.code })).status).toBe(200);
    const again = await change({ password: 'yet another', nonce: mail.code });
    expect(again.body.code).toBe('reauthentication_not_valid');
    const signIn = await world.request('POST', '/verify', { body: { type: 'recovery', email, token: mail.code } });
    expect(signIn.status).toBe(403);
  });

  test('a user of a SAML provider changes metadata alone', async () => {
    const { id, access: token } = await world.signUpUser();
    await world.admin.query('update auth.users set is_sso_user = true where id = $1', [id]);
    const change = (body: unknown) => world.request('PUT', '/user', { token, body });
    for (const body of [{ email: newAddress() }, { password: 'quite another' }, { nonce: '123456' }]) {
      const { status, body: answer } = await change(body);
      expect([status, answer]).toEqual([
        422,
        { code: 'user_sso_managed', message: 'Updating email, phone, password of a SSO account only possible via SSO' },
      ]);
    }
    expect((await change({ data: { name: 'Ada' } })).status).toBe(200);
  });

  test('concurrent changes of metadata keep one another', async () => {
    const { access: token } = await world.signUpUser();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(names.map((name) => world.request('PUT', '/user', { token, body: { data: { [name]: 1 } } })));
    const { body } = await world.request('GET', '/user', { token });
    expect(Object.keys(body.user_metadata)).toEqual(expect.arrayContaining(names));
  });

  test.each([
    [{ password: '12345' }, 422, 'weak_password'],
    [{ password: 'x'.repeat(73) }, 400, 'validation_failed'],
    [{ password: PASSWORD }, 422, 'same_password'],
    [{ email: 'not an address' }, 400, 'validation_failed'],
    [{ phone: '123' }, 400, 'validation_failed'],
    [{ phone: '+4915112345678' }, 400, 'phone_provider_disabled'],
    [{ app_metadata: { role: 'admin' } }, 403, 'not_admin'],
    [{ data: [] }, 400, 'bad_json'],
    [{ data: { name: 'x'.repeat(9_000) } }, 400, 'validation_failed'],
  ])('rejects body %#', async (body, status, code) => {
    const { access } = await world.signUpUser();
    const response = await world.request('PUT', '/user', { token: access, body });
    expect([response.status, response.body.code]).toEqual([status, code]);
  });
});
