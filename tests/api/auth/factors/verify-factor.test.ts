/**
 * A second factor is verified: the second step of a sign-in, also with a security key (docs/specification/api.md
 * 31).
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { SoftwareAuthenticator } from '../../../support/software-authenticator.ts';
import { SESSION_FIELDS, newAddress, setUpAuthWorld, type WireBody } from '../fixture.ts';
import { HOUR, MINUTE, claimsOf, createFactorClient, errorOf, ok } from './factor-client.ts';

const world = setUpAuthWorld();
const { codeOf, wrongCodeOf, post, enrollApp, requestChallenge, passSecondStep, signIn, renew, createProtectedPerson } =
  createFactorClient(world);

describe('a second step', () => {
  test('raises the same session to aal2 and verifies the factor', async () => {
    const { access, email, id } = await world.signUpUser();
    const totp = await enrollApp(access);
    const session = await passSecondStep(access, totp);
    const [before, after] = [claimsOf(access), claimsOf(session.access_token)];
    expect(after).toMatchObject({ aal: 'aal2', session_id: before.session_id, sub: id });
    expect(after.amr.map((entry: { method: string }) => entry.method)).toEqual(['totp', 'password']);
    expect(session.user.factors).toMatchObject([{ id: totp.id, status: 'verified' }]);
    expect(Object.keys(session).toSorted()).toEqual(SESSION_FIELDS);
    await world.waitForMailWith('Two-step verification was added', email);
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
    const answer = { challenge_id, code: codeOf(other.secret) };
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
    const planted = new SoftwareAuthenticator(world.config.publicUrl);
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
    const code = codeOf(totp.secret);
    const uuid = '3f9a1c2b-0000-4000-8000-000000000000';
    expect(errorOf(await post(verify, access, { challenge_id, code: '' }))).toEqual([
      400,
      'validation_failed',
      'Code needs to be non-empty',
    ]);
    for (const wrong of [wrongCodeOf(totp.secret), `${code}0`, ' ', 'abcdef']) {
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
    expect(errorOf(await post(verify, access, { challenge_id: old, code: codeOf(totp.secret) }))).toEqual([
      422,
      'mfa_challenge_expired',
      `MFA challenge ${old} has expired, verify against another challenge or create a new challenge.`,
    ]);
    const used = await requestChallenge(access, totp.id);
    const { access_token } = ok(await post(verify, access, { challenge_id: used, code: codeOf(totp.secret) }));
    world.clock.advance(30_000);
    const mismatch = [422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.'];
    const code = codeOf(totp.secret);
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
    expect((await verify(codeOf(totp.secret, -2))).status).toBe(422);
    expect((await verify(codeOf(totp.secret, 2))).status).toBe(422);
    const next = codeOf(totp.secret, 1);
    ok(await verify(next));
    for (const seen of [next, codeOf(totp.secret)]) {
      expect(errorOf(await verify(seen))).toEqual([422, 'mfa_verification_failed', 'Invalid TOTP code entered']);
    }
  });

  test('passes once for ten concurrent answers with the same code', async () => {
    const { email, totp } = await createProtectedPerson();
    const sessions = await Promise.all(Array.from({ length: 5 }, () => signIn(email)));
    world.clock.advance(30_000);
    const code = codeOf(totp.secret);
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
    const wrong = wrongCodeOf(totp.secret);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(`/factors/${totp.id}/verify`, access, { challenge_id, code: wrong })),
    );
    const codes = answers.map(({ body }) => body.code);
    expect(codes.filter((code) => code === 'mfa_verification_failed')).toHaveLength(5);
    expect(codes.filter((code) => code === 'mfa_challenge_expired')).toHaveLength(15);
    const code = codeOf(totp.secret);
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

  test('is required for every change of the account', async () => {
    const { email, totp } = await createProtectedPerson();
    const { access_token } = await signIn(email);
    const change = (token: string, body: object) => world.request('PUT', '/user', { token, body });
    for (const body of [{ password: 'another horse' }, { email: newAddress() }, { data: { name: 'New' } }]) {
      expect(errorOf(await change(access_token, body))).toEqual([
        401,
        'insufficient_aal',
        'AAL2 session is required to update email or password when MFA is enabled.',
      ]);
    }
    const session = await passSecondStep(access_token, totp);
    ok(await change(session.access_token, { data: { name: 'New' } }));
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

describe('a security key', () => {
  async function enrollSecurityKey() {
    const person = await world.signUpUser();
    const key = new SoftwareAuthenticator(world.config.publicUrl);
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
