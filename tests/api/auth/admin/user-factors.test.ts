/** The admin routes of a user's second factors and passkeys (docs/specification/api.md 33). */
import { randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { beforeAll, describe, expect, test } from 'vitest';
import { setUpAuthWorld } from '../fixture.ts';

const world = setUpAuthWorld();
let token: string;
let admin: ReturnType<typeof createClient>['auth']['admin'];
beforeAll(async () => {
  token = await world.serviceToken();
  const auth = { persistSession: false, autoRefreshToken: false, experimental: { passkey: true } };
  ({ admin } = createClient(world.url, token, { auth }).auth);
});

const request = (method: string, path: string) => world.request(method, path, { token });

describe('second factors', () => {
  async function withFactor() {
    const person = await world.signUpUser();
    const factorId = await enrol(person.access, 'Phone');
    await verifyByHand(factorId);
    return { ...person, factorId };
  }
  async function enrol(access: string, name: string): Promise<string> {
    const body = { factor_type: 'totp', friendly_name: name };
    return (await world.request('POST', '/factors', { token: access, body })).body.id;
  }
  /** Enrols another factor in a session that has not passed the verified one. */
  async function enrolAtAal1(access: string, name: string, verified: string): Promise<string> {
    await world.admin.query("update auth.mfa_factors set status = 'unverified' where id = $1", [verified]);
    const id = await enrol(access, name);
    await verifyByHand(verified);
    return id;
  }
  const verifyByHand = (id: string) =>
    world.admin.query("update auth.mfa_factors set status = 'verified' where id = $1", [id]);
  /** Counts the mails about a removed factor, after a mail that was requested later has arrived. */
  async function removalMails(email: string): Promise<number> {
    const subject = 'Two-step verification is off';
    await world.waitForMailWith(subject, email);
    await world.request('POST', '/recover', { body: { email } });
    await world.waitForMailWith('Reset your password', email);
    return world.mailbox.messagesTo(email).filter((mail) => mail.subject === subject).length;
  }

  test('are listed without their secrets', async () => {
    const { id, factorId } = await withFactor();
    const { data, error } = await admin.mfa.listFactors({ userId: id });
    expect(error).toBeNull();
    expect(data!.factors).toEqual([
      {
        id: factorId,
        friendly_name: 'Phone',
        factor_type: 'totp',
        status: 'verified',
        last_challenged_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
  });

  test('are removed for a user who lost one, and the user gets a mail', async () => {
    const { id, factorId, email } = await withFactor();
    const { data, error } = await admin.mfa.deleteFactor({ userId: id, id: factorId });
    expect(error).toBeNull();
    expect(JSON.stringify(data)).toContain(factorId);
    expect((await admin.mfa.listFactors({ userId: id })).data!.factors).toEqual([]);
    expect(await removalMails(email)).toBe(1);
    const { rows } = await world.admin.query(
      "select actor from auth.audit_log where user_id = $1 and event = 'factor_removed'",
      [id],
    );
    expect(rows).toEqual([{ actor: 'service' }]);
  });

  test('are removed with a mail that names the factor that the user still has', async () => {
    const { id, email, access } = await world.signUpUser();
    const [phone, tablet] = [await enrol(access, 'Phone'), await enrol(access, 'Tablet')];
    for (const factorId of [phone, tablet]) await verifyByHand(factorId);
    await admin.mfa.deleteFactor({ userId: id, id: phone });
    const { text } = await world.waitForMailWith('An authenticator app was removed', email);
    expect(text).toContain('Two-step verification stays on, with an authenticator app.');
  });

  test('that were never verified are removed without a mail', async () => {
    const { id, email, access, factorId } = await withFactor();
    await world.admin.query("update auth.mfa_factors set status = 'unverified' where id = $1", [factorId]);
    const other = await enrol(access, 'Tablet');
    await verifyByHand(other);
    for (const removed of [factorId, other]) await admin.mfa.deleteFactor({ userId: id, id: removed });
    expect(await removalMails(email)).toBe(1);
  });

  const change = async (userId: string, factorId: string, body: object) =>
    world.request('PUT', `/admin/users/${userId}/factors/${factorId}`, { token, body });
  const eventsOf = async (userId: string): Promise<unknown[]> =>
    (
      await world.admin.query(
        "select actor, details from auth.audit_log where user_id = $1 and event = 'factor_changed' order by id",
        [userId],
      )
    ).rows;

  test('get another name', async () => {
    const { id, factorId } = await withFactor();
    const { status, body } = await change(id, factorId, { friendly_name: 'Old phone', phone: '+4915112345678' });
    expect([status, body]).toEqual([200, expect.objectContaining({ id: factorId, friendly_name: 'Old phone' })]);
    expect(body.phone, 'an app has no number').toBeUndefined();
    expect((await change(id, factorId, {})).body.friendly_name).toBe('Old phone');
    expect(await eventsOf(id)).toEqual([
      { actor: 'service', details: { factor_id: factorId, factor_type: 'totp', fields: ['friendly_name'] } },
    ]);
  });

  test('get another number, by which the codes of the earlier one end, and the user gets a mail', async () => {
    const { id, email, factorId } = await withFactor();
    await world.admin.query(
      "update auth.mfa_factors set factor_type = 'phone', phone = '4915112345678', secret = null where id = $1",
      [factorId],
    );
    await world.admin.query(
      "insert into auth.mfa_challenges (factor_id, ip, expires_at) values ($1, '::1', now() + interval '1 minute')",
      [factorId],
    );
    const { status, body } = await change(id, factorId, { phone: '+49 151 87654321' });
    expect([status, body.phone, body.status]).toEqual([200, '4915187654321', 'verified']);
    const { rows } = await world.admin.query('select 1 from auth.mfa_challenges where factor_id = $1', [factorId]);
    expect(rows).toEqual([]);
    const mail = await world.waitForMailWith('The number of your second step was changed', email);
    expect(mail.text).toContain('administrator');
    expect(mail.text).not.toContain('87654321');
    expect((await change(id, factorId, { phone: 'abc' })).body.code).toBe('validation_failed');
    expect(await eventsOf(id)).toHaveLength(1);
  });

  test('are changed for their own user, under a name that the user does not have yet', async () => {
    const { id, access, factorId } = await withFactor();
    const [stranger, other] = [await world.signUpUser(), await enrolAtAal1(access, 'Tablet', factorId)];
    const answer = async (userId: string, factor: string, body: object = { friendly_name: 'x' }) => {
      const response = await change(userId, factor, body);
      return `${response.status} ${response.body.code}`;
    };
    expect(await answer(stranger.id, factorId)).toBe('404 mfa_factor_not_found');
    expect(await answer(id, 'mine')).toBe('404 validation_failed');
    expect(await answer(randomUUID(), factorId)).toBe('404 user_not_found');
    expect(await answer(id, other, { friendly_name: 'Phone' })).toBe('422 mfa_factor_name_conflict');
    expect(await answer(id, other, { friendly_name: 'x'.repeat(1_001) })).toBe('400 validation_failed');
    const unsigned = await world.request('PUT', `/admin/users/${id}/factors/${factorId}`, { token: access, body: {} });
    expect(unsigned.body.code).toBe('not_admin');
    expect(await eventsOf(id)).toEqual([]);
  });

  test('of another user are not found', async () => {
    const [{ id }, { factorId }] = [await world.signUpUser(), await withFactor()];
    const answer = async (path: string) => {
      const { status, body } = await request('DELETE', path);
      return `${status} ${body.code}`;
    };
    expect(await answer(`/admin/users/${id}/factors/${factorId}`)).toBe('404 mfa_factor_not_found');
    expect(await answer(`/admin/users/${id}/factors/mine`)).toBe('404 validation_failed');
    expect(await answer(`/admin/users/${randomUUID()}/factors/${factorId}`)).toBe('404 user_not_found');
    expect((await request('GET', `/admin/users/${randomUUID()}/factors`)).body.code).toBe('user_not_found');
  });
});

describe('passkeys', () => {
  async function withPasskey() {
    const person = await world.signUpUser();
    const { rows } = await world.admin.query<{ id: string }>(
      `insert into auth.webauthn_credentials (user_id, purpose, credential_id, public_key, aaguid, friendly_name)
       values ($1, 'passkey', $2, '', $3, 'Laptop') returning id`,
      [person.id, randomBytes(16), randomUUID()],
    );
    return { ...person, passkeyId: rows[0]!.id };
  }

  test('are listed and removed', async () => {
    const { id, passkeyId, email } = await withPasskey();
    const listed = await admin.passkey.listPasskeys({ userId: id });
    expect(listed.error).toBeNull();
    expect(listed.data).toEqual([{ id: passkeyId, friendly_name: 'Laptop', created_at: expect.any(String) }]);
    expect((await admin.passkey.deletePasskey({ userId: id, passkeyId })).error).toBeNull();
    expect((await admin.passkey.listPasskeys({ userId: id })).data).toEqual([]);
    await world.waitForMailWith('A passkey was removed', email);
  });

  test('of another user are not found', async () => {
    const [{ id }, { passkeyId }] = [await world.signUpUser(), await withPasskey()];
    for (const path of [
      `${id}/passkeys/${passkeyId}`,
      `${id}/passkeys/mine`,
      `${randomUUID()}/passkeys/${passkeyId}`,
    ]) {
      expect((await request('DELETE', `/admin/users/${path}`)).status).toBe(404);
    }
  });
});

test.each([
  ['GET', `/admin/users/${randomUUID()}/factors`],
  ['DELETE', `/admin/users/${randomUUID()}/factors/x`],
  ['GET', `/admin/users/${randomUUID()}/passkeys`],
  ['DELETE', `/admin/users/${randomUUID()}/passkeys/x`],
])('%s %s needs a service token', async (method, path) => {
  const { access } = await world.signUpUser();
  expect((await world.request(method, path)).status).toBe(401);
  expect((await world.request(method, path, { token: access })).body.code).toBe('not_admin');
});
