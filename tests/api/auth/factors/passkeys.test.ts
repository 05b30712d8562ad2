/** Passkeys (docs/specification/api.md 32), with an authenticator in software. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { SoftwareAuthenticator, type Forgery } from '../../../support/software-authenticator.ts';
import { totpCode } from '../../../support/totp-code.ts';
import { blockRequest, endSessionsOf } from '../block-request.ts';
import { setUpAuthWorld, PASSWORD, newAddress, openRequest, type WireBody } from '../fixture.ts';

const world = setUpAuthWorld();
let origin: string;
beforeAll(async () => {
  origin = world.config.publicUrl;
});

const HOUR = 3_600_000;

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
const ok = ({ status, body }: { status: number; body: WireBody }): WireBody => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const errorOf = ({ status, body }: { status: number; body: WireBody }) => [status, body.code, body.message];
const WRONG = [400, 'webauthn_verification_failed', 'Credential verification failed'];

const beginCeremony = async (ceremony: 'registration' | 'authentication', token?: string): Promise<WireBody> =>
  ok(await world.request('POST', `/passkeys/${ceremony}/options`, { body: {}, ...(token && { token }) }));
const finish = (ceremony: 'registration' | 'authentication', body: unknown, token?: string) =>
  world.request('POST', `/passkeys/${ceremony}/verify`, { body, ...(token && { token }) });

async function register(token: string, authenticator: SoftwareAuthenticator, forgery: Forgery = {}) {
  const { challenge_id, options } = await beginCeremony('registration', token);
  return finish('registration', { challenge_id, credential: authenticator.create(options, forgery) }, token);
}
async function signInWith(authenticator: SoftwareAuthenticator, forgery: Forgery = {}) {
  const { challenge_id, options } = await beginCeremony('authentication');
  return finish('authentication', { challenge_id, credential: authenticator.get(options, forgery) });
}
/** A person with one passkey. */
async function createPasskeyOwner(options?: { countsSignatures?: boolean }) {
  const person = await world.signUpUser();
  const authenticator = new SoftwareAuthenticator(origin, options);
  const passkey = ok(await register(person.access, authenticator));
  return { ...person, authenticator, passkey };
}
/** Protects the account with an authenticator app. Returns the session that has passed the second step. */
async function protect(token: string): Promise<WireBody> {
  const { id, totp } = ok(await world.request('POST', '/factors', { token, body: { factor_type: 'totp' } }));
  const challenge = ok(await world.request('POST', `/factors/${id}/challenge`, { token, body: {} }));
  const code = totpCode(totp.secret, world.clock.now().getTime());
  return ok(
    await world.request('POST', `/factors/${id}/verify`, { token, body: { challenge_id: challenge.id, code } }),
  );
}

describe('an old session', () => {
  const change = (method: 'PATCH' | 'DELETE', id: string, token: string, nonce = '') =>
    world.request(method, `/passkeys/${id}${method === 'DELETE' ? `?nonce=${nonce}` : ''}`, {
      token,
      ...(method === 'PATCH' && { body: { friendly_name: 'Stolen', nonce } }),
    });
  const renew = async (refresh_token: string): Promise<string> =>
    ok(await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })).access_token;

  test.each(['PATCH', 'DELETE'] as const)('changes a passkey by %s with a mailed code alone', async (method) => {
    const { email, refresh, passkey } = await createPasskeyOwner();
    world.clock.advance(48 * HOUR);
    const token = await renew(refresh);
    expect((await change(method, passkey.id, token)).body.code).toBe('reauthentication_needed');
    expect((await change(method, passkey.id, token, '000000')).body.code).toBe('reauthentication_not_valid');
    ok(await world.request('GET', '/reauthenticate', { token }));
    const { code } = await world.waitForMailWith('Your confirmation code', email);
    expect((await change(method, passkey.id, token, code!)).status).toBe(method === 'PATCH' ? 200 : 204);
    expect((await change(method, passkey.id, token, code!)).status).not.toBe(200);
  });

  test('passes the second step again if there is one', async () => {
    const { access, authenticator, passkey } = await createPasskeyOwner();
    const { refresh_token } = await protect(access);
    world.clock.advance(48 * HOUR);
    const token = await renew(refresh_token);
    expect((await change('DELETE', passkey.id, token, '123456')).body.code).toBe('reauthentication_needed');
    expect((await signInWith(authenticator)).status).toBe(200);
  });

  test('names the passkey that it has just added', async () => {
    const { email, refresh } = await world.signUpUser();
    world.clock.advance(48 * HOUR);
    const token = await renew(refresh);
    ok(await world.request('GET', '/reauthenticate', { token }));
    const { code } = await world.waitForMailWith('Your confirmation code', email);
    const begun = ok(await world.request('POST', '/passkeys/registration/options', { token, body: { nonce: code } }));
    const credential = new SoftwareAuthenticator(origin).create(begun.options);
    const passkey = ok(await finish('registration', { challenge_id: begun.challenge_id, credential }, token));
    expect((await change('PATCH', passkey.id, token)).status).toBe(200);
    world.clock.advance(11 * 60_000);
    expect((await change('PATCH', passkey.id, token)).body.code).toBe('reauthentication_needed');
  });
});

describe('registration', () => {
  test('offers options that bind the passkey to our host and verify the user', async () => {
    const { access, email } = await world.signUpUser();
    const { options, challenge_id, expires_at } = await beginCeremony('registration', access);
    expect(challenge_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(expires_at - world.clock.now().getTime() / 1000 - 300)).toBeLessThan(5);
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Hustle Forge' },
      user: { name: email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    });
    expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32);
    expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-8, -7, -257]);
  });

  test('adds the passkey, tells the owner and excludes it from the next registration', async () => {
    const { access, email, authenticator, passkey } = await createPasskeyOwner();
    expect(passkey).toEqual({ id: expect.any(String), created_at: expect.any(String) });
    await world.waitForMailWith('A passkey was added', email);
    const { options } = await beginCeremony('registration', access);
    expect(options.excludeCredentials).toMatchObject([
      { id: authenticator.credential.id.toString('base64url'), transports: ['internal', 'hybrid'] },
    ]);
  });

  test('rejects forged answers', async () => {
    const { access } = await world.signUpUser();
    const forgeries: Forgery[] = [
      { origin: 'https://evil.test' },
      { origin: `${origin}.evil.test` },
      { rpId: 'evil.test' },
      { challenge: 'AAAA' },
      { type: 'webauthn.get' },
      { userVerified: false },
      { userPresent: false },
      { format: 'apple' },
      { format: 'android-safetynet' },
      { padding: 'x'.repeat(12_288) },
    ];
    for (const forgery of forgeries) {
      expect(
        errorOf(await register(access, new SoftwareAuthenticator(origin), forgery)),
        JSON.stringify(forgery).slice(0, 100),
      ).toEqual(WRONG);
    }
    expect(ok(await world.request('GET', '/passkeys', { token: access }))).toEqual([]);
  });

  test('accepts a challenge once, within five minutes, from the user who requested it', async () => {
    const [owner, stranger] = [await world.signUpUser(), await world.signUpUser()];
    const { challenge_id, options } = await beginCeremony('registration', owner.access);
    const credential = new SoftwareAuthenticator(origin).create(options);
    const notFound = [400, 'webauthn_challenge_not_found', 'Challenge not found or already used'];
    expect(errorOf(await finish('registration', { challenge_id, credential }, stranger.access))).toEqual(notFound);
    expect(errorOf(await finish('authentication', { challenge_id, credential }))).toEqual(notFound);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => finish('registration', { challenge_id, credential }, owner.access)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'webauthn_challenge_not_found')).toHaveLength(4);
    const late = await beginCeremony('registration', owner.access);
    world.clock.advance(300_000);
    const body = {
      challenge_id: late.challenge_id,
      credential: new SoftwareAuthenticator(origin).create(late.options),
    };
    expect(errorOf(await finish('registration', body, owner.access))).toEqual([
      400,
      'webauthn_challenge_expired',
      'Challenge has expired',
    ]);
    const signIn = await beginCeremony('authentication');
    expect(
      errorOf(await finish('registration', { challenge_id: signIn.challenge_id, credential }, owner.access)),
    ).toEqual(notFound);
  });

  test('rejects a credential that any account has registered', async () => {
    const [owner, stranger] = [await createPasskeyOwner(), await world.signUpUser()];
    const copy = owner.authenticator;
    for (const { access } of [owner, stranger]) {
      const { challenge_id, options } = await beginCeremony('registration', access);
      const { id } = copy.credential;
      const credential = new SoftwareAuthenticator(origin).create(options);
      // The credential's id is also in the authenticator data, so replacing it in the envelope alone must fail.
      const swapped = { ...credential, id: id.toString('base64url'), rawId: id.toString('base64url') };
      expect(errorOf(await finish('registration', { challenge_id, credential: swapped }, access))).toEqual(WRONG);
    }
    const again = await beginCeremony('registration', stranger.access);
    const credential = copy.create(again.options, { credentialId: copy.credential.id });
    const body = { challenge_id: again.challenge_id, credential };
    expect(errorOf(await finish('registration', body, stranger.access))).toEqual([
      422,
      'webauthn_credential_exists',
      'This credential is already registered',
    ]);
  });

  test('is refused when the session ends before the body', async () => {
    const { email, access } = await world.signUpUser();
    const thief = ok(
      await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } }),
    );
    const authenticator = new SoftwareAuthenticator(origin);
    const { challenge_id, options } = await beginCeremony('registration', thief.access_token);
    const body = { challenge_id, credential: authenticator.create(options) };
    const open = await openRequest(world, 'POST', '/passkeys/registration/verify', { token: thief.access_token, body });
    expect((await world.request('POST', '/logout?scope=others', { token: access })).status).toBe(204);
    expect(await open.finish()).toMatchObject({ status: 403, body: { code: 'session_not_found' } });
    expect((await signInWith(authenticator)).status).toBe(400);
  });

  test('keeps at most ten passkeys', async () => {
    const { access } = await world.signUpUser();
    const spare = await beginCeremony('registration', access);
    for (let count = 0; count < 10; count += 1) ok(await register(access, new SoftwareAuthenticator(origin)));
    const full = [422, 'too_many_passkeys', 'Maximum number of passkeys reached'];
    expect(errorOf(await world.request('POST', '/passkeys/registration/options', { token: access }))).toEqual(full);
    const body = {
      challenge_id: spare.challenge_id,
      credential: new SoftwareAuthenticator(origin).create(spare.options),
    };
    expect(errorOf(await finish('registration', body, access))).toEqual(full);
  });

  test('needs a user, the second step where there is one, and a recent sign-in', async () => {
    const options = (token?: string) =>
      world.request('POST', '/passkeys/registration/options', { body: {}, ...(token && { token }) });
    expect((await options()).body.code).toBe('no_authorization');
    const { access, refresh, email } = await world.signUpUser();
    await protect(access);
    const { body } = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    const second = [403, 'insufficient_aal', 'AAL2 session is required to manage passkeys when MFA is enabled'];
    expect(errorOf(await options(body.access_token))).toEqual(second);
    expect(errorOf(await finish('registration', {}, body.access_token))).toEqual(second);
    expect(
      (await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } })).status,
    ).toBe(400);
    const other = await world.signUpUser();
    world.clock.advance(25 * HOUR);
    const renewed = ok(
      await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: other.refresh } }),
    );
    expect((await options(renewed.access_token)).body.code).toBe('reauthentication_needed');
    await world.admin.query('update auth.users set is_sso_user = true where id = $1', [other.id]);
    expect((await options(renewed.access_token)).body.message).toBe('SSO users cannot register passkeys');
  });
});

describe('a sign-in', () => {
  test('starts a session at aal2, because the passkey has verified its user', async () => {
    const { authenticator, id, email } = await createPasskeyOwner();
    const session = ok(await signInWith(authenticator));
    expect(claimsOf(session.access_token)).toMatchObject({ sub: id, aal: 'aal2', amr: [{ method: 'passkey' }] });
    expect(session.user.email).toBe(email);
    ok(await world.request('GET', '/user', { token: session.access_token }));
    ok(await signInWith(authenticator));
  });

  test('of a protected account needs no other second step', async () => {
    const { access, authenticator, email } = await createPasskeyOwner();
    await protect(access);
    const session = ok(await signInWith(authenticator));
    const data = await fetch(`${world.url}/rest/v1/entries`, {
      headers: { Authorization: `Bearer ${session.access_token}` },
    });
    expect(data.status).toBe(200);
    const body = { password: 'another horse' };
    ok(await world.request('PUT', '/user', { token: session.access_token, body }));
    expect(email).toBe(session.user.email);
  });

  test('options name no account and no credential', async () => {
    const { options } = await beginCeremony('authentication');
    expect(options).toEqual({
      challenge: expect.any(String),
      rpId: 'localhost',
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [],
    });
  });

  test('rejects forged, foreign and unknown answers alike', async () => {
    const [owner, thief] = [await createPasskeyOwner(), await createPasskeyOwner()];
    const handleOf = ({ authenticator }: typeof owner) => authenticator.credential.userHandle.toString('base64url');
    const unknown = new SoftwareAuthenticator(origin);
    unknown.create({ challenge: 'x', rp: {}, user: { id: handleOf(owner) } });
    const attempts: [SoftwareAuthenticator, Forgery][] = [
      [owner.authenticator, { origin: 'https://evil.test' }],
      [owner.authenticator, { rpId: 'evil.test' }],
      [owner.authenticator, { challenge: 'AAAA' }],
      [owner.authenticator, { type: 'webauthn.create' }],
      [owner.authenticator, { padding: 'x'.repeat(12_288) }],
      [owner.authenticator, { userVerified: false }],
      [owner.authenticator, { userPresent: false }],
      [owner.authenticator, { userHandle: null }],
      [owner.authenticator, { userHandle: handleOf(thief) }],
      [thief.authenticator, { userHandle: handleOf(owner) }],
      [owner.authenticator, { signedBy: thief.authenticator }],
      [unknown, {}],
    ];
    for (const [authenticator, forgery] of attempts) {
      expect(errorOf(await signInWith(authenticator, forgery)), JSON.stringify(Object.keys(forgery))).toEqual(WRONG);
    }
    ok(await signInWith(owner.authenticator));
  });

  test('accepts an assertion once', async () => {
    const { authenticator } = await createPasskeyOwner({ countsSignatures: false });
    const { challenge_id, options } = await beginCeremony('authentication');
    const body = { challenge_id, credential: authenticator.get(options) };
    const answers = await Promise.all(Array.from({ length: 5 }, () => finish('authentication', body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const other = await beginCeremony('authentication');
    expect(errorOf(await finish('authentication', { ...body, challenge_id: other.challenge_id }))).toEqual(WRONG);
    expect((await finish('authentication', { ...body, challenge_id: 'x' })).body.message).toBe(
      'challenge_id must be a valid UUID',
    );
    expect((await finish('authentication', { credential: {} })).body.message).toBe('challenge_id is required');
    expect((await finish('authentication', { challenge_id })).body.message).toBe('credential is required');
    const late = await beginCeremony('authentication');
    world.clock.advance(300_000);
    expect(
      (await finish('authentication', { challenge_id: late.challenge_id, credential: authenticator.get(late.options) }))
        .body.code,
    ).toBe('webauthn_challenge_expired');
    ok(await signInWith(authenticator));
  });

  test('rejects a signature counter that did not rise, also for concurrent copies', async () => {
    const { authenticator, id } = await createPasskeyOwner();
    ok(await signInWith(authenticator, { signCount: 7 }));
    for (const signCount of [7, 6, 0]) expect(errorOf(await signInWith(authenticator, { signCount }))).toEqual(WRONG);
    const copies = await Promise.all([8, 8, 8].map((signCount) => signInWith(authenticator, { signCount })));
    expect(copies.filter(({ status }) => status === 200)).toHaveLength(1);
    ok(await signInWith(authenticator, { signCount: 9 }));
    const { rows } = await world.admin.query(
      "select details from auth.audit_log where user_id = $1 and event = 'sign_in_failed'",
      [id],
    );
    expect(rows.length).toBeGreaterThanOrEqual(3);
  });

  test('reveals only to the holder of the passkey that the account is banned or unconfirmed', async () => {
    const { authenticator, id } = await createPasskeyOwner();
    await world.admin.query("update auth.users set banned_until = 'infinity' where id = $1", [id]);
    expect(errorOf(await signInWith(authenticator, { userVerified: false }))).toEqual(WRONG);
    expect(errorOf(await signInWith(authenticator))).toEqual([403, 'user_banned', 'User is banned']);
    await world.admin.query('update auth.users set banned_until = null, email_confirmed_at = null where id = $1', [id]);
    expect(errorOf(await signInWith(authenticator))).toEqual([403, 'email_not_confirmed', 'Email not confirmed']);
  });

  test('survives any answer without a server error', async () => {
    const { access, authenticator } = await createPasskeyOwner();
    const { id } = authenticator.credential;
    const text = fc.oneof(fc.string(), fc.base64String(), fc.constant(id.toString('base64url')));
    const answer = fc.record(
      {
        id: fc.oneof(text, fc.anything({ maxDepth: 1 })),
        rawId: text,
        type: fc.constantFrom('public-key', 'x'),
        response: fc.oneof(
          fc.anything({ maxDepth: 1 }),
          fc.record({
            clientDataJSON: text,
            authenticatorData: text,
            signature: text,
            attestationObject: text,
            userHandle: fc.constant(authenticator.credential.userHandle.toString('base64url')),
            transports: fc.anything({ maxDepth: 1 }),
          }),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        answer,
        fc.constantFrom('registration' as const, 'authentication' as const),
        async (json, ceremony) => {
          const same = { ...json, rawId: json.id };
          const token = ceremony === 'registration' ? access : undefined;
          const { challenge_id } = await beginCeremony(ceremony, token);
          const { status } = await finish(ceremony, { challenge_id, credential: same }, token);
          expect(status).toBe(400);
        },
      ),
      { numRuns: fuzzBudget(60) },
    );
  });
});

describe('passkeys of an account', () => {
  test('are listed, renamed and removed by their owner alone', async () => {
    const [owner, stranger] = [await createPasskeyOwner(), await createPasskeyOwner()];
    const path = `/passkeys/${owner.passkey.id}`;
    const listPasskeys = async () => ok(await world.request('GET', '/passkeys', { token: owner.access }));
    expect(await listPasskeys()).toEqual([owner.passkey]);
    ok(await signInWith(owner.authenticator));
    expect(await listPasskeys()).toEqual([{ ...owner.passkey, last_used_at: expect.any(String) }]);

    const rename = (token: string, friendly_name: string, at = path) =>
      world.request('PATCH', at, { token, body: { friendly_name } });
    const notFound = [404, 'validation_failed', 'Passkey not found'];
    expect(errorOf(await rename(stranger.access, 'mine'))).toEqual(notFound);
    expect(errorOf(await rename(owner.access, 'mine', '/passkeys/x'))).toEqual(notFound);
    expect((await rename(owner.access, '')).body.message).toBe('friendly_name is required');
    expect((await rename(owner.access, 'x'.repeat(121))).body.code).toBe('validation_failed');
    expect(ok(await rename(owner.access, 'Laptop'))).toMatchObject({ id: owner.passkey.id, friendly_name: 'Laptop' });

    expect(errorOf(await world.request('DELETE', path, { token: stranger.access }))).toEqual(notFound);
    const removed = await world.request('DELETE', path, { token: owner.access });
    expect([removed.status, removed.body]).toEqual([204, '']);
    expect(errorOf(await world.request('DELETE', path, { token: owner.access }))).toEqual(notFound);
    expect(await listPasskeys()).toEqual([]);
    await world.waitForMailWith('A passkey was removed', owner.email);
    expect(errorOf(await signInWith(owner.authenticator))).toEqual(WRONG);
  });

  test('drop their sessions to aal1 when removed', async () => {
    const { access, authenticator, passkey } = await createPasskeyOwner();
    const session = ok(await signInWith(authenticator));
    await world.request('DELETE', `/passkeys/${passkey.id}`, { token: access });
    const renewed = ok(
      await world.request('POST', '/token?grant_type=refresh_token', {
        body: { refresh_token: session.refresh_token },
      }),
    );
    expect(claimsOf(renewed.access_token).aal).toBe('aal1');
  });

  test.each(['its user', 'an operator'])(
    'drop to aal1 also a session that starts while %s removes one',
    async (who) => {
      const { id, access, passkey } = await createPasskeyOwner();
      const path = who === 'its user' ? `/passkeys/${passkey.id}` : `/admin/users/${id}/passkeys/${passkey.id}`;
      const token = who === 'its user' ? access : await world.serviceToken();
      const removal = () => world.request('DELETE', path, { token });
      const session = randomUUID();
      const { status } = await blockRequest(world.admin, id, removal, async (transaction) => {
        await transaction.query('update auth.webauthn_credentials set last_used_at = now() where id = $1', [
          passkey.id,
        ]);
        await transaction.query(
          "insert into auth.sessions (id, user_id, passkey_id, aal) values ($1, $2, $3, 'aal2')",
          [session, id, passkey.id],
        );
      });
      expect(status).toBe(204);
      const { rows } = await world.admin.query('select aal from auth.sessions where id = $1', [session]);
      expect(rows).toEqual([{ aal: 'aal1' }]);
    },
  );

  test('stay when the session ends while the removal waits', async () => {
    const { id, access, passkey } = await createPasskeyOwner();
    const removal = () => world.request('DELETE', `/passkeys/${passkey.id}`, { token: access });
    const { body } = await blockRequest(world.admin, id, removal, endSessionsOf(id));
    expect(body.code).toBe('session_not_found');
    const { rowCount } = await world.admin.query('select from auth.webauthn_credentials where id = $1', [passkey.id]);
    expect(rowCount).toBe(1);
  });

  test('leave sessions at aal2 that a second factor has confirmed too', async () => {
    const { access, authenticator, passkey } = await createPasskeyOwner();
    const session = await protect(ok(await signInWith(authenticator)).access_token);
    const other = await world.request('DELETE', `/passkeys/${passkey.id}`, { token: access });
    expect(other.body.code, 'the first session has ended').toBe('session_not_found');
    const path = `/passkeys/${passkey.id}`;
    expect((await world.request('DELETE', path, { token: session.access_token })).status).toBe(204);
    const body = { refresh_token: session.refresh_token };
    const renewed = ok(await world.request('POST', '/token?grant_type=refresh_token', { body }));
    expect(claimsOf(renewed.access_token).aal).toBe('aal2');
  });

  test('need the second step where there is one', async () => {
    const { access, email, passkey } = await createPasskeyOwner();
    const session = await protect(access);
    const { body } = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    const remove = (token: string) => world.request('DELETE', `/passkeys/${passkey.id}`, { token });
    expect((await remove(body.access_token)).body.code).toBe('insufficient_aal');
    expect((await remove(session.access_token)).status).toBe(204);
  });
});

describe('the real client', () => {
  test('registers, signs in, lists, renames and deletes', async () => {
    const client = world.client();
    await client.auth.signUp({ email: newAddress(), password: PASSWORD });
    const authenticator = new SoftwareAuthenticator(origin);
    const started = await client.auth.passkey.startRegistration();
    const credential = authenticator.create(started.data!.options);
    const registered = await client.auth.passkey.verifyRegistration({
      challengeId: started.data!.challenge_id,
      credential: credential as never,
    });
    expect(registered.error).toBeNull();
    await client.auth.signOut({ scope: 'local' });

    const begun = await client.auth.passkey.startAuthentication();
    const verified = await client.auth.passkey.verifyAuthentication({
      challengeId: begun.data!.challenge_id,
      credential: authenticator.get(begun.data!.options) as never,
    });
    expect(verified.error).toBeNull();
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: 'aal2',
      nextLevel: 'aal2',
    });
    const passkeyId = registered.data!.id;
    const renamed = await client.auth.passkey.update({ passkeyId, friendlyName: 'Phone' });
    expect(renamed.data).toMatchObject({ id: passkeyId, friendly_name: 'Phone' });
    expect((await client.auth.passkey.list()).data).toMatchObject([{ id: passkeyId, friendly_name: 'Phone' }]);
    expect((await client.auth.passkey.delete({ passkeyId })).error).toBeNull();
  });
});

describe('with passkeys off', () => {
  const off = setUpAuthWorld({ AUTH_PASSKEYS: 'off' });

  test('every path answers passkey_disabled, and security keys are off', async () => {
    const { access } = await off.signUpUser();
    const disabled = [404, 'passkey_disabled', 'Passkeys are disabled'];
    for (const [method, path] of [
      ['POST', '/passkeys/registration/options'],
      ['POST', '/passkeys/registration/verify'],
      ['POST', '/passkeys/authentication/options'],
      ['POST', '/passkeys/authentication/verify'],
      ['GET', '/passkeys'],
      ['PATCH', '/passkeys/x'],
      ['DELETE', '/passkeys/x'],
    ] as const) {
      expect(errorOf(await off.request(method, path, { token: access }))).toEqual(disabled);
    }
    expect((await off.request('GET', '/settings')).body.passkeys_enabled).toBe(false);
    const body = { factor_type: 'webauthn' };
    expect((await off.request('POST', '/factors', { token: access, body })).body.code).toBe(
      'mfa_webauthn_enroll_not_enabled',
    );
  });
});
