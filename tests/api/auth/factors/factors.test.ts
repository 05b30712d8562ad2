/** Second factors and recovery codes (docs/specification/wire.md 31). */
import { createClient } from '@supabase/supabase-js';
import fc from 'fast-check';
import { generate } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { SoftwareAuthenticator } from '../../../support/software-authenticator.ts';
import { PASSWORD, newAddress, startAuthWorld } from '../fixture.ts';
import type { AuthWorld, WireBody } from '../fixture.ts';

let world: AuthWorld;
let origin: string;
beforeAll(async () => {
  world = await startAuthWorld();
  origin = world.config.publicUrl;
});
afterAll(() => world.close());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Person = Awaited<ReturnType<AuthWorld['signUpUser']>>;
type Totp = { id: string; secret: string };

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
/** The code of an authenticator app at the server's time, `steps` of 30 seconds from now. */
const codeOf = (secret: string, steps = 0): Promise<string> =>
  generate({ secret, epoch: Math.floor(world.clock.now().getTime() / 1000) + steps * 30 });
/** A code that is wrong in the current, the previous and the next time step, all of which the server accepts. */
async function wrongCodeOf(secret: string): Promise<string> {
  const right = await Promise.all([-1, 0, 1].map((step) => codeOf(secret, step)));
  return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code))!;
}

const post = (path: string, token: string, body?: unknown) => world.request('POST', path, { token, body });
const errorOf = ({ status, body }: { status: number; body: WireBody }) => [status, body.code, body.message];
const ok = ({ status, body }: { status: number; body: WireBody }): WireBody => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

async function enrollApp(token: string, name = 'app'): Promise<Totp> {
  const body = ok(await post('/factors', token, { factor_type: 'totp', friendly_name: name }));
  return { id: body.id, secret: body.totp.secret };
}
const requestChallenge = async (token: string, id: string): Promise<string> =>
  ok(await post(`/factors/${id}/challenge`, token, {})).id;
/** Passes the second step. Moves the clock by a time step first, because the server accepts one code per step. */
async function passSecondStep(token: string, totp: Totp): Promise<WireBody> {
  world.clock.advance(30_000);
  const challenge_id = await requestChallenge(token, totp.id);
  return ok(await post(`/factors/${totp.id}/verify`, token, { challenge_id, code: await codeOf(totp.secret) }));
}
const signIn = async (email: string): Promise<WireBody> =>
  ok(await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } }));
const renew = (refresh_token: string) =>
  world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token } });

/** A person with a verified authenticator app, and the session that has passed the second step. */
async function createProtectedPerson(): Promise<Person & { totp: Totp; session: WireBody }> {
  const person = await world.signUpUser();
  const totp = await enrollApp(person.access);
  return { ...person, totp, session: await passSecondStep(person.access, totp) };
}

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
    const { code } = await world.mailWith('Your confirmation code', email);
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

describe('a second step', () => {
  test('raises the same session to aal2 and verifies the factor', async () => {
    const { access, email, id } = await world.signUpUser();
    const totp = await enrollApp(access);
    const session = await passSecondStep(access, totp);
    const [before, after] = [claimsOf(access), claimsOf(session.access_token)];
    expect(after).toMatchObject({ aal: 'aal2', session_id: before.session_id, sub: id });
    expect(after.amr.map((entry: { method: string }) => entry.method)).toEqual(['totp', 'password']);
    expect(session.user.factors).toMatchObject([{ id: totp.id, status: 'verified' }]);
    expect(Object.keys(session).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'token_type',
      'user',
    ]);
    await world.mailWith('Two-step verification was added', email);
    const renewed = ok(await renew(session.refresh_token));
    expect(claimsOf(renewed.access_token)).toMatchObject({ aal: 'aal2', amr: after.amr });
  });

  test('returns a challenge that names its end', async () => {
    const { access } = await world.signUpUser();
    const totp = await enrollApp(access);
    const body = ok(await post(`/factors/${totp.id}/challenge`, access));
    expect(Object.keys(body).toSorted()).toEqual(['expires_at', 'id', 'type']);
    expect(Math.abs(body.expires_at - world.clock.now().getTime() / 1000 - 300)).toBeLessThan(5);
  });

  test('rejects a challenge of another factor', async () => {
    const { totp, session } = await createProtectedPerson();
    const token = session.access_token;
    const other = await enrollApp(token, 'other app');
    const challenge_id = await requestChallenge(token, totp.id);
    const answer = { challenge_id, code: await codeOf(other.secret) };
    expect(errorOf(await post(`/factors/${other.id}/verify`, token, answer)).slice(0, 2)).toEqual([
      422,
      'mfa_factor_not_found',
    ]);
  });

  test('ends every other session without a second step, at once', async () => {
    const { access, email } = await world.signUpUser();
    const totp = await enrollApp(access);
    const other = await signIn(email);
    await passSecondStep(access, totp);
    expect((await world.request('GET', '/user', { token: other.access_token })).body.code).toBe('session_not_found');
    expect((await renew(other.refresh_token)).body.code).toBe('refresh_token_not_found');
  });

  test('keeps other sessions that have passed it', async () => {
    const { email, totp, session } = await createProtectedPerson();
    const second = await passSecondStep((await signIn(email)).access_token, totp);
    ok(await renew(session.refresh_token));
    ok(await renew(second.refresh_token));
  });

  test('leaves no way from an earlier refresh token to aal2', async () => {
    const { refresh, access, email } = await world.signUpUser();
    const totp = await enrollApp(access);
    const rotated = ok(await renew(refresh)).refresh_token;
    const session = await passSecondStep(access, totp);
    for (const token of [refresh, rotated]) {
      expect(errorOf(await renew(token))).toEqual([
        400,
        'refresh_token_not_found',
        'Invalid Refresh Token: Refresh Token Not Found',
      ]);
    }
    expect(claimsOf(ok(await renew(session.refresh_token)).access_token).aal).toBe('aal2');
    const again = await signIn(email);
    await Promise.all([passSecondStep(again.access_token, totp), renew(again.refresh_token)]);
    const late = await renew(again.refresh_token);
    expect([late.body.code, late.status]).toEqual(['refresh_token_not_found', 400]);
  });

  test('deletes the other unverified factors of the type', async () => {
    const { access } = await world.signUpUser();
    const [first] = [await enrollApp(access, 'a'), await enrollApp(access, 'b')];
    ok(await post('/factors', access, { factor_type: 'webauthn', friendly_name: 'key' }));
    const { user } = await passSecondStep(access, first);
    expect(user.factors.map((factor: { friendly_name: string }) => factor.friendly_name)).toEqual(['a', 'key']);
  });

  test('cannot be passed with a factor that was stored before the account was protected', async () => {
    const { access, email } = await world.signUpUser();
    const planted = new SoftwareAuthenticator(origin);
    const key = ok(await post('/factors', access, { factor_type: 'webauthn', friendly_name: 'thief' }));
    await passSecondStep(access, await enrollApp(access));
    const thief = (await signIn(email)).access_token;
    const challenge = ok(await post(`/factors/${key.id}/challenge`, thief, {}));
    const { publicKey } = challenge.webauthn.credential_options;
    const webauthn = { type: 'create', credential_response: planted.create(publicKey) };
    expect(errorOf(await post(`/factors/${key.id}/verify`, thief, { challenge_id: challenge.id, webauthn }))).toEqual([
      403,
      'insufficient_aal',
      'AAL2 required to enroll a new factor',
    ]);
  });

  test('rejects a wrong code, an empty code and unknown factors and challenges', async () => {
    const { access } = await world.signUpUser();
    const stranger = await world.signUpUser();
    const totp = await enrollApp(access);
    const challenge_id = await requestChallenge(access, totp.id);
    const verify = `/factors/${totp.id}/verify`;
    const code = await codeOf(totp.secret);
    const uuid = '3f9a1c2b-0000-4000-8000-000000000000';
    expect(errorOf(await post(verify, access, { challenge_id, code: '' }))).toEqual([
      400,
      'validation_failed',
      'Code needs to be non-empty',
    ]);
    for (const wrong of [await wrongCodeOf(totp.secret), `${code}0`, ' ', 'abcdef']) {
      expect(errorOf(await post(verify, access, { challenge_id, code: wrong }))).toEqual([
        422,
        'mfa_verification_failed',
        'Invalid TOTP code entered',
      ]);
    }
    for (const unknown of [uuid, 'x', '']) {
      expect(errorOf(await post(verify, access, { challenge_id: unknown, code }))).toEqual([
        422,
        'mfa_factor_not_found',
        'MFA factor with the provided challenge ID not found',
      ]);
    }
    expect(errorOf(await post('/factors/x/verify', access, { challenge_id, code }))).toEqual([
      404,
      'validation_failed',
      'factor_id must be an UUID',
    ]);
    for (const [path, token] of [
      [`/factors/${uuid}/verify`, access],
      [verify, stranger.access],
      [`/factors/${totp.id}/challenge`, stranger.access],
    ] as const) {
      expect(errorOf(await post(path, token, { challenge_id, code }))).toEqual([
        404,
        'mfa_factor_not_found',
        'Factor not found',
      ]);
    }
    ok(await post(verify, access, { challenge_id, code }));
  });

  test('answers in the old error format without a version', async () => {
    const { access } = await world.signUpUser();
    const response = await fetch(`${world.url}/auth/v1/factors/x/verify`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access}` },
    });
    expect([response.status, await response.json()]).toEqual([
      404,
      { code: 404, error_code: 'validation_failed', msg: 'factor_id must be an UUID' },
    ]);
  });

  test('rejects a challenge after five minutes, after its use and from another address', async () => {
    const { access } = await world.signUpUser();
    const totp = await enrollApp(access);
    const verify = `/factors/${totp.id}/verify`;
    const old = await requestChallenge(access, totp.id);
    world.clock.advance(5 * MINUTE);
    expect(errorOf(await post(verify, access, { challenge_id: old, code: await codeOf(totp.secret) }))).toEqual([
      422,
      'mfa_challenge_expired',
      `MFA challenge ${old} has expired, verify against another challenge or create a new challenge.`,
    ]);
    const used = await requestChallenge(access, totp.id);
    const { access_token } = ok(await post(verify, access, { challenge_id: used, code: await codeOf(totp.secret) }));
    world.clock.advance(30_000);
    const mismatch = [422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.'];
    const code = await codeOf(totp.secret);
    expect(errorOf(await post(verify, access_token, { challenge_id: used, code }))).toEqual(mismatch);
    const elsewhere = await requestChallenge(access_token, totp.id);
    await world.admin.query("update auth.mfa_challenges set ip = '203.0.113.9' where id = $1", [elsewhere]);
    expect(errorOf(await post(verify, access_token, { challenge_id: elsewhere, code }))).toEqual(mismatch);
  });

  test('accepts codes of the neighbouring steps, and each step once', async () => {
    const { totp, session } = await createProtectedPerson();
    const verify = async (code: string) => {
      const challenge_id = await requestChallenge(session.access_token, totp.id);
      return post(`/factors/${totp.id}/verify`, session.access_token, { challenge_id, code });
    };
    world.clock.advance(120_000);
    expect((await verify(await codeOf(totp.secret, -2))).status).toBe(422);
    expect((await verify(await codeOf(totp.secret, 2))).status).toBe(422);
    const next = await codeOf(totp.secret, 1);
    ok(await verify(next));
    for (const seen of [next, await codeOf(totp.secret)]) {
      expect(errorOf(await verify(seen))).toEqual([422, 'mfa_verification_failed', 'Invalid TOTP code entered']);
    }
  });

  test('passes once for ten concurrent answers with the same code', async () => {
    const { email, totp } = await createProtectedPerson();
    const sessions = await Promise.all(Array.from({ length: 5 }, () => signIn(email)));
    world.clock.advance(30_000);
    const code = await codeOf(totp.secret);
    const challenges = await Promise.all(sessions.map(({ access_token }) => requestChallenge(access_token, totp.id)));
    const answers = await Promise.all(
      [0, 1].flatMap(() =>
        sessions.map(({ access_token }, index) =>
          post(`/factors/${totp.id}/verify`, access_token, { challenge_id: challenges[index], code }),
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('closes a challenge after five answers, also concurrent ones', async () => {
    const { access } = await world.signUpUser();
    const totp = await enrollApp(access);
    const challenge_id = await requestChallenge(access, totp.id);
    const wrong = await wrongCodeOf(totp.secret);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(`/factors/${totp.id}/verify`, access, { challenge_id, code: wrong })),
    );
    const codes = answers.map(({ body }) => body.code);
    expect(codes.filter((code) => code === 'mfa_verification_failed')).toHaveLength(5);
    expect(codes.filter((code) => code === 'mfa_challenge_expired')).toHaveLength(15);
    const code = await codeOf(totp.secret);
    expect((await post(`/factors/${totp.id}/verify`, access, { challenge_id, code })).body.code).toBe(
      'mfa_challenge_expired',
    );
  });

  test('is required for data and functions', async () => {
    const { email, totp } = await createProtectedPerson();
    const { access_token } = await signIn(email);
    const call = (path: string, token: string, method = 'GET') =>
      fetch(`${world.url}${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
    const refused = await call('/rest/v1/entries', access_token);
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: '42501' }]);
    const notRun = await call('/functions/v1/find-entries', access_token, 'POST');
    expect([notRun.status, await notRun.json()]).toMatchObject([403, { code: 'INSUFFICIENT_AAL' }]);
    const session = await passSecondStep(access_token, totp);
    expect((await call('/rest/v1/entries', session.access_token)).status).toBe(200);
  });

  test('is required for a change of password or address', async () => {
    const { email, totp } = await createProtectedPerson();
    const { access_token } = await signIn(email);
    const change = (token: string, body: object) => world.request('PUT', '/user', { token, body });
    for (const body of [{ password: 'another horse' }, { email: newAddress() }]) {
      expect(errorOf(await change(access_token, body))).toEqual([
        401,
        'insufficient_aal',
        'AAL2 session is required to update email or password when MFA is enabled.',
      ]);
    }
    ok(await change(access_token, { data: { name: 'New' } }));
    const session = await passSecondStep(access_token, totp);
    ok(await change(session.access_token, { password: 'another horse' }));
  });

  test('within a day replaces the reauthentication of an old session', async () => {
    const { totp, session } = await createProtectedPerson();
    world.clock.advance(48 * HOUR);
    const { access_token } = ok(await renew(session.refresh_token));
    const change = (token: string) => world.request('PUT', '/user', { token, body: { password: 'another horse' } });
    expect((await change(access_token)).body.code).toBe('reauthentication_needed');
    ok(await change((await passSecondStep(access_token, totp)).access_token));
  });

  test('survives any body and challenge id without a server error', async () => {
    const { access } = await world.signUpUser();
    const totp = await enrollApp(access);
    const key = ok(await post('/factors', access, { factor_type: 'webauthn', friendly_name: 'key' }));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          `/factors/${totp.id}/verify`,
          `/factors/${key.id}/verify`,
          '/factors',
          '/factors/recovery-codes/verify',
        ),
        fc.dictionary(
          fc.constantFrom('code', 'challenge_id', 'webauthn', 'factor_type', 'friendly_name', 'issuer', 'nonce'),
          fc.anything({ maxDepth: 2 }),
        ),
        async (path, body) => {
          const { status } = await post(path, access, body);
          expect([200, 400, 422]).toContain(status);
        },
      ),
      { numRuns: fuzzBudget(60) },
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
    await world.mailWith('Two-step verification is off', email);
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
    const other = await world.admin.connect();
    try {
      await other.query('begin');
      await other.query('select from auth.users where id = $1 for update', [id]);
      const waiting = world.request('DELETE', `/factors/${totp.id}`, { token: access });
      await expect
        .poll(
          async () =>
            (
              await world.admin.query(
                "select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'",
              )
            ).rowCount,
        )
        .toBe(1);
      await other.query("update auth.mfa_factors set status = 'verified' where id = $1", [totp.id]);
      await other.query('commit');
      expect((await waiting).body.code).toBe('mfa_factor_not_found');
    } finally {
      other.release();
    }
    const { rowCount } = await world.admin.query('select from auth.mfa_factors where id = $1', [totp.id]);
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

describe('a security key', () => {
  async function enrollSecurityKey() {
    const person = await world.signUpUser();
    const key = new SoftwareAuthenticator(origin);
    const factor = ok(await post('/factors', person.access, { factor_type: 'webauthn', friendly_name: 'key' }));
    const begun = ok(await post(`/factors/${factor.id}/challenge`, person.access, { webauthn: { rpId: 'evil.test' } }));
    expect(begun).toMatchObject({ type: 'webauthn', webauthn: { type: 'create' } });
    const { publicKey } = begun.webauthn.credential_options;
    expect(publicKey).toMatchObject({ rp: { id: 'localhost' }, attestation: 'none' });
    const webauthn = { type: 'create', credential_response: key.create(publicKey, { userVerified: false }) };
    const session = ok(await post(`/factors/${factor.id}/verify`, person.access, { challenge_id: begun.id, webauthn }));
    return { ...person, key, factor, session };
  }

  test('raises a session to aal2 at its enrolment and at later sign-ins', async () => {
    const { email, key, factor, session } = await enrollSecurityKey();
    expect(claimsOf(session.access_token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/webauthn' }, {}] });
    const { access_token } = await signIn(email);
    const begun = ok(await post(`/factors/${factor.id}/challenge`, access_token, {}));
    const { publicKey } = begun.webauthn.credential_options;
    expect(begun.webauthn.type).toBe('request');
    expect(publicKey.allowCredentials).toMatchObject([{ id: key.credential.id.toString('base64url') }]);
    const webauthn = { type: 'request', credential_response: key.get(publicKey, { userVerified: false }) };
    const body = { challenge_id: begun.id, webauthn };
    expect(claimsOf(ok(await post(`/factors/${factor.id}/verify`, access_token, body)).access_token).aal).toBe('aal2');
    expect((await post(`/factors/${factor.id}/verify`, access_token, body)).body.code).toBe('mfa_ip_address_mismatch');
  });

  test('rejects forged answers', async () => {
    const { email, key, factor } = await enrollSecurityKey();
    const other = await enrollSecurityKey();
    const { access_token } = await signIn(email);
    const attempt = async (forge: (publicKey: WireBody) => object) => {
      const begun = ok(await post(`/factors/${factor.id}/challenge`, access_token, {}));
      const webauthn = forge(begun.webauthn.credential_options.publicKey);
      return post(`/factors/${factor.id}/verify`, access_token, { challenge_id: begun.id, webauthn });
    };
    const request = (credential_response: unknown) => ({ type: 'request', credential_response });
    const forgeries: ((publicKey: WireBody) => object)[] = [
      (publicKey) => request(key.get(publicKey, { origin: 'https://evil.test' })),
      (publicKey) => request(key.get(publicKey, { rpId: 'evil.test' })),
      (publicKey) => request(key.get(publicKey, { challenge: 'AAAA' })),
      (publicKey) => request(key.get(publicKey, { type: 'webauthn.create' })),
      (publicKey) => request(key.get(publicKey, { userPresent: false })),
      (publicKey) => request(key.get(publicKey, { signedBy: other.key })),
      (publicKey) => request(other.key.get(publicKey)),
      (publicKey) => ({ type: 'create', credential_response: key.get(publicKey) }),
      () => request({}),
      () => request([]),
    ];
    for (const forge of forgeries) {
      expect(errorOf(await attempt(forge))).toEqual([422, 'mfa_verification_failed', 'WebAuthn verification failed']);
    }
    expect((await attempt(() => ({ type: 'neither' }))).body.message).toBe('WebAuthn type must be create or request');
    expect((await attempt(() => ({ type: 'request' }))).body.message).toBe('credential_response required');
    ok(await attempt((publicKey) => request(key.get(publicKey))));
  });

  test('does not sign in alone, and leaves no credential behind', async () => {
    const { id, key, factor, session } = await enrollSecurityKey();
    // The handle is not signed, so a thief of the key can name its owner.
    for (const userHandle of [undefined, Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')]) {
      const { body: begun } = await world.request('POST', '/passkeys/authentication/options', { body: {} });
      const credential = key.get(begun.options, userHandle === undefined ? {} : { userHandle });
      const { body } = await world.request('POST', '/passkeys/authentication/verify', {
        body: { challenge_id: begun.challenge_id, credential },
      });
      expect(body.code).toBe('webauthn_verification_failed');
    }
    ok(await world.request('DELETE', `/factors/${factor.id}`, { token: session.access_token }));
    const { rows } = await world.admin.query('select 1 from auth.webauthn_credentials where credential_id = $1', [
      key.credential.id,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('recovery codes', () => {
  const create = (token: string, body?: unknown) => post('/factors/recovery-codes', token, body);
  const redeem = (token: string, code: string) => post('/factors/recovery-codes/verify', token, { code });
  const status = (token: string) => world.request('GET', '/factors/recovery-codes', { token });

  test('are ten, shown once and stored as keyed hashes', async () => {
    const { session, id } = await createProtectedPerson();
    const body = ok(await create(session.access_token, { friendly_name: 'Paper' }));
    expect(body).toMatchObject({ type: 'recovery_code', friendly_name: 'Paper', total: 10 });
    expect(new Set(body.codes).size).toBe(10);
    for (const code of body.codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{16}$/);
    expect(ok(await status(session.access_token))).toEqual({
      id: body.id,
      type: 'recovery_code',
      total: 10,
      remaining: 10,
    });
    const { rows } = await world.admin.query('select * from auth.recovery_codes where user_id = $1', [id]);
    expect(rows).toHaveLength(10);
    expect(JSON.stringify(rows)).not.toContain(body.codes[0]);
  });

  test('need the second step and a verified factor, and are created once', async () => {
    const { email, session } = await createProtectedPerson();
    const { access_token } = await signIn(email);
    expect((await create(access_token)).body.code).toBe('insufficient_aal');
    expect((await status(access_token)).body.code).toBe('mfa_factor_not_found');
    expect((await post('/factors/recovery-codes/regenerate', session.access_token)).body.code).toBe(
      'mfa_factor_not_found',
    );
    ok(await create(session.access_token));
    expect((await create(session.access_token)).body.code).toBe('mfa_verified_factor_exists');
    for (const [method, path] of [
      ['POST', '/factors/recovery-codes/regenerate'],
      ['DELETE', '/factors/recovery-codes'],
    ] as const) {
      expect(errorOf(await world.request(method, path, { token: access_token }))).toEqual([
        403,
        'insufficient_aal',
        'AAL2 required to manage recovery codes',
      ]);
    }
  });

  test('are not issued to a session whose second step is older than a day', async () => {
    const { session } = await createProtectedPerson();
    world.clock.advance(25 * HOUR);
    const { access_token } = ok(await renew(session.refresh_token));
    expect((await create(access_token)).body.code).toBe('reauthentication_needed');
  });

  test('raise a session to aal2, each once and however they are typed', async () => {
    const { email, session } = await createProtectedPerson();
    const { codes } = ok(await create(session.access_token));
    const { access_token } = await signIn(email);
    const typed = codes[0]
      .toUpperCase()
      .replaceAll('0', 'O')
      .replaceAll('1', 'l')
      .replaceAll(/(.{4})/g, '$1- ');
    const raised = ok(await redeem(access_token, typed));
    expect(claimsOf(raised.access_token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/recovery_code' }, {}] });
    expect(ok(await status(raised.access_token)).remaining).toBe(9);
    expect((await world.mailWith('A recovery code was used', email)).text).toContain('9 codes are left');
    const next = (await signIn(email)).access_token;
    for (const code of [codes[0], 'nonsense', 'i'.repeat(500)]) {
      expect(errorOf(await redeem(next, code))).toEqual([
        422,
        'mfa_verification_failed',
        'Invalid recovery code entered',
      ]);
    }
    expect((await redeem(next, ' - ')).body.message).toBe('Code needs to be non-empty');
    const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(next, codes[1])));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  test("of one user are worth nothing in another's session", async () => {
    const [owner, thief] = [await createProtectedPerson(), await createProtectedPerson()];
    const { codes } = ok(await create(owner.session.access_token));
    ok(await create(thief.session.access_token));
    const { access_token } = await signIn(thief.email);
    expect((await redeem(access_token, codes[0])).body.code).toBe('mfa_verification_failed');
  });

  test('end when new ones are issued', async () => {
    const { email, session } = await createProtectedPerson();
    const first = ok(await create(session.access_token, { friendly_name: 'Paper' }));
    const second = ok(await post('/factors/recovery-codes/regenerate', session.access_token));
    expect(second).toMatchObject({ id: first.id, friendly_name: 'Paper', total: 10 });
    const { access_token } = await signIn(email);
    expect((await redeem(access_token, first.codes[0])).body.code).toBe('mfa_verification_failed');
    ok(await redeem(access_token, second.codes[0]));
  });

  test('can be deleted, which drops other sessions that used one', async () => {
    const { email, session } = await createProtectedPerson();
    const { id, codes } = ok(await create(session.access_token));
    const raised = ok(await redeem((await signIn(email)).access_token, codes[0]));
    const remove = () => world.request('DELETE', '/factors/recovery-codes', { token: session.access_token });
    expect(ok(await remove())).toEqual({ id });
    expect((await remove()).body.code).toBe('mfa_factor_not_found');
    expect(claimsOf(ok(await renew(raised.refresh_token)).access_token).aal).toBe('aal1');
    expect(claimsOf(ok(await renew(session.refresh_token)).access_token).aal).toBe('aal2');
  });

  test('are deleted with the last verified factor', async () => {
    const { email, totp, session } = await createProtectedPerson();
    const { codes } = ok(await create(session.access_token));
    const raised = ok(await redeem((await signIn(email)).access_token, codes[0]));
    ok(await world.request('DELETE', `/factors/${totp.id}`, { token: raised.access_token }));
    expect((await status(raised.access_token)).body.code).toBe('mfa_factor_not_found');
    expect(claimsOf(ok(await renew(raised.refresh_token)).access_token).aal).toBe('aal1');
  });
});

describe('the real client', () => {
  test('enrols, lists, challenges, verifies and unenrols, and knows its level', async () => {
    const client = world.client();
    await client.auth.signUp({ email: newAddress(), password: PASSWORD });
    const { data: factor } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'app', issuer: 'Forge' });
    if (factor?.type !== 'totp') throw new Error('not enrolled');
    expect(factor.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg /);
    const code = await codeOf(factor.totp.secret);
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
      code: await wrongCodeOf(totp.secret),
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
