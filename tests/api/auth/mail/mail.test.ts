/** Flows by mail: confirmation, recovery, address changes, codes (docs/specification/api.md 8, 13, 14, 15 and 16). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, tokenHashIn, newAddress, startAuthWorld, type AuthWorld, type WireBody } from '../fixture.ts';

const MINUTE = 60_000;
const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

/** Replaces ids, times and the address, so that two responses of the same shape are equal. */
const shape = (body: WireBody, email: string): string =>
  JSON.stringify(body)
    .replaceAll(body.id, 'ID')
    .replaceAll(body.identities[0].identity_id, 'IDENTITY')
    .replaceAll(email, 'EMAIL')
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'TIME');

describe('with confirmation by mail', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_AUTOCONFIRM: 'off' });
  });
  afterAll(() => world.close());

  const signUp = (email: string, data = {}) =>
    world.request('POST', '/signup', { body: { email, password: PASSWORD, data } });
  const signIn = (email: string, password = PASSWORD) =>
    world.request('POST', '/token?grant_type=password', { body: { email, password } });
  async function createConfirmedAccount(): Promise<string> {
    const email = newAddress();
    await signUp(email);
    const mail = await world.waitForMail(email);
    const { status } = await world.request('POST', '/verify', {
      body: { type: 'signup', token_hash: tokenHashIn(mail) },
    });
    expect(status).toBe(200);
    return email;
  }

  test('sign-up returns a user without a session, and the link signs in', async () => {
    const email = newAddress();
    const client = world.client();
    const { data, error } = await client.auth.signUp({ email, password: PASSWORD });
    expect(error).toBeNull();
    expect(data.session).toBeNull();
    expect(data.user?.id).toBeTruthy();
    expect((await signIn(email)).body).toEqual({ code: 'email_not_confirmed', message: 'Email not confirmed' });

    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('Confirm your email address');
    const link = new URL(mail.links[0]!);
    expect([link.origin, link.pathname]).toEqual([new URL(world.config.publicUrl).origin, '/login']);
    expect(link.searchParams.get('type')).toBe('signup');

    const verified = await client.auth.verifyOtp({ type: 'signup', token_hash: tokenHashIn(mail) });
    expect(verified.error).toBeNull();
    expect(verified.data.user).toMatchObject({ id: data.user!.id, email, user_metadata: { email_verified: true } });
    expect(verified.data.user?.email_confirmed_at).toBeTruthy();
    expect((await signIn(email)).status).toBe(200);
  });

  test('the code signs in with type signup and type email', async () => {
    for (const type of ['signup', 'email'] as const) {
      const email = newAddress();
      await signUp(email);
      const { code } = await world.waitForMail(email);
      const { data, error } = await world.client().auth.verifyOtp({ type, email: email.toUpperCase(), token: code! });
      expect(error).toBeNull();
      expect(data.session?.access_token).toBeTruthy();
    }
  });

  test('a link works once', async () => {
    const email = newAddress();
    await signUp(email);
    const token_hash = tokenHashIn(await world.waitForMail(email));
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => world.request('POST', '/verify', { body: { type: 'signup', token_hash } })),
    );
    expect(responses.filter((response) => response.status === 200)).toHaveLength(1);
    const again = await world.request('POST', '/verify', { body: { type: 'signup', token_hash } });
    expect([again.status, again.body]).toEqual([
      403,
      { code: 'otp_expired', message: 'Email link is invalid or has expired' },
    ]);
  });

  test('a recovery removes the password that a stranger chose for the address', async () => {
    const email = newAddress();
    const strange = (path: string) =>
      world.request('POST', path, { body: { email, password: 'chosen by a stranger' } });
    await strange('/signup');
    await world.request('POST', '/recover', { body: { email } });
    const token_hash = tokenHashIn(await world.waitForMail(email, 2));
    expect((await world.request('POST', '/verify', { body: { type: 'recovery', token_hash } })).status).toBe(200);
    expect((await strange('/token?grant_type=password')).body.code).toBe('invalid_credentials');
  });

  test('a link expires after an hour', async () => {
    const email = newAddress();
    await signUp(email);
    const token_hash = tokenHashIn(await world.waitForMail(email));
    world.clock.advance(60 * MINUTE);
    const { status } = await world.request('POST', '/verify', { body: { type: 'signup', token_hash } });
    expect(status).toBe(403);
  });

  test.each([
    [4, 200],
    [5, 403],
  ])('after %d wrong codes the right one gets %d', async (count, status) => {
    const email = newAddress();
    await signUp(email);
    const { code } = await world.waitForMail(email);
    const guess = (token: string) => world.request('POST', '/verify', { body: { type: 'signup', email, token } });
    for (let wrongGuess = 0; wrongGuess < count; wrongGuess += 1) await guess(wrong(code!));
    expect((await guess(code!)).status).toBe(status);
  });

  test('five wrong codes invalidate the code, also when concurrent, and keep the link valid', async () => {
    const email = newAddress();
    await signUp(email);
    const mail = await world.waitForMail(email);
    const guess = (token: string) => world.request('POST', '/verify', { body: { type: 'signup', email, token } });
    const guesses = await Promise.all(Array.from({ length: 10 }, () => guess(wrong(mail.code!))));
    expect(new Set(guesses.map((response) => response.status))).toEqual(new Set([403]));
    const right = await guess(mail.code!);
    expect([right.status, right.body]).toEqual([
      403,
      { code: 'otp_expired', message: 'Token has expired or is invalid' },
    ]);
    const link = await world.request('POST', '/verify', { body: { type: 'signup', token_hash: tokenHashIn(mail) } });
    expect(link.status).toBe(200);
  });

  test('new mails allow no further guesses', async () => {
    const email = await createConfirmedAccount();
    for (let round = 0; round < 3; round += 1) {
      await world.request('POST', '/recover', { body: { email } });
      const { code } = await world.waitForMail(email, 2 + round);
      for (let guess = 0; guess < 5; guess += 1) {
        await world.request('POST', '/verify', { body: { type: 'recovery', email, token: wrong(code!) } });
      }
    }
    await world.request('POST', '/recover', { body: { email } });
    const { code } = await world.waitForMail(email, 5);
    const { status } = await world.request('POST', '/verify', { body: { type: 'recovery', email, token: code! } });
    expect(status).toBe(403);
  });

  test('sign-up responds the same for a new address, an unconfirmed one and one with an account', async () => {
    const [fresh, waiting, owner] = [newAddress(), newAddress(), await createConfirmedAccount()];
    await signUp(waiting);
    const responses = [];
    for (const email of [fresh, waiting, owner])
      responses.push([await signUp(email, { name: 'Ada' }), await signUp(email, { name: 'Ada' })]);
    const shapes = responses.flatMap((pair, index) =>
      pair.map(({ status, body }) => `${status} ${shape(body, [fresh, waiting, owner][index]!)}`),
    );
    expect(new Set(shapes).size).toBe(1);
    for (const [first, second] of responses) expect(first!.body.id).toBe(second!.body.id);
    for (const [first] of responses)
      expect(first!.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const notice = await world.waitForMail(owner, 2);
    expect(notice.subject).toBe('You already have an account');
    expect(notice.code).toBeNull();
  });

  test('sign-up and a wrong code take a minimum time for every address', async () => {
    const owner = await createConfirmedAccount();
    const measureMs = async (asked: () => Promise<unknown>): Promise<number> => {
      const start = performance.now();
      await asked();
      return performance.now() - start;
    };
    // `startPadding` pads responses to 100 ms. Timers may fire up to a millisecond early.
    for (const email of [newAddress(), owner]) {
      expect(await measureMs(() => signUp(email))).toBeGreaterThanOrEqual(98);
      const guess = () => world.request('POST', '/verify', { body: { type: 'signup', email, token: 'x' } });
      expect(await measureMs(guess)).toBeGreaterThanOrEqual(98);
    }
  });

  test('a second sign-up with the same password does not change the first', async () => {
    const email = newAddress();
    await signUp(email, { name: 'First' });
    await signUp(email, { name: 'Second' });
    const token_hash = tokenHashIn(await world.waitForMail(email, 2));
    const { body } = await world.request('POST', '/verify', { body: { type: 'signup', token_hash } });
    expect(body.user.user_metadata.name).toBe('First');
    expect((await signIn(email)).status).toBe(200);
  });

  test('a password of an earlier sign-up by a stranger does not work after the owner confirms', async () => {
    const email = newAddress();
    await signUp(email);
    const own = 'another password';
    const response = await world.request('POST', '/signup', { body: { email, password: own } });
    expect(response.status).toBe(200);
    const token_hash = tokenHashIn(await world.waitForMail(email, 2));
    const opened = await world.request('POST', '/verify', { body: { type: 'signup', token_hash } });
    expect(opened.body.access_token).toBeTruthy();
    // The server cannot know which password is the owner's, so no password works until a recovery sets a new password.
    expect((await signIn(email)).status).toBe(400);
    expect((await signIn(email, own)).status).toBe(400);
  });

  test('resend sends the mail again before confirmation and no mail afterwards', async () => {
    const email = newAddress();
    await signUp(email);
    expect((await world.client().auth.resend({ type: 'signup', email })).error).toBeNull();
    await world.waitForMail(email, 2);
    const owner = await createConfirmedAccount();
    const { status, body } = await world.request('POST', '/resend', { body: { type: 'signup', email: owner } });
    expect([status, body]).toEqual([200, {}]);
    const stranger = await world.request('POST', '/resend', { body: { type: 'signup', email: newAddress() } });
    expect([stranger.status, stranger.body]).toEqual([status, body]);
  });

  test.each([
    [{}, 'Missing one of these types: signup, email_change, sms, phone_change'],
    [{ type: 'signup' }, 'Missing email address or phone number'],
    [{ type: 'signup', phone: '1' }, 'Type provided requires an email address'],
    [{ type: 'signup', email: 'x' }, 'Unable to validate email address: invalid format'],
  ])('resend rejects %j', async (body, message) => {
    const response = await world.request('POST', '/resend', { body });
    expect([response.status, response.body]).toEqual([400, { code: 'validation_failed', message }]);
  });
});

describe('an account', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_REDIRECT_URLS: 'myapp://**/**' });
  });
  afterAll(() => world.close());

  test('is recovered by link, which starts a session, and a new password signs out every other device', async () => {
    const { email, access } = await world.signUpUser();
    const client = world.client();
    const events: string[] = [];
    client.auth.onAuthStateChange((event) => void events.push(event));
    const redirectTo = `${world.config.publicUrl}/reset-password`;
    expect((await client.auth.resetPasswordForEmail(email, { redirectTo })).error).toBeNull();
    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('Reset your password');
    expect(new URL(mail.links[0]!).pathname).toBe('/reset-password');
    expect((await client.auth.verifyOtp({ type: 'recovery', token_hash: tokenHashIn(mail) })).error).toBeNull();
    expect(events).toContain('PASSWORD_RECOVERY');
    const { error } = await client.auth.updateUser({ password: 'a better password' });
    expect(error).toBeNull();
    expect((await world.request('GET', '/user', { token: access })).body.code).toBe('session_not_found');
    expect((await client.auth.getUser()).error).toBeNull();
    const signIn = await world.client().auth.signInWithPassword({ email, password: 'a better password' });
    expect(signIn.error).toBeNull();
    await world.waitForMailWith('Your password was changed', email);
  });

  test('is recovered by code, and a newer mail invalidates the code of an older one', async () => {
    const { email } = await world.signUpUser();
    await world.request('POST', '/recover', { body: { email } });
    const first = await world.waitForMail(email);
    await world.request('POST', '/recover', { body: { email } });
    const second = await world.waitForMail(email, 2);
    const verify = (token: string) => world.request('POST', '/verify', { body: { type: 'recovery', email, token } });
    if (first.code !== second.code) expect((await verify(first.code!)).status).toBe(403);
    expect((await verify(second.code!)).status).toBe(200);
  });

  const openRecovery = async (mail: { links: string[] }) =>
    (await world.request('POST', '/verify', { body: { type: 'recovery', token_hash: tokenHashIn(mail) } })).status;

  test('is recovered by an earlier link after a stranger requested more mails, and one use invalidates all links', async () => {
    const { email } = await world.signUpUser();
    const mails = [];
    for (let count = 1; count <= 3; count += 1) {
      await world.request('POST', '/recover', { body: { email } });
      mails.push(await world.waitForMail(email, count));
    }
    expect(await openRecovery(mails[0]!)).toBe(200);
    for (const mail of mails) expect(await openRecovery(mail)).toBe(403);
    // A later mail does not make the earlier links valid again.
    await world.request('POST', '/recover', { body: { email } });
    await world.waitForMail(email, 4);
    for (const mail of mails) expect(await openRecovery(mail)).toBe(403);
  });

  test('invalidates the links of earlier mails after an hour and after a password change', async () => {
    const { email } = await world.signUpUser();
    await world.proveAddress(email);
    const mailAgain = async (count: number) => {
      await world.request('POST', '/recover', { body: { email } });
      return world.waitForMail(email, count);
    };
    const first = await mailAgain(1);
    world.clock.advance(40 * MINUTE);
    const second = await mailAgain(2);
    world.clock.advance(20 * MINUTE);
    const third = await mailAgain(3);
    expect(await openRecovery(first)).toBe(403);
    // The access token of the sign-up has expired as well.
    const signedIn = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    const token = signedIn.body.access_token;
    expect((await world.request('PUT', '/user', { token, body: { password: 'quite another' } })).status).toBe(200);
    expect([await openRecovery(second), await openRecovery(third)]).toEqual([403, 403]);
  });

  test('recovery responds the same for an address without an account', async () => {
    const { email } = await world.signUpUser();
    const known = await world.request('POST', '/recover', { body: { email } });
    const unknown = await world.request('POST', '/recover', { body: { email: newAddress() } });
    expect([known.status, known.body]).toEqual([200, {}]);
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    for (const [body, message] of [
      [{}, 'Password recovery requires an email'],
      [{ email: 'x y' }, 'Unable to validate email address: invalid format'],
    ]) {
      const response = await world.request('POST', '/recover', { body });
      expect([response.status, response.body]).toEqual([400, { code: 'validation_failed', message }]);
    }
  });

  test('changes its address after both addresses confirm, and notifies the old one', async () => {
    const { email, access, id } = await world.signUpUser();
    const newEmail = newAddress();
    const asked = await world.request('PUT', '/user', { token: access, body: { email: newEmail } });
    expect(asked.status).toBe(200);
    expect(asked.body).toMatchObject({ email, new_email: newEmail });
    const [toOld, toNew] = [await world.waitForMail(email), await world.waitForMail(newEmail)];
    expect(toOld.text).toContain(newEmail);

    const client = world.client();
    const half = await client.auth.verifyOtp({ type: 'email_change', token_hash: tokenHashIn(toNew) });
    expect(half).toMatchObject({ error: null, data: { session: null, user: null } });
    const raw = await world.request('POST', '/verify', {
      body: { type: 'email_change', token_hash: tokenHashIn(toNew) },
    });
    expect(raw.status).toBe(403);
    const whole = await client.auth.verifyOtp({ type: 'email_change', email, token: toOld.code! });
    expect(whole.error).toBeNull();
    expect(whole.data.user).toMatchObject({ id, email: newEmail, user_metadata: { email: newEmail } });
    expect(whole.data.user?.new_email).toBeUndefined();
    expect(whole.data.user?.identities?.[0]?.identity_data).toMatchObject({ email: newEmail, email_verified: true });
    expect((await world.waitForMail(email, 2)).subject).toBe('Your email address was changed');
    const signIn = await world.client().auth.signInWithPassword({ email: newEmail, password: PASSWORD });
    expect(signIn.error).toBeNull();
  });

  test('cannot change to an address with an account, with the same response as for a free one', async () => {
    const owner = await world.signUpUser();
    const { email, access } = await world.signUpUser();
    const free = newAddress();
    const { access: otherAccess } = await world.signUpUser();
    const taken = await world.request('PUT', '/user', { token: access, body: { email: owner.email } });
    const open = await world.request('PUT', '/user', { token: otherAccess, body: { email: free } });
    expect(taken.status).toBe(open.status);
    expect(Object.keys(taken.body)).toEqual(Object.keys(open.body));
    expect((await world.waitForMail(owner.email)).subject).toBe('You already have an account');
    const half = await world.request('POST', '/verify', {
      body: { type: 'email_change', token_hash: tokenHashIn(await world.waitForMail(email)) },
    });
    expect(half.body).toMatchObject({ code: '200' });
  });

  test('never changes to an unconfirmed address, even while the change to it begins', async () => {
    const { email, access } = await world.signUpUser();
    const [own, foreign] = [newAddress(), newAddress()];
    await world.request('PUT', '/user', { token: access, body: { email: own } });
    const verify = (mail: { links: string[] }) =>
      world.request('POST', '/verify', { body: { type: 'email_change', token_hash: tokenHashIn(mail) } });
    expect((await verify(await world.waitForMail(own))).body).toMatchObject({ code: '200' });
    // Simulates the moment at which a second change has updated the row, but has not yet replaced the tokens.
    await world.admin.query('update auth.users set new_email = $2 where email = $1', [email, foreign]);
    expect((await verify(await world.waitForMail(email))).body.code).toBe('otp_expired');
    expect((await world.request('GET', '/user', { token: access })).body.email).toBe(email);
  });

  test('restarts an address change with another address, which invalidates the first links', async () => {
    const { email, access } = await world.signUpUser();
    const [typo, right] = [newAddress(), newAddress()];
    await world.request('PUT', '/user', { token: access, body: { email: typo } });
    await world.request('PUT', '/user', { token: access, body: { email: right } });
    const dead = await world.request('POST', '/verify', {
      body: { type: 'email_change', token_hash: tokenHashIn(await world.waitForMail(typo)) },
    });
    expect(dead.status).toBe(403);
    await world.request('POST', '/verify', {
      body: { type: 'email_change', token_hash: tokenHashIn(await world.waitForMail(email, 2)) },
    });
    const done = await world.request('POST', '/verify', {
      body: { type: 'email_change', token_hash: tokenHashIn(await world.waitForMail(right)) },
    });
    expect(done.body.user.email).toBe(right);
  });

  const formOf = (html: string) => {
    const field = (pattern: RegExp) => pattern.exec(html)![1]!.replaceAll('&amp;', '&');
    const body = new URLSearchParams({
      type: field(/name="type" value="([^"]*)"/),
      token: field(/name="token" value="([^"]*)"/),
    });
    return { action: field(/action="([^"]*)"/).replace('/auth/v1', ''), body: body.toString() };
  };
  const press = ({ action, body }: ReturnType<typeof formOf>, headers = {}) =>
    world.request('POST', action, {
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    });
  const fragmentOf = (response: { headers: Headers }) =>
    new URLSearchParams(new URL(response.headers.get('location')!).hash.slice(1));

  test('opening a link to a third-party page consumes no token, and its button redirects there with a session', async () => {
    const { email } = await world.signUpUser();
    const page = 'http://127.0.0.1:4100/welcome';
    await world.request('POST', `/recover?redirect_to=${encodeURIComponent(page)}`, { body: { email } });
    const link = new URL((await world.waitForMail(email)).links[0]!);
    expect(link.pathname).toBe('/auth/v1/verify');
    const path = link.href.slice(`${world.config.publicUrl}/auth/v1`.length);
    for (const method of ['HEAD', 'GET', 'GET']) expect((await world.request(method, path)).status).toBe(200);
    const shown = await world.request('GET', path);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'cache-control': 'no-store',
      // With "no-referrer" the form would send `Origin: null` and look cross-site.
      'referrer-policy': 'strict-origin',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^ ]+'; .*form-action 'self' http:;/,
      ),
    });
    expect(shown.body).toContain('The button signs you in to <strong>127.0.0.1:4100</strong>');

    const form = formOf(shown.body);
    // Browsers without fetch metadata, or over plain http, send the page's `Origin`.
    for (const crossSite of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
    ]) {
      const forced = await press(form, crossSite);
      expect(new URL(forced.headers.get('location')!, world.url).pathname).toBe('/auth/v1/verify');
    }
    const pressed = await press(form, { Origin: world.url });
    expect(pressed.status).toBe(303);
    expect(pressed.headers.get('location')!.split('#')[0]).toBe(page);
    expect(pressed.headers.get('cache-control')).toBe('no-store');
    const fragment = fragmentOf(pressed);
    const tokens = ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'sb', 'token_type', 'type'];
    expect([...fragment.keys()]).toEqual(tokens);
    expect(Number(fragment.get('expires_at'))).toBe(decodeJwt(fragment.get('access_token')!).exp);
    expect((await world.request('GET', '/user', { token: fragment.get('access_token')! })).body.email).toBe(email);

    // The page is the same for a used token and for an unknown one.
    const afterwards = await world.request('GET', path);
    expect(afterwards.body).toBe(shown.body);
    const token = link.searchParams.get('token')!;
    const unknown = await world.request('GET', path.replace(token, 'x'.repeat(43)));
    expect(unknown.body).toBe(shown.body.replace(token, 'x'.repeat(43)));
    expect(Object.fromEntries(fragmentOf(await press(form)))).toEqual({
      error: 'access_denied',
      error_code: 'otp_expired',
      error_description: 'Email link is invalid or has expired',
      sb: '',
    });
  });

  test('the page of a link to an app names its scheme', async () => {
    const target = encodeURIComponent('myapp://journal.example.com/done');
    const { body } = await world.request('GET', `/verify?type=recovery&token=x&redirect_to=${target}`);
    expect(body).toContain('Continue to myapp<');
  });

  test('the page of a link escapes HTML', async () => {
    const odd = encodeURIComponent('"><script>alert(1)</script>');
    const { status, body } = await world.request('GET', `/verify?type=${odd}&token=${odd}&redirect_to=${odd}`);
    expect(status).toBe(200);
    expect(body).not.toContain('<script');
    expect(body).toContain('name="token" value="&quot;&gt;&lt;script&gt;');
    expect(body).toContain('<strong>Hustle Forge</strong>');
  });

  test('a redirect target that is not allowed is replaced with PUBLIC_URL', async () => {
    const { email } = await world.signUpUser();
    await world.request('POST', '/recover?redirect_to=https%3A%2F%2Fevil.example%2F', { body: { email } });
    expect(new URL((await world.waitForMail(email)).links[0]!).origin).toBe(new URL(world.config.publicUrl).origin);
  });

  test.each([
    ['POST', '', { token_hash: 'x' }, 400, 'Verify requires a verification type'],
    ['POST', '', { type: 'signup' }, 400, 'Verify requires either a token or a token hash'],
    [
      'POST',
      '',
      { type: 'signup', token: '1', token_hash: 'x' },
      400,
      'Verify requires either a token or a token hash',
    ],
    [
      'POST',
      '',
      { type: 'signup', token_hash: 'x', email: 'a@b.co' },
      400,
      'Only the token_hash and type should be provided',
    ],
    [
      'POST',
      '',
      { type: 'signup', token: '123456' },
      400,
      'Only an email address or phone number should be provided on verify',
    ],
    ['POST', '', { type: 'sms', token_hash: 'x' }, 400, 'Invalid email verification type'],
    ['POST', '', { type: 'magic', token_hash: 'x' }, 400, 'Invalid email verification type'],
    ['POST', '', { type: 'signup', token: '1', email: 'a b' }, 422, 'Invalid email format'],
    ['GET', '?token=x', undefined, 400, 'Verify requires a verification type'],
    ['GET', '?type=signup', undefined, 400, 'Verify requires a token or a token hash'],
  ])('%s /verify%s rejects %j', async (method, query, body, status, message) => {
    const response = await world.request(method, `/verify${query}`, { body });
    expect([response.status, response.body]).toEqual([status, { code: 'validation_failed', message }]);
  });
});
