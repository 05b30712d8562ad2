/** A second factor is enrolled and removed (docs/specification/api.md 31). */
import { createClient } from '@supabase/supabase-js';
import { describe, expect, test } from 'vitest';
import { blockRequest, endSessionsOf } from '../block-request.ts';
import { PASSWORD, newAddress, setUpAuthWorld } from '../fixture.ts';
import { HOUR, MINUTE, claimsOf, createFactorClient, errorOf, ok } from './factor-client.ts';

const world = setUpAuthWorld();
const { codeOf, wrongCodeOf, post, enrollApp, passSecondStep, signIn, renew, createProtectedPerson } =
  createFactorClient(world);

describe('enrolment', () => {
  test('of an authenticator app returns secret, URI and a QR code', async () => {
    const { access, email } = await world.signUpUser();
    const body = ok(await post('/factors', access, { factor_type: 'totp', friendly_name: 'Phone' }));
    expect(body).toMatchObject({ id: expect.any(String), type: 'totp', friendly_name: 'Phone' });
    expect(body.totp.secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = new URL(body.totp.uri);
    expect([uri.protocol, uri.host, uri.searchParams.get('secret')]).toEqual(['otpauth:', 'totp', body.totp.secret]);
    expect(uri.searchParams.get('issuer')).toBe('localhost');
    expect(decodeURIComponent(uri.pathname)).toBe(`/localhost:${email}`);
    expect(body.totp.qr_code).toMatch(/^<svg /);
    // A data URL ends at `#`, and `%` begins an escape in it.
    expect(body.totp.qr_code).not.toMatch(/[#%]/);
  });

  test('stores the secret sealed and an unverified factor', async () => {
    const { access, id } = await world.signUpUser();
    const totp = await enrollApp(access);
    const { rows } = await world.admin.query('select * from auth.mfa_factors where id = $1', [totp.id]);
    expect(rows[0]).toMatchObject({ user_id: id, status: 'unverified', factor_type: 'totp' });
    expect(rows[0].secret.includes(Buffer.from(totp.secret))).toBe(false);
    const user = ok(await world.request('GET', '/user', { token: access }));
    expect(user.factors).toMatchObject([{ id: totp.id, status: 'unverified', factor_type: 'totp' }]);
    expect(JSON.stringify(user)).not.toContain(totp.secret);
  });

  test('rejects an unknown type, a taken name, long texts and switched-off types', async () => {
    const { access } = await world.signUpUser();
    await enrollApp(access, 'app');
    const attempts: [object, unknown[]][] = [
      [{}, [400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn']],
      [
        { factor_type: 'recovery_code' },
        [400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
      ],
      [
        { factor_type: 'totp', friendly_name: 'app' },
        [422, 'mfa_factor_name_conflict', 'A factor with the friendly name "app" for this user already exists'],
      ],
      [
        { factor_type: 'totp', friendly_name: 'x'.repeat(121) },
        [400, 'validation_failed', 'friendly_name must be 120 characters or less'],
      ],
      [
        { factor_type: 'totp', issuer: 'x'.repeat(65) },
        [400, 'validation_failed', 'issuer must be 64 characters or less'],
      ],
      [
        { factor_type: 'phone', phone: '+491' },
        [422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone'],
      ],
    ];
    for (const [body, expected] of attempts) expect(errorOf(await post('/factors', access, body))).toEqual(expected);
  });

  test('keeps at most ten factors', async () => {
    const { access } = await world.signUpUser();
    for (let index = 0; index < 10; index += 1) await enrollApp(access, `app ${index}`);
    expect(errorOf(await post('/factors', access, { factor_type: 'totp', friendly_name: 'more' }))).toEqual([
      422,
      'too_many_enrolled_mfa_factors',
      'Maximum number of verified factors reached, unenroll to continue',
    ]);
    world.clock.advance(5 * MINUTE);
    await enrollApp(access, 'after the unverified ones have expired');
  });

  test('needs the second step once a factor is verified', async () => {
    const { email } = await createProtectedPerson();
    const { access_token } = await signIn(email);
    expect(errorOf(await post('/factors', access_token, { factor_type: 'totp', friendly_name: 'mine' }))).toEqual([
      403,
      'insufficient_aal',
      'AAL2 required to enroll a new factor',
    ]);
  });

  test('rejects guests, anonymous users and tokens of ended sessions', async () => {
    const body = { factor_type: 'totp' };
    expect((await world.request('POST', '/factors', { body })).body.code).toBe('no_authorization');
    expect((await post('/factors', world.config.publishableKey, body)).body.code).toBe('bad_jwt');
    const { access, id } = await world.signUpUser();
    await world.admin.query('update auth.users set is_anonymous = true where id = $1', [id]);
    expect(errorOf(await post('/factors', access, body))).toEqual([
      403,
      'no_authorization',
      'Anonymous user not allowed to perform these actions',
    ]);
    await world.admin.query('delete from auth.sessions where user_id = $1', [id]);
    expect((await post('/factors', access, body)).body.code).toBe('session_not_found');
  });

  test('in a session older than a day needs a mailed code', async () => {
    const { access, refresh, email } = await world.signUpUser();
    world.clock.advance(25 * HOUR);
    expect((await post('/factors', access, { factor_type: 'totp' })).body.code).toBe('bad_jwt');
    const token = ok(await renew(refresh)).access_token;
    expect(errorOf(await post('/factors', token, { factor_type: 'totp' }))).toEqual([
      400,
      'reauthentication_needed',
      'Changing how the account is signed in to requires reauthentication',
    ]);
    await world.request('GET', '/reauthenticate', { token });
    const { code } = await world.waitForMailWith('Your confirmation code', email);
    const wrong = code === '123456' ? '654321' : '123456';
    expect((await post('/factors', token, { factor_type: 'totp', nonce: wrong })).body.code).toBe(
      'reauthentication_not_valid',
    );
    ok(await post('/factors', token, { factor_type: 'totp', nonce: code }));
    expect((await post('/factors', token, { factor_type: 'totp', friendly_name: 'b', nonce: code })).body.code).toBe(
      'reauthentication_not_valid',
    );
  });
});

describe('unenrolment', () => {
  test('of an unverified factor needs no second step', async () => {
    const { access } = await world.signUpUser();
    const totp = await enrollApp(access);
    const remove = (token: string, id = totp.id) => world.request('DELETE', `/factors/${id}`, { token });
    const stranger = await world.signUpUser();
    expect((await remove(stranger.access)).body.code).toBe('mfa_factor_not_found');
    expect(ok(await remove(access))).toEqual({ id: totp.id });
    expect((await remove(access)).body.code).toBe('mfa_factor_not_found');
    expect((await remove(access, 'x')).status).toBe(404);
  });

  test('of a verified factor needs the second step, tells the owner and drops its sessions to aal1', async () => {
    const { email, totp, session } = await createProtectedPerson();
    const { access_token } = await signIn(email);
    expect(errorOf(await world.request('DELETE', `/factors/${totp.id}`, { token: access_token }))).toEqual([
      422,
      'insufficient_aal',
      'AAL2 required to unenroll verified factor',
    ]);
    ok(await world.request('DELETE', `/factors/${totp.id}`, { token: session.access_token }));
    const claims = claimsOf(ok(await renew(session.refresh_token)).access_token);
    expect(claims.aal).toBe('aal1');
    expect(claims.amr.map((entry: { method: string }) => entry.method)).toEqual(['password']);
    await world.waitForMailWith('Two-step verification is off', email);
    const { rows } = await world.admin.query('select event from auth.audit_log where user_id = $1 order by id', [
      claims.sub,
    ]);
    expect(rows.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['factor_enrolled', 'factor_verified', 'factor_removed']),
    );
  });

  test('of an unverified factor keeps it if it is verified meanwhile', async () => {
    const { access, id } = await world.signUpUser();
    const totp = await enrollApp(access);
    const removal = () => world.request('DELETE', `/factors/${totp.id}`, { token: access });
    const { body } = await blockRequest(world.admin, id, removal, (transaction) =>
      transaction.query("update auth.mfa_factors set status = 'verified' where id = $1", [totp.id]),
    );
    expect(body.code).toBe('mfa_factor_not_found');
    const { rowCount } = await world.admin.query('select from auth.mfa_factors where id = $1', [totp.id]);
    expect(rowCount).toBe(1);
  });

  test.each(['a factor', 'recovery codes'])('of %s is refused when the session ends while it waits', async (what) => {
    const { id, totp, session } = await createProtectedPerson();
    const token = session.access_token;
    ok(await post('/factors/recovery-codes', token));
    const path = `/factors/${what === 'a factor' ? totp.id : 'recovery-codes'}`;
    const removal = () => world.request('DELETE', path, { token });
    const { body } = await blockRequest(world.admin, id, removal, endSessionsOf(id));
    expect(body.code).toBe('session_not_found');
    const { rowCount } = await world.admin.query(
      'select from auth.mfa_factors join auth.recovery_code_sets using (user_id) where user_id = $1',
      [id],
    );
    expect(rowCount).toBe(1);
  });

  test('of a verified factor needs a second step within a day', async () => {
    const { totp, session } = await createProtectedPerson();
    world.clock.advance(25 * HOUR);
    const { access_token } = ok(await renew(session.refresh_token));
    const remove = (token: string) => world.request('DELETE', `/factors/${totp.id}`, { token });
    expect((await remove(access_token)).body.code).toBe('reauthentication_needed');
    ok(await remove((await passSecondStep(access_token, totp)).access_token));
  });
});

describe('the real client', () => {
  test('enrols, lists, challenges, verifies and unenrols, and knows its level', async () => {
    const client = world.client();
    await client.auth.signUp({ email: newAddress(), password: PASSWORD });
    const { data: factor } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'app', issuer: 'Forge' });
    if (factor?.type !== 'totp') throw new Error('not enrolled');
    expect(factor.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg /);
    const code = codeOf(factor.totp.secret);
    const verified = await client.auth.mfa.challengeAndVerify({ factorId: factor.id, code });
    expect(verified.error).toBeNull();
    const { data: level } = await client.auth.mfa.getAuthenticatorAssuranceLevel();
    expect(level).toMatchObject({ currentLevel: 'aal2', nextLevel: 'aal2' });
    const { data: listed } = await client.auth.mfa.listFactors();
    expect(listed?.totp).toMatchObject([{ id: factor.id, friendly_name: 'app' }]);
    expect((await client.auth.refreshSession()).error).toBeNull();
    expect((await client.auth.mfa.unenroll({ factorId: factor.id })).data).toEqual({ id: factor.id });
  });

  test('asks for the second step after a sign-in', async () => {
    const { email, totp } = await createProtectedPerson();
    const client = world.client();
    await client.auth.signInWithPassword({ email, password: PASSWORD });
    const { data } = await client.auth.mfa.getAuthenticatorAssuranceLevel();
    expect(data).toMatchObject({ currentLevel: 'aal1', nextLevel: 'aal2' });
    const { data: challenge } = await client.auth.mfa.challenge({ factorId: totp.id });
    const wrong = await client.auth.mfa.verify({
      factorId: totp.id,
      challengeId: challenge!.id,
      code: wrongCodeOf(totp.secret),
    });
    expect(wrong.error?.code).toBe('mfa_verification_failed');
  });

  test('handles recovery codes', async () => {
    const { email, session } = await createProtectedPerson();
    const client = createClient(world.url, world.config.publishableKey, {
      auth: { persistSession: false, autoRefreshToken: false, experimental: { recoveryCodes: true } },
    });
    await client.auth.setSession(session);
    const { data: created } = await client.auth.mfa.recoveryCodes.generate();
    expect(created).toMatchObject({ friendly_name: 'Recovery codes', total: 10 });
    await client.auth.signInWithPassword({ email, password: PASSWORD });
    expect((await client.auth.mfa.recoveryCodes.verify({ code: created!.codes[3]! })).error).toBeNull();
    expect((await client.auth.mfa.recoveryCodes.getStatus()).data).toMatchObject({ remaining: 9 });
    expect((await client.auth.mfa.recoveryCodes.regenerate()).data?.codes).toHaveLength(10);
    expect((await client.auth.mfa.recoveryCodes.unenroll()).data).toEqual({ id: created!.id });
  });
});
