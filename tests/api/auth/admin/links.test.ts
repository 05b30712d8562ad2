/** Links that an administrator generates, and invitations (docs/specification/api.md 33). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, tokenHashIn, newAddress, type AuthWorld } from '../fixture.ts';

const world = setUpAuthWorld({ AUTH_REDIRECT_URLS: 'https://app.example.com/**' });
let admin: Awaited<ReturnType<AuthWorld['adminClient']>>['auth']['admin'];
let token: string;
beforeAll(async () => {
  token = await world.serviceToken();
});
// Each test gets a new token, because some tests advance the clock beyond the life of a token.
beforeEach(async () => {
  token = await world.serviceToken();
  ({ admin } = (await world.adminClient()).auth);
});

type LinkType = 'signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change_current' | 'email_change_new';

async function requestLink(type: LinkType, email: string, more: Record<string, unknown> = {}) {
  const { data, error } = await admin.generateLink({ type, email, ...more } as never);
  expect(error).toBeNull();
  return { ...data.properties!, user: data.user! };
}

const eventsOf = async (userId: string): Promise<string[]> =>
  (
    await world.admin.query<{ event: string }>(
      "select event from auth.audit_log where user_id = $1 and actor = 'service' order by id",
      [userId],
    )
  ).rows.map(({ event }) => event);

const verifyHash = (type: string, hash: string) =>
  world.client().auth.verifyOtp({ type: type as 'signup', token_hash: hash });
const codeOf = (link: { email_otp: string }): string => link.email_otp;

describe('a generated link', () => {
  test('to sign up creates an unconfirmed account, whose link confirms it', async () => {
    const email = newAddress();
    const link = await requestLink('signup', email, { password: PASSWORD, options: { data: { name: 'Ana' } } });
    expect(link.verification_type).toBe('signup');
    expect(link.user).toMatchObject({ email, confirmation_sent_at: expect.any(String) });
    expect(link.user.user_metadata).toEqual({ name: 'Ana' });
    const { id } = link.user;
    expect(link.user.identities).toMatchObject([
      { provider: 'email', identity_data: { email, sub: id, email_verified: false, phone_verified: false } },
    ]);
    expect((await world.client().auth.signInWithPassword({ email, password: PASSWORD })).error?.code).toBe(
      'email_not_confirmed',
    );
    const { data, error } = await verifyHash('signup', link.hashed_token);
    expect(error).toBeNull();
    expect(data.user!.email_confirmed_at).toBeDefined();
    expect(data.user!.user_metadata).toEqual({ name: 'Ana', email_verified: true });
    expect(data.user!.identities![0]!.identity_data).toMatchObject({ email_verified: true });
    expect((await world.client().auth.signInWithPassword({ email, password: PASSWORD })).error).toBeNull();
    expect(await eventsOf(link.user.id)).toEqual(['created_by_admin']);
  });

  test('to sign up replaces password and metadata of an unconfirmed account', async () => {
    const email = newAddress();
    await requestLink('signup', email, { password: 'an old horse' });
    const link = await requestLink('signup', email, { password: PASSWORD, options: { data: { name: 'Bo' } } });
    expect(link.user.user_metadata).toEqual({ name: 'Bo' });
    await verifyHash('signup', link.hashed_token);
    expect((await world.client().auth.signInWithPassword({ email, password: PASSWORD })).error).toBeNull();
  });

  test.each(['magiclink', 'recovery'] as const)('of type %s signs an existing user in once', async (type) => {
    const { email, id } = await world.signUpUser();
    const link = await requestLink(type, email);
    expect(link).toMatchObject({ verification_type: type, user: { id, recovery_sent_at: expect.any(String) } });
    const { data } = await verifyHash(type, link.hashed_token);
    expect(data.user!.id).toBe(id);
    expect((await verifyHash(type, link.hashed_token)).error?.code).toBe('otp_expired');
  });

  test('keeps the link that the owner got by mail valid', async () => {
    const { email, id } = await world.signUpUser();
    await world.client().auth.resetPasswordForEmail(email);
    const mailed = tokenHashIn(await world.waitForMailWith('Reset your password', email));
    await requestLink('recovery', email);
    expect((await verifyHash('recovery', mailed)).data.user?.id).toBe(id);
  });

  test('has a code that works as well', async () => {
    const { email, id } = await world.signUpUser();
    const code = codeOf(await requestLink('magiclink', email));
    expect(code).toMatch(/^\d{6}$/);
    const { data } = await world.client().auth.verifyOtp({ type: 'email', email, token: code });
    expect(data.user!.id).toBe(id);
  });

  test('to sign in creates an account for an unknown address', async () => {
    const email = newAddress();
    const link = await requestLink('magiclink', email);
    expect(link.verification_type).toBe('signup');
    expect((await verifyHash('signup', link.hashed_token)).data.user!.email).toBe(email);
  });

  test('opens the page of the link, which redirects only to an allowed target', async () => {
    const { email } = await world.signUpUser();
    const target = 'https://app.example.com/welcome';
    const link = await requestLink('recovery', email, { options: { redirectTo: target } });
    expect(link.redirect_to).toBe(target);
    const url = new URL(link.action_link);
    expect(url.origin + url.pathname).toBe(`${world.config.publicUrl}/auth/v1/verify`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      token: link.hashed_token,
      type: 'recovery',
      redirect_to: target,
    });
    expect(await (await fetch(url)).text()).toContain('<button');
    const elsewhere = await requestLink('recovery', email, { options: { redirectTo: 'https://evil.example' } });
    expect(elsewhere.redirect_to).toBe(world.config.publicUrl);
  });

  test('of both addresses changes the address', async () => {
    const { email, id } = await world.signUpUser();
    const newEmail = newAddress();
    const current = await requestLink('email_change_current', email, { newEmail });
    const fresh = await requestLink('email_change_new', email, { newEmail });
    expect(current.user).toMatchObject({ new_email: newEmail, email_change_sent_at: expect.any(String) });
    expect(new URL(fresh.action_link).searchParams.get('type')).toBe('email_change');
    expect((await verifyHash('email_change', current.hashed_token)).data.session).toBeNull();
    const repeated = await admin.generateLink({ type: 'email_change_current', email, newEmail });
    expect(repeated.error).toMatchObject({ status: 422, message: 'This address has confirmed the change already' });
    const { data } = await verifyHash('email_change', fresh.hashed_token);
    expect(data.user).toMatchObject({ id, email: newEmail });
    expect(await eventsOf(id)).toEqual(['address_change_requested']);
  });

  test('of an address change to another address replaces the change', async () => {
    const { email, id } = await world.signUpUser();
    const [first, second] = [newAddress(), newAddress()];
    const replaced = await requestLink('email_change_current', email, { newEmail: first });
    const fresh = await requestLink('email_change_new', email, { newEmail: second });
    expect(fresh.user.new_email).toBe(second);
    expect((await verifyHash('email_change', replaced.hashed_token)).error?.code).toBe('otp_expired');
    const current = await requestLink('email_change_current', email, { newEmail: second });
    await verifyHash('email_change', current.hashed_token);
    const { data } = await verifyHash('email_change', fresh.hashed_token);
    expect(data.user).toMatchObject({ id, email: second });
  });

  test('of an address change keeps the code of the other address', async () => {
    const { email } = await world.signUpUser();
    const newEmail = newAddress();
    const current = await requestLink('email_change_current', email, { newEmail });
    const fresh = await requestLink('email_change_new', email, { newEmail });
    const verify = (address: string, code: string) =>
      world.client().auth.verifyOtp({ type: 'email_change', email: address, token: code });
    expect((await verify(email, codeOf(current))).error).toBeNull();
    expect((await verify(newEmail, codeOf(fresh))).data.user!.email).toBe(newEmail);
  });

  test.each([
    [{ type: 'signup', email: 'new@example.com' }, 400, 'validation_failed', 'Signup requires a valid password'],
    [{ type: 'signup', email: 'new@example.com', password: 'short' }, 422, 'weak_password', 'at least 6'],
    [{ type: 'recovery', email: 'nobody@example.com' }, 404, 'user_not_found', 'User with this email not found'],
    [
      { type: 'email_change_new', email: 'nobody@example.com', newEmail: 'new@example.com' },
      404,
      'user_not_found',
      'User with this email not found',
    ],
    [{ type: 'email_change_new', email: 'a@example.com', newEmail: 'x' }, 400, 'validation_failed', 'invalid format'],
    [{ type: 'magiclink', email: 'no address' }, 400, 'validation_failed', 'invalid format'],
    [
      { type: 'sms', email: 'a@example.com' },
      400,
      'validation_failed',
      'Invalid email action link type requested: sms',
    ],
  ])('%j is rejected', async (params, status, code, text) => {
    const { error } = await admin.generateLink(params as never);
    expect(error).toMatchObject({ status, code, message: expect.stringContaining(text) });
  });

  test.each(['signup', 'invite', 'email_change_new'] as const)(
    'of type %s is refused for a taken address',
    async (type) => {
      const { email } = await world.signUpUser();
      const { email: taken } = await world.signUpUser();
      const params = type === 'email_change_new' ? { email, newEmail: taken } : { email, password: PASSWORD };
      const { error } = await admin.generateLink({ type, ...params } as never);
      expect(error).toMatchObject({ status: 422, code: 'email_exists' });
    },
  );
});

describe('an invitation', () => {
  test('is mailed and signs the new user in within a day', async () => {
    const email = newAddress();
    const { data, error } = await admin.inviteUserByEmail(email, { data: { name: 'Cleo' } });
    expect(error).toBeNull();
    const sentAt = expect.any(String);
    expect(data.user).toMatchObject({ email, invited_at: sentAt, confirmation_sent_at: sentAt });
    expect(data.user!.user_metadata).toEqual({ name: 'Cleo' });
    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('You are invited to Hustle Forge');
    world.clock.advance(23 * 3_600_000);
    const accepted = await verifyHash('invite', tokenHashIn(mail));
    expect(accepted.data.user).toMatchObject({ id: data.user!.id, email_confirmed_at: expect.any(String) });
    expect(await eventsOf(data.user!.id)).toEqual(['created_by_admin', 'invited']);
  });

  test('expires after a day', async () => {
    const email = newAddress();
    await admin.inviteUserByEmail(email);
    const hash = tokenHashIn(await world.waitForMail(email));
    world.clock.advance(24 * 3_600_000);
    expect((await verifyHash('invite', hash)).error?.code).toBe('otp_expired');
  });

  test('can be repeated until it is accepted, and only the newest link works', async () => {
    const email = newAddress();
    await admin.inviteUserByEmail(email);
    const first = await world.waitForMail(email);
    expect((await admin.inviteUserByEmail(email)).error).toBeNull();
    const second = await world.waitForMail(email, 2);
    expect((await verifyHash('invite', tokenHashIn(first))).error?.code).toBe('otp_expired');
    expect((await verifyHash('invite', tokenHashIn(second))).error).toBeNull();
    expect((await admin.inviteUserByEmail(email)).error).toMatchObject({ status: 422, code: 'email_exists' });
  });

  test('leads to another application through the page of the link', async () => {
    const email = newAddress();
    await admin.inviteUserByEmail(email, { redirectTo: 'https://app.example.com/welcome' });
    const link = new URL((await world.waitForMail(email)).links[0]!);
    expect(link.pathname).toBe('/auth/v1/verify');
    expect(link.searchParams.get('redirect_to')).toBe('https://app.example.com/welcome');
  });

  test('needs a service token', async () => {
    const { access } = await world.signUpUser();
    for (const path of ['/invite', '/admin/generate_link']) {
      const body = { email: newAddress(), type: 'magiclink' };
      expect((await world.request('POST', path, { body })).status).toBe(401);
      expect((await world.request('POST', path, { body, token: access })).body.code).toBe('not_admin');
      expect((await world.request('POST', path, { body, token })).status).toBe(200);
    }
  });
});
