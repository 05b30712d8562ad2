/** Mailed sign-in codes and magic links (docs/specification/api.md 25). */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consumeToken, findByCode, findByLink, issueOneTimeToken } from '#server/auth/codes/one-time-tokens.ts';
import { claimMail } from '#server/auth/accounts/security-notice.ts';
import { waitUntilBlocked } from '../block-request.ts';
import { PASSWORD, tokenHashIn, newAddress, startAuthWorld, type AuthWorld } from '../fixture.ts';

const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');
const methodsIn = (accessToken: string): unknown[] =>
  JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).amr.map(
    ({ method }: { method: string }) => method,
  );

/** Resolves once the mail queue has run everything that was prepared before this call. */
async function settle(world: AuthWorld): Promise<void> {
  const email = newAddress();
  await world.request('POST', '/otp', { body: { email } });
  await world.waitForMail(email);
}

describe('with confirmation by mail', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_AUTOCONFIRM: 'off' });
  });
  afterAll(() => world.close());

  const verify = (body: Record<string, unknown>) => world.request('POST', '/verify', { body });
  const askFor = (email: string, fields = {}, path = '/otp') =>
    world.request('POST', path, { body: { email, ...fields } });
  async function createConfirmedAccount(): Promise<string> {
    const email = newAddress();
    await askFor(email);
    expect((await verify({ type: 'signup', token_hash: tokenHashIn(await world.waitForMail(email)) })).status).toBe(
      200,
    );
    return email;
  }

  test('a mail that is sent while an earlier code is verified ends that code', async () => {
    const email = await createConfirmedAccount();
    const { rows } = await world.admin.query('select id from auth.users where email = $1', [email]);
    const service = world.database.asService('test');
    const [now, key] = [world.clock.now(), randomBytes(32)];
    const token = { userId: rows[0].id, purpose: 'magiclink', address: email, now, key } as const;
    const { code } = await issueOneTimeToken(service, token);
    const found = await findByCode(service, { address: email, code, purposes: ['magiclink'], now, key });
    const { linkToken } = await issueOneTimeToken(service, token);
    expect(await consumeToken(service, found!)).toBe(false);
    expect((await verify({ type: 'magiclink', token_hash: linkToken })).status).toBe(200);
  });

  test('a mail that is sent while an earlier link is verified keeps the link, unless it ends earlier links', async () => {
    const email = await createConfirmedAccount();
    const { rows } = await world.admin.query('select id from auth.users where email = $1', [email]);
    const service = world.database.asService('test');
    const [now, key] = [world.clock.now(), randomBytes(32)];
    const token = { userId: rows[0].id, purpose: 'magiclink', address: email, now, key } as const;
    for (const keepsEarlierLinks of [true, false]) {
      const { linkToken } = await issueOneTimeToken(service, token);
      const found = await findByLink(service, { linkToken, purposes: ['magiclink'], now });
      await issueOneTimeToken(service, { ...token, keepsEarlierLinks });
      expect(await consumeToken(service, found!)).toBe(keepsEarlierLinks);
      expect(await consumeToken(service, found!)).toBe(false);
    }
  });

  test('two mails at once wait for each other, and the links of both are valid', async () => {
    const email = await createConfirmedAccount();
    const { rows } = await world.admin.query('select id from auth.users where email = $1', [email]);
    const token = { userId: rows[0].id, purpose: 'magiclink', address: email, now: world.clock.now() } as const;
    const issue = () =>
      world.database.transactAsService('mail a link', (transaction) =>
        issueOneTimeToken(transaction, { ...token, key: randomBytes(32), keepsEarlierLinks: true }),
      );
    await issue();
    const locker = await world.admin.connect();
    await locker.query('begin');
    await locker.query('select from auth.one_time_tokens where user_id = $1 for no key update', [token.userId]);
    const issued = Promise.all([issue(), issue()]);
    await waitUntilBlocked(world.admin, 2);
    await locker.query('rollback');
    locker.release();
    for (const { linkToken } of await issued) {
      const service = world.database.asService('test');
      expect(await findByLink(service, { linkToken, purposes: ['magiclink'], now: token.now })).not.toBeNull();
    }
  });

  test('the real client signs a new user up by code', async () => {
    const email = newAddress();
    const client = world.client();
    const sent = await client.auth.signInWithOtp({ email, options: { data: { name: 'Ada' } } });
    expect(sent).toEqual({ data: { user: null, session: null }, error: null });
    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('Confirm your email address');
    expect(new URL(mail.links[0]!).searchParams.get('type')).toBe('signup');
    const { data, error } = await client.auth.verifyOtp({ email, token: mail.code!, type: 'email' });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({
      email,
      user_metadata: { name: 'Ada', email_verified: true },
      app_metadata: { provider: 'email', providers: ['email'] },
      identities: [{ provider: 'email' }],
    });
    expect(data.user?.email_confirmed_at).toBeTruthy();
    expect(methodsIn(data.session!.access_token)).toEqual(['otp']);
  });

  test.each(['email', 'magiclink'] as const)(
    'the real client signs a known user in by code with type %s',
    async (type) => {
      const email = await createConfirmedAccount();
      const client = world.client();
      expect((await client.auth.signInWithOtp({ email })).error).toBeNull();
      const mail = await world.waitForMail(email, 2);
      expect(mail.subject).toBe('Sign in to your journal');
      const { data, error } = await client.auth.verifyOtp({ email, token: mail.code!, type });
      expect(error).toBeNull();
      expect(data.user?.email).toBe(email);
    },
  );

  test('a magic link leads to our own page, and its token signs in once', async () => {
    const email = await createConfirmedAccount();
    await askFor(email);
    const mail = await world.waitForMail(email, 2);
    const link = new URL(mail.links[0]!);
    expect([link.pathname, link.searchParams.get('type')]).toEqual(['/login', 'magiclink']);
    const token_hash = tokenHashIn(mail);
    expect((await verify({ type: 'signup', token_hash })).body.code).toBe('otp_expired');
    expect((await verify({ type: 'magiclink', token_hash })).body.user.email).toBe(email);
    expect((await verify({ type: 'magiclink', token_hash })).body.code).toBe('otp_expired');
  });

  test('an earlier magic link stays valid, and one use ends all of them', async () => {
    const email = await createConfirmedAccount();
    const mails = [];
    for (let count = 2; count <= 4; count += 1) {
      await askFor(email);
      mails.push(await world.waitForMail(email, count));
    }
    expect((await verify({ type: 'email', token: mails[0]!.code!, email })).status).toBe(403);
    expect((await verify({ type: 'magiclink', token_hash: tokenHashIn(mails[0]!) })).status).toBe(200);
    for (const mail of mails)
      expect((await verify({ type: 'magiclink', token_hash: tokenHashIn(mail) })).status).toBe(403);
  });

  test('a link expires after an hour', async () => {
    const email = await createConfirmedAccount();
    await askFor(email);
    const token_hash = tokenHashIn(await world.waitForMail(email, 2));
    world.clock.advance(3_600_000);
    expect((await verify({ type: 'magiclink', token_hash })).body.code).toBe('otp_expired');
  });

  test('no more than five of ten thousand wrong codes are compared, and the link stays valid', async () => {
    const email = await createConfirmedAccount();
    await askFor(email);
    const mail = await world.waitForMail(email, 2);
    for (let round = 0; round < 4; round += 1) {
      const guesses = Array.from({ length: 25 }, () => verify({ type: 'email', email, token: wrong(mail.code!) }));
      expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([403]));
    }
    const { rows } = await world.admin.query(
      `select wrong_codes from auth.one_time_tokens where address = $1 and purpose = 'magiclink'`,
      [email],
    );
    expect(rows).toEqual([{ wrong_codes: 5 }]);
    expect((await verify({ type: 'email', email, token: mail.code! })).status).toBe(403);
    const { rows: audit } = await world.admin.query(
      `select event, details from auth.audit_log join auth.users on users.id = user_id
        where email = $1 and event = 'sign_in_failed'`,
      [email],
    );
    expect(audit).toEqual(
      Array.from({ length: 5 }, () => ({ event: 'sign_in_failed', details: { method: 'otp', purpose: 'magiclink' } })),
    );
    expect((await verify({ type: 'magiclink', token_hash: tokenHashIn(mail) })).status).toBe(200);
  });

  test('the answer is the same for a known, an unconfirmed, a new and an unwanted address', async () => {
    const [known, waiting, unwanted] = [await createConfirmedAccount(), newAddress(), newAddress()];
    await askFor(waiting);
    await world.waitForMail(waiting);
    const answers = [
      await askFor(known),
      await askFor(waiting),
      await askFor(newAddress()),
      await askFor(known, { create_user: false }),
      await askFor(unwanted, { create_user: false }),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([200, {}]);
    await settle(world);
    expect(world.mailbox.messagesTo(unwanted)).toHaveLength(0);
    const { rows } = await world.admin.query('select 1 from auth.users where email = $1', [unwanted]);
    expect(rows).toHaveLength(0);
    await world.waitForMail(known, 3);
  });

  test('create_user false signs a known user in', async () => {
    const email = await createConfirmedAccount();
    const { error } = await world.client().auth.signInWithOtp({ email, options: { shouldCreateUser: false } });
    expect(error).toBeNull();
    expect((await world.waitForMail(email, 2)).subject).toBe('Sign in to your journal');
  });

  test('concurrent requests for a new address create one account', async () => {
    const email = newAddress();
    await Promise.all(Array.from({ length: 6 }, () => askFor(email)));
    await world.waitForMail(email);
    const { rows } = await world.admin.query('select email_confirmed_at from auth.users where email = $1', [email]);
    expect(rows).toEqual([{ email_confirmed_at: null }]);
  });

  test('a request changes no metadata of an existing account', async () => {
    const email = newAddress();
    await askFor(email, { data: { name: 'Ada' } });
    await world.waitForMail(email);
    await askFor(email, { data: { name: 'Stranger' } });
    const { body } = await verify({ type: 'signup', token_hash: tokenHashIn(await world.waitForMail(email, 2)) });
    expect(body.user.user_metadata.name).toBe('Ada');
  });

  test('a password that a stranger chose for the address does not survive the first sign-in by code', async () => {
    const email = newAddress();
    const stranger = { email, password: 'chosen by a stranger' };
    await world.request('POST', '/signup', { body: stranger });
    await world.waitForMail(email);
    await askFor(email);
    const mail = await world.waitForMail(email, 2);
    expect((await verify({ type: 'email', email, token: mail.code })).status).toBe(200);
    const signIn = await world.request('POST', '/token?grant_type=password', { body: stranger });
    expect(signIn.body.code).toBe('invalid_credentials');
  });

  test('a password that a stranger chooses after the request does not work either', async () => {
    const email = newAddress();
    const stranger = { email, password: 'chosen by a stranger' };
    await askFor(email);
    const mail = await world.waitForMail(email);
    await world.request('POST', '/signup', { body: stranger });
    expect((await verify({ type: 'signup', token_hash: tokenHashIn(mail) })).status).toBe(200);
    const signIn = await world.request('POST', '/token?grant_type=password', { body: stranger });
    expect(signIn.body.code).toBe('invalid_credentials');
  });

  test('the token of an invitation signs in once and drops a password that a stranger chose', async () => {
    const email = newAddress();
    const stranger = { email, password: 'chosen by a stranger' };
    await world.request('POST', '/signup', { body: stranger });
    await world.waitForMail(email);
    const token_hash = randomBytes(32).toString('base64url');
    await world.admin.query(
      `insert into auth.one_time_tokens (user_id, purpose, address, link_hash, code_hash, expires_at)
       select id, 'invite', email, $2, $2, now() + interval '1 day' from auth.users where email = $1`,
      [email, createHash('sha256').update(token_hash).digest()],
    );
    expect((await verify({ type: 'signup', token_hash })).body.code).toBe('otp_expired');
    const accepted = await verify({ type: 'invite', token_hash });
    expect(accepted.body.user).toMatchObject({ email, user_metadata: { email_verified: true } });
    expect((await verify({ type: 'invite', token_hash })).body.code).toBe('otp_expired');
    const signIn = await world.request('POST', '/token?grant_type=password', { body: stranger });
    expect(signIn.body.code).toBe('invalid_credentials');
  });

  test('POST /magiclink mails a link to a known user and creates an unknown one', async () => {
    const [known, unknown] = [await createConfirmedAccount(), newAddress()];
    for (const email of [known, unknown]) {
      const { status, body } = await askFor(email, {}, '/magiclink');
      expect([status, body]).toEqual([200, {}]);
    }
    expect((await world.waitForMail(known, 2)).subject).toBe('Sign in to your journal');
    expect((await world.waitForMail(unknown)).subject).toBe('Confirm your email address');
    const empty = await world.request('POST', '/magiclink', { body: {} });
    expect([empty.status, empty.body]).toEqual([
      422,
      { code: 'validation_failed', message: 'Password recovery requires an email' },
    ]);
  });

  test.each([
    [{}, 400, 'validation_failed', 'One of email or phone must be set'],
    [
      { email: 'a@b.co', phone: '1' },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided',
    ],
    [{ email: 'a@b.co', channel: 'sms' }, 400, 'validation_failed', 'Channel should only be specified with Phone OTP'],
    [{ email: 'a b' }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
    [{ email: `${'a'.repeat(255)}@b.co` }, 400, 'validation_failed', 'An email address is too long'],
    [{ phone: '+15005550001' }, 400, 'phone_provider_disabled', 'Unsupported phone provider'],
    [
      { email: 'a@b.co', code_challenge: 'x'.repeat(43) },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
    [
      { email: 'a@b.co', code_challenge: 'x', code_challenge_method: 's256' },
      400,
      'validation_failed',
      'code challenge has to be between 43 and 128 characters',
    ],
  ])('POST /otp rejects %j', async (body, status, code, message) => {
    const response = await world.request('POST', '/otp', { body });
    expect([response.status, response.body]).toEqual([status, { code, message }]);
    const old = await world.request('POST', '/otp', { body, headers: { 'X-Supabase-Api-Version': '' } });
    expect(old.body).toEqual({ code: status, error_code: code, msg: message });
  });

  test.each([{ create_user: 'yes' }, { data: [] }, { data: { x: 'x'.repeat(9_000) } }])(
    'POST /otp rejects the malformed field %#',
    async (fields) => {
      expect((await askFor('a@b.co', fields)).status).toBe(400);
    },
  );
});

describe('with autoconfirm', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_AUTOCONFIRM: 'on' });
  });
  afterAll(() => world.close());

  test('a new user gets a magic link, and only its use confirms the address', async () => {
    const email = newAddress();
    await world.client().auth.signInWithOtp({ email });
    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('Sign in to your journal');
    const confirmedAt = async () =>
      (await world.admin.query('select email_confirmed_at as at from auth.users where email = $1', [email])).rows[0].at;
    expect(await confirmedAt()).toBeNull();
    const { error } = await world.client().auth.verifyOtp({ email, token: mail.code!, type: 'email' });
    expect(error).toBeNull();
    expect(await confirmedAt()).not.toBeNull();
  });
});

describe('with sign-ups switched off', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_SIGNUPS: 'off', AUTH_ANONYMOUS: 'on' });
  });
  afterAll(() => world.close());

  test('a known user signs in by code, and an unknown address gets the same answer and no mail', async () => {
    const email = newAddress();
    await world.admin.query(
      `insert into auth.users (email, email_confirmed_at, created_at, updated_at) values ($1, now(), now(), now())`,
      [email],
    );
    const stranger = newAddress();
    for (const path of ['/otp', '/magiclink']) {
      for (const address of [stranger, email]) {
        const { status, body } = await world.request('POST', path, { body: { email: address } });
        expect([status, body]).toEqual([200, {}]);
      }
    }
    const mail = await world.waitForMail(email, 2);
    expect(world.mailbox.messagesTo(stranger)).toHaveLength(0);
    const { data } = await world.client().auth.verifyOtp({ email, token: mail.code!, type: 'email' });
    expect(data.user?.email).toBe(email);
  });

  test.each([
    [0, true],
    [60_000, false],
  ])('with an interval of %i ms, a mail that an overtaken request asks for is sent: %s', async (intervalMs, isSent) => {
    const service = world.database.asService('claim a mail');
    const { rows } = await world.admin.query('insert into auth.users (email) values ($1) returning id', [newAddress()]);
    const claim = { userId: rows[0].id, column: 'magiclink_sent_at', intervalMs } as const;
    const now = world.clock.now();
    expect(await claimMail(service, { ...claim, now })).toBe(true);
    expect(await claimMail(service, { ...claim, now: new Date(now.getTime() - 1) })).toBe(isSent);
  });

  test.each([
    { email: 'a@b.co', password: PASSWORD },
    { email: 'a@b.co' },
    { phone: '+15005550001', password: PASSWORD },
    {},
  ])('sign-up with %j is disabled', async (body) => {
    const response = await world.request('POST', '/signup', { body });
    expect([response.status, response.body]).toEqual([
      422,
      { code: 'signup_disabled', message: 'Signups not allowed for this instance' },
    ]);
  });
});

test('without a mail server magic links are disabled', async () => {
  const world = await startAuthWorld({ SMTP_URL: '' });
  try {
    for (const path of ['/otp', '/magiclink']) {
      const response = await world.request('POST', path, { body: { email: newAddress() } });
      expect([response.status, response.body]).toEqual([
        422,
        { code: 'email_provider_disabled', message: 'Login with magic link is disabled' },
      ]);
    }
  } finally {
    await world.close();
  }
});
