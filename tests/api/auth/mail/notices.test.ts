/** Notices to the owner of an account about sign-ins (docs/specification/accounts.md 16). */
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, SIGN_IN_NOTICE, tokenHashIn, newAddress, waitUntilPassing } from '../fixture.ts';

const world = setUpAuthWorld();

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
const HOUR = 3_600_000;

const signIn = async (email: string, headers: Record<string, string> = {}) => {
  const body = { email, password: PASSWORD };
  const response = await world.request('POST', '/token?grant_type=password', { body, headers });
  expect(response.status).toBe(200);
  return response;
};
const signUp = (email: string) => world.request('POST', '/signup', { body: { email, password: PASSWORD } });
const deviceIn = ({ headers }: { headers: Headers }) => ({ Cookie: headers.get('set-cookie')?.split(';')[0] ?? '' });
/** The notices once there are `count`, and a mail that was requested after them has arrived. */
const noticesTo = async (email: string, count: number): Promise<string[]> => {
  const others = () => world.mailbox.messagesTo(email).filter(({ subject }) => subject !== SIGN_IN_NOTICE);
  const before = others().length;
  await world.request('POST', '/recover', { body: { email } });
  return waitUntilPassing(() => {
    expect(others().length).toBeGreaterThan(before);
    const notices = world.mailbox.messagesTo(email).filter(({ subject }) => subject === SIGN_IN_NOTICE);
    expect(notices).toHaveLength(count);
    return notices.map(({ text }) => text);
  });
};
/** Waits for a notice, which is sent after the response. If the clock advanced before, the next one could overtake. */
const noticeArrives = (email: string) => world.waitForMailWith(SIGN_IN_NOTICE, email);

describe('a sign-in with a password', () => {
  test('on an unknown device sends the owner a notice with the device in words and the time in UTC', async () => {
    const email = newAddress();
    await signUp(email);
    await signIn(email, { 'User-Agent': FIREFOX });
    const mail = await world.waitForMailWith(SIGN_IN_NOTICE, email);
    expect(mail.text).toMatch(/Firefox on Linux, \d{1,2} [A-Z][a-z]+ \d{4}(?: at|,) \d{2}:\d{2} UTC/);
    expect(mail.text).toContain(`${world.url}/forgot-password`);
    expect(mail.text).toContain('If it was not you');
  });

  test('on the device that signed up sends no notice', async () => {
    const email = newAddress();
    const device = deviceIn(await signUp(email));
    await signIn(email, device);
    await noticesTo(email, 0);
  });

  test('on a device that signed in before sends no second notice', async () => {
    const email = newAddress();
    await signUp(email);
    const device = deviceIn(await signIn(email));
    world.clock.advance(2 * HOUR);
    await signIn(email, device);
    await noticesTo(email, 1);
  });

  test('with the cookie of another account, or a forged one, sends a notice', async () => {
    const email = newAddress();
    const own = deviceIn(await signUp(email));
    const foreign = deviceIn(await signUp(newAddress()));
    await signIn(email, foreign);
    await noticeArrives(email);
    world.clock.advance(HOUR);
    await signIn(email, { Cookie: `${own.Cookie}x` });
    await noticesTo(email, 2);
  });

  test('sends at most one notice an hour, also for two concurrent sign-ins', async () => {
    const email = newAddress();
    await signUp(email);
    await Promise.all([signIn(email), signIn(email), signIn(email)]);
    await noticeArrives(email);
    world.clock.advance(HOUR - 60_000);
    await signIn(email);
    await noticesTo(email, 1);
    world.clock.advance(60_000);
    await signIn(email);
    await noticesTo(email, 2);
  });

  test('puts no word of the User-Agent header into the mail', async () => {
    const email = newAddress();
    await signUp(email);
    await signIn(email, { 'User-Agent': 'Firefox/1 Visit https://evil.example' });
    const { text } = await world.waitForMailWith(SIGN_IN_NOTICE, email);
    expect(text).toContain('Firefox');
    expect(text).not.toContain('evil');
  });
});

describe('a sign-in that proves the mailbox', () => {
  test('sends no notice', async () => {
    const email = newAddress();
    await signUp(email);
    await world.request('POST', '/otp', { body: { email } });
    const mailed = { type: 'magiclink', token_hash: tokenHashIn(await world.waitForMail(email)) };
    expect((await world.request('POST', '/verify', { body: mailed })).status).toBe(200);
    await noticesTo(email, 0);
  });
});

test('a renewal sends no notice', async () => {
  const { email, refresh } = await world.signUpUser();
  await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
  await noticesTo(email, 0);
});

describe('the advice to an owner who did not make the change', () => {
  const withoutPassword = async () => {
    const person = await world.signUpUser();
    await world.admin.query('update auth.users set password_hash = null where id = $1', [person.id]);
    await world.admin.query(
      `update auth.identities set provider = 'sso:7d1c6a1e-0000-4000-8000-000000000000' where user_id = $1`,
      [person.id],
    );
    return person;
  };

  test('does not suggest a new password for an account without one', async () => {
    const { email, access } = await withoutPassword();
    await world.request('GET', '/reauthenticate', { token: access });
    const { text, links } = await world.waitForMailWith('Your confirmation code', email);
    expect(links).toEqual([`${world.config.publicUrl}/profile`]);
    expect(text).toContain('sign out everywhere else on your profile page');
    expect(text).toContain('Check your account at your organization as well');
  });

  test('fits the account after the change', async () => {
    const { email, access } = await withoutPassword();
    const { status } = await world.request('PUT', '/user', { token: access, body: { password: 'first of its kind' } });
    expect(status).toBe(200);
    const { links } = await world.waitForMailWith('Your password was changed', email);
    expect(links).toEqual([`${world.config.publicUrl}/forgot-password`]);
  });
});
