/** Recovery codes (docs/specification/api.md 31). */
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, waitUntilPassing } from '../fixture.ts';
import { HOUR, claimsOf, createFactorClient, errorOf, ok } from './factor-client.ts';

const world = setUpAuthWorld();
const { post, signIn, renew, createProtectedPerson } = createFactorClient(world);

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
    expect((await world.waitForMailWith('A recovery code was used', email)).text).toContain('9 codes are left');
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

  test('are told to the owner when they are made, and when new ones replace them', async () => {
    const { email, session } = await createProtectedPerson();
    const notices = () => world.mailbox.messagesTo(email).filter(({ subject }) => subject === 'New recovery codes');
    const { codes } = ok(await create(session.access_token));
    expect((await world.waitForMailWith('New recovery codes', email)).text).not.toContain(codes[0]);
    ok(await post('/factors/recovery-codes/regenerate', session.access_token));
    await waitUntilPassing(() => expect(notices()).toHaveLength(2));
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
