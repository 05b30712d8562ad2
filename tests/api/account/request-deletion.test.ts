/**
 * A user requests the deletion of the account, and undoes it (docs/specification/wire.md 34,
 * docs/specification/accounts.md 12).
 */
import { describe, expect, test } from 'vitest';
import { PASSWORD, tokenHashIn, setUpAuthWorld } from '../auth/fixture.ts';
import { HOUR_MS, createAccountClient } from './account-client.ts';
import type { SignedUpUser } from './account-client.ts';

const world = setUpAuthWorld();
const { signIn, remove, undo, status, eventsOf, dueAtOf, deleteDue } = createAccountClient(world);

describe('DELETE /account', () => {
  test('marks the account, ends every session and mails a link to undo it', async () => {
    const ana = await world.signUpUser();
    const { body: other } = await signIn(ana.email);
    const { status: code, body } = await remove(ana.access);
    expect(code, JSON.stringify(body)).toBe(200);
    expect(Object.keys(body)).toEqual(['deletion_due_at', 'undo_token']);
    const dueIn = Date.parse(body.deletion_due_at) - world.clock.now().getTime();
    expect(Math.abs(dueIn - HOUR_MS)).toBeLessThan(5_000);
    expect(await dueAtOf(ana.id)).toEqual(new Date(body.deletion_due_at));
    expect([await status(ana.access), await status(other.access_token)]).toEqual([403, 403]);
    const renewal = { body: { refresh_token: ana.refresh } };
    expect((await world.request('POST', '/token?grant_type=refresh_token', renewal)).status).toBe(400);
    expect((await eventsOf(ana.id)).at(-1)).toBe('deletion_requested');

    const mail = await world.waitForMail(ana.email);
    expect(mail.subject).toBe('Your account will be deleted in one hour');
    expect(mail.links[0]).toBe(`${world.config.publicUrl}/auth/v1/account/undo-deletion?token_hash=${body.undo_token}`);
  });

  test('refuses a wrong password, a missing proof and a body that is no object', async () => {
    const { id, access } = await world.signUpUser();
    expect(await remove(access, { password: 'wrong horse' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_credentials' },
    });
    expect(await remove(access, {})).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    expect(await remove(access, { nonce: '000000' })).toMatchObject({
      status: 422,
      body: { code: 'reauthentication_not_valid' },
    });
    const bad = await world.request('DELETE', '/account', { token: access, body: '[]' });
    expect(bad).toMatchObject({ status: 400, body: { code: 'bad_json' } });
    expect(await world.request('DELETE', '/account', { body: { password: PASSWORD } })).toMatchObject({ status: 401 });
    expect(await dueAtOf(id)).toBeNull();
    expect(await status(access)).toBe(200);
  });

  test('takes the code of a mail once, from an account without a password', async () => {
    const ana = await world.signUpUser();
    await world.admin.query('update auth.users set password_hash = null where id = $1', [ana.id]);
    world.clock.advance(11 * 60_000);
    expect(await remove(ana.access)).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    await world.request('GET', '/reauthenticate', { token: ana.access });
    const { code } = await world.waitForMail(ana.email);
    const other = await world.signUpUser();
    expect(await remove(other.access, { nonce: code })).toMatchObject({ status: 422 });
    const answers = await Promise.all([remove(ana.access, { nonce: code }), remove(ana.access, { nonce: code })]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, expect.any(Number)]);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  test('lets one of several concurrent requests through', async () => {
    const { email, access } = await world.signUpUser();
    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(access)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const { status: code } of answers) expect([200, 403]).toContain(code);
    await world.waitForMail(email);
    expect(world.mailbox.messagesTo(email)).toHaveLength(1);
  });
});

describe('a requested deletion is undone', () => {
  const leaving = async (): Promise<SignedUpUser & { token: string }> => {
    const user = await world.signUpUser();
    const { body } = await remove(user.access);
    return { ...user, token: body.undo_token };
  };

  test('without links that were mailed before it', async () => {
    const ana = await world.signUpUser();
    await world.request('POST', '/recover', { body: { email: ana.email } });
    const mail = await world.waitForMailWith('Reset your password', ana.email);
    const { body } = await remove(ana.access);
    expect((await undo({ token_hash: body.undo_token })).status).toBe(200);
    const link = { type: 'recovery', token_hash: tokenHashIn(mail) };
    expect((await world.request('POST', '/verify', { body: link })).body.code).toBe('otp_expired');
  });

  test('by the link once, without signing in', async () => {
    const ana = await leaving();
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 200, body: {} });
    expect(await dueAtOf(ana.id)).toBeNull();
    expect(await status(ana.access)).toBe(403);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403, body: { code: 'otp_expired' } });
    expect((await eventsOf(ana.id)).at(-1)).toBe('deletion_undone');
    await world.waitForMailWith('Your account will not be deleted', ana.email);
    world.clock.advance(2 * HOUR_MS);
    await deleteDue();
    expect((await signIn(ana.email)).status).toBe(200);
  });

  test('by the button of the page, which uses nothing up while it is only shown', async () => {
    const ana = await leaving();
    const path = `/account/undo-deletion?token_hash=${ana.token}`;
    for (const method of ['HEAD', 'GET', 'GET']) {
      expect((await world.request(method, path)).status).toBe(200);
    }
    expect(await dueAtOf(ana.id)).not.toBeNull();
    const page = await world.request('GET', path);
    expect(page.body).toContain(`value="${ana.token}"`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const press = () =>
      world.request('POST', path, {
        body: new URLSearchParams({ token_hash: ana.token }).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
    const done = await press();
    expect([done.status, done.body.includes('Your account stays')]).toEqual([200, true]);
    expect(await dueAtOf(ana.id)).toBeNull();
    const again = await press();
    expect([again.status, again.body.includes('This link no longer works')]).toEqual([403, true]);
  });

  test('by signing in, which says so once and voids the link', async () => {
    const ana = await leaving();
    const { status: code, body } = await signIn(ana.email);
    expect([code, body.deletion_undone]).toEqual([200, true]);
    expect(await dueAtOf(ana.id)).toBeNull();
    expect((await eventsOf(ana.id)).slice(-2).toSorted()).toEqual(['deletion_undone', 'signed_in']);
    await world.waitForMailWith('Your account will not be deleted', ana.email);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403 });
    expect((await signIn(ana.email)).body).not.toHaveProperty('deletion_undone');
  });

  test('by the recovery of the password', async () => {
    const ana = await leaving();
    await world.request('POST', '/recover', { body: { email: ana.email } });
    const { code: token } = await world.waitForMailWith('Reset your password', ana.email);
    const { body } = await world.request('POST', '/verify', { body: { type: 'recovery', email: ana.email, token } });
    expect(body.deletion_undone).toBe(true);
    expect(await dueAtOf(ana.id)).toBeNull();
  });

  test('not by a foreign, an empty or an expired token, nor by the wrong password', async () => {
    const ana = await leaving();
    for (const token_hash of ['', 'x', `${ana.token}x`, ana.token.toUpperCase()]) {
      expect(await undo({ token_hash })).toMatchObject({ status: 403 });
    }
    expect(await world.request('POST', '/verify', { body: { type: 'recovery', token_hash: ana.token } })).toMatchObject(
      {
        status: 403,
      },
    );
    await world.request('POST', '/token?grant_type=password', { body: { email: ana.email, password: 'wrong horse' } });
    expect(await dueAtOf(ana.id)).not.toBeNull();
    world.clock.advance(HOUR_MS + 1_000);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403 });
  });

  test('by one of two concurrent ways, and the account stays', async () => {
    const ana = await leaving();
    const [link, signedIn] = await Promise.all([undo({ token_hash: ana.token }), signIn(ana.email)]);
    expect([200, 403, 503]).toContain(link.status);
    expect(signedIn.status).toBe(200);
    expect(await dueAtOf(ana.id)).toBeNull();
    const undone = (await eventsOf(ana.id)).filter((event) => event === 'deletion_undone');
    expect(undone).toHaveLength(1);
  });
});
