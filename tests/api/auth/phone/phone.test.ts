/** Sign-in by phone (docs/specification/wire.md 26). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, newAddress, newNumber, startAuthWorld } from '../fixture.ts';
import type { AuthWorld, WireBody } from '../fixture.ts';

const HOUR = 3_600_000;
/** Twilio's own test numbers. */
const INVALID_NUMBER = '+15005550001';
const UNSUBSCRIBED_NUMBER = '+15005550004';

let world: AuthWorld;
beforeAll(async () => {
  world = await startAuthWorld({ SMS_COUNTRIES: '+49,+1', AUTH_ANONYMOUS: 'on' }, { sms: 'on' });
});
afterAll(() => world.close());

const digits = (phone: string): string => phone.slice(1);

const codeTo = async (phone: string, count = 1): Promise<string> => (await world.textTo(phone, count)).code!;
const otherCode = (code: string): string => (code === '000000' ? '111111' : '000000');

const post = (path: string, body: unknown) => world.request('POST', path, { body });
const verify = (phone: string, token: string, type = 'sms') => post('/verify', { type, phone, token });
const grant = (phone: string, password = PASSWORD) => post('/token?grant_type=password', { phone, password });
const findUser = async (phone: string): Promise<WireBody> =>
  (await world.admin.query('select * from auth.users where phone = $1', [digits(phone)])).rows[0];

/** A new account that a texted code has confirmed. */
async function signInByText(
  phone = newNumber(),
): Promise<{ phone: string; id: string; access: string; refresh: string }> {
  expect((await post('/otp', { phone })).status).toBe(200);
  const { status, body } = await verify(phone, await codeTo(phone));
  expect(status, JSON.stringify(body)).toBe(200);
  return { phone, id: body.user.id, access: body.access_token, refresh: body.refresh_token };
}

describe('sign-up with a number and a password', () => {
  test('waits for the texted code, also with autoconfirm', async () => {
    const phone = newNumber();
    const client = world.client();
    const { data, error } = await client.auth.signUp({ phone, password: PASSWORD, options: { data: { name: 'Ada' } } });
    expect(error).toBeNull();
    expect(data.session).toBeNull();
    expect(data.user).toMatchObject({
      phone: digits(phone),
      email: '',
      app_metadata: { provider: 'phone', providers: ['phone'] },
      user_metadata: { name: 'Ada', phone: digits(phone), phone_verified: false, email_verified: false },
      identities: [{ provider: 'phone', identity_data: { phone: digits(phone) } }],
    });
    const early = await grant(phone);
    expect([early.status, early.body]).toEqual([400, { code: 'phone_not_confirmed', message: 'Phone not confirmed' }]);

    const verified = await client.auth.verifyOtp({ phone, token: await codeTo(phone), type: 'sms' });
    expect(verified.error).toBeNull();
    expect(verified.data.user).toMatchObject({
      id: data.user!.id,
      phone: digits(phone),
      phone_confirmed_at: expect.any(String),
      confirmed_at: expect.any(String),
      user_metadata: { name: 'Ada', phone_verified: true },
      identities: [{ identity_id: data.user!.identities![0]!.identity_id, identity_data: { phone_verified: true } }],
    });
    const claims = JSON.parse(
      atob(verified.data.session!.access_token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')),
    );
    expect(claims).toMatchObject({ phone: digits(phone), email: '', aal: 'aal1', amr: [{ method: 'otp' }] });
    const signIn = await world.client().auth.signInWithPassword({ phone, password: PASSWORD });
    expect(signIn.data.user?.id).toBe(data.user!.id);
  });

  test('answers alike for a new, an unconfirmed and a taken number, and tells only the owner', async () => {
    const { phone: taken, id } = await signInByText();
    const [fresh, unconfirmed] = [newNumber(), newNumber()];
    await post('/signup', { phone: unconfirmed, password: PASSWORD });
    const answers = await Promise.all(
      [fresh, unconfirmed, taken].map((phone) => post('/signup', { phone, password: 'another pass', data: { a: 1 } })),
    );
    const anonymize = (body: WireBody, phone: string) =>
      JSON.stringify(body)
        .replaceAll(digits(phone), 'PHONE')
        .replaceAll(/[0-9a-f-]{36}/g, 'ID')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
    const bodies = [fresh, unconfirmed, taken].map((phone, index) => anonymize(answers[index]!.body, phone));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(bodies).size).toBe(1);
    const again = await post('/signup', { phone: taken, password: PASSWORD });
    expect(again.body.id).toBe(answers[2]!.body.id);
    expect(again.body.id).not.toBe(id);
    const notice = await world.textTo(taken, 2);
    expect(notice.text).toContain('already has an account');
    expect(notice.code).toBeNull();
    expect((await grant(taken, 'another pass')).body.code).toBe('invalid_credentials');
  });

  test('drops the password of an unconfirmed account when another one is tried', async () => {
    const phone = newNumber();
    await post('/signup', { phone, password: 'a stranger chose this' });
    await post('/signup', { phone, password: PASSWORD });
    await verify(phone, await codeTo(phone, 2));
    expect((await grant(phone, 'a stranger chose this')).body.code).toBe('invalid_credentials');
  });

  test('leaves no account behind if the text cannot be sent', async () => {
    const { status, body } = await post('/signup', { phone: INVALID_NUMBER, password: PASSWORD });
    expect([status, body]).toEqual([
      422,
      { code: 'sms_send_failed', message: 'Error sending sms: this number cannot receive texts' },
    ]);
    expect(await findUser(INVALID_NUMBER)).toBeUndefined();
  });

  test.each([
    ['no password', {}, 400, 'validation_failed', 'Signup requires a valid password'],
    ['a weak password', { password: '12345' }, 422, 'weak_password', 'Password should be at least 6 characters.'],
    [
      'a bad number',
      { password: PASSWORD, phone: '+49 abc' },
      400,
      'validation_failed',
      'Invalid phone number format (E.164 required)',
    ],
    [
      'an unknown channel',
      { password: PASSWORD, channel: 'whatsapp' },
      400,
      'validation_failed',
      "Invalid channel, supported values are 'sms'",
    ],
    [
      'a country without texts',
      { password: PASSWORD, phone: '+447700900000' },
      422,
      'sms_send_failed',
      'Error sending sms: texts to this country are not possible',
    ],
  ])('rejects %s', async (_, fields, status, code, message) => {
    const response = await post('/signup', { phone: newNumber(), ...fields });
    expect([response.status, response.body]).toMatchObject([status, { code, message }]);
  });
});

describe('POST /otp', () => {
  test('creates an account for a new number and signs in to an existing one', async () => {
    const phone = newNumber();
    const client = world.client();
    const asked = await client.auth.signInWithOtp({ phone, options: { data: { name: 'Ada' } } });
    expect(asked).toMatchObject({ error: null, data: { user: null, session: null } });
    const first = await client.auth.verifyOtp({ phone, token: await codeTo(phone), type: 'sms' });
    expect(first.data.user).toMatchObject({ phone: digits(phone), user_metadata: { name: 'Ada' } });

    const spaced = `${phone.slice(0, 3)} ${phone.slice(3)}`;
    await client.auth.signInWithOtp({ phone: spaced });
    const second = await client.auth.verifyOtp({ phone: spaced, token: await codeTo(phone, 2), type: 'sms' });
    expect(second.data.user?.id).toBe(first.data.user!.id);
    expect(second.data.session?.access_token).not.toBe(first.data.session!.access_token);
  });

  test('texts the code in a form that phones bind to the host', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const { text, code } = await world.textTo(phone);
    expect(text).toBe(
      `Hustle Forge: ${code} is your code to sign in. It works for one minute. Never share it.\n\n@localhost #${code}`,
    );
    expect(text.length).toBeLessThanOrEqual(160);
  });

  test('without create_user answers alike for known and unknown numbers, and texts only the known', async () => {
    const { phone: known } = await signInByText();
    const unknown = newNumber();
    const ask = (phone: string) => post('/otp', { phone, create_user: false });
    const [ofUnknown, ofKnown] = [await ask(unknown), await ask(known)];
    expect([ofUnknown.status, ofUnknown.body]).toEqual([200, {}]);
    expect([ofKnown.status, ofKnown.body]).toEqual([200, {}]);
    expect((await verify(known, await codeTo(known, 2))).status).toBe(200);
    expect(world.sms!.control.messages(unknown)).toEqual([]);
    expect(await findUser(unknown)).toBeUndefined();
  });

  test('does not report a failed text without create_user', async () => {
    const answer = await post('/otp', { phone: UNSUBSCRIBED_NUMBER, create_user: false });
    expect([answer.status, answer.body]).toEqual([200, {}]);
  });

  test('waits for no answer of the provider without create_user', async () => {
    const { phone } = await signInByText();
    world.sms!.control.fail({ hold: true });
    expect((await post('/otp', { phone, create_user: false })).status).toBe(200);
    await world.sms!.control.whenHeld();
    world.sms!.control.release();
    await world.textTo(phone, 2);
  });

  test.each<[string, Parameters<NonNullable<AuthWorld['sms']>['control']['fail']>[0], string]>([
    ['an overloaded provider', { code: 20429 }, 'please try again later'],
    ['wrong credentials', { code: 20003 }, 'please try again later'],
    ['an unreachable provider', { drop: 'before' }, 'please try again later'],
    ['a landline', { code: 21614 }, 'this number cannot receive texts'],
    ['an unsubscribed number', { code: 21610 }, 'this number has unsubscribed from our texts'],
    ['a region that the provider blocks', { code: 21408 }, 'texts to this country are not possible'],
  ])('reports %s as sms_send_failed and leaves no account', async (_, fault, detail) => {
    const phone = newNumber();
    world.sms!.control.fail(fault);
    const { status, body } = await post('/otp', { phone });
    expect([status, body]).toEqual([422, { code: 'sms_send_failed', message: `Error sending sms: ${detail}` }]);
    expect(await findUser(phone)).toBeUndefined();
  });

  test('keeps a confirmed account if the text cannot be sent', async () => {
    const { phone, id } = await signInByText();
    world.sms!.control.fail({ status: 500 });
    expect((await post('/otp', { phone })).body.code).toBe('sms_send_failed');
    expect((await findUser(phone)).id).toBe(id);
  });

  test('keeps the password of a confirmed account', async () => {
    const { phone, access } = await signInByText();
    await world.request('PUT', '/user', { token: access, body: { password: PASSWORD } });
    await post('/otp', { phone });
    await post('/signup', { phone, password: 'another pass' });
    expect((await grant(phone)).status).toBe(200);
  });

  test('removes the password that a stranger chose for an unconfirmed number', async () => {
    const phone = newNumber();
    await post('/signup', { phone, password: 'a stranger chose this' });
    await post('/otp', { phone });
    expect((await verify(phone, await codeTo(phone, 2))).status).toBe(200);
    expect((await grant(phone, 'a stranger chose this')).body.code).toBe('invalid_credentials');
  });

  test.each([
    [{}, 400, 'validation_failed', 'One of email or phone must be set'],
    [
      { phone: '+4915112345678', email: 'a@b.co' },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided',
    ],
    [{ email: 'a@b.co', channel: 'sms' }, 400, 'validation_failed', 'Channel should only be specified with Phone OTP'],
    [
      { phone: '+4915112345678', channel: 'fax' },
      400,
      'validation_failed',
      "Invalid channel, supported values are 'sms'",
    ],
    [{ phone: '12' }, 400, 'validation_failed', 'Invalid phone number format (E.164 required)'],
    [
      { phone: '+4915112345678', create_user: 'no' },
      400,
      'bad_json',
      'Could not parse request body as JSON: create_user must be a boolean',
    ],
    [{ phone: '+33612345678' }, 422, 'sms_send_failed', 'Error sending sms: texts to this country are not possible'],
  ])('rejects %j', async (body, status, code, message) => {
    const response = await post('/otp', body);
    expect([response.status, response.body]).toEqual([status, { code, message }]);
  });

  test('answers errors in the old format to old clients', async () => {
    const headers = { 'X-Supabase-Api-Version': '' };
    const { status, body } = await world.request('POST', '/otp', { body: { phone: '12' }, headers });
    const msg = 'Invalid phone number format (E.164 required)';
    expect([status, body]).toEqual([400, { code: 400, error_code: 'validation_failed', msg }]);
  });
});

describe('POST /verify', () => {
  test('accepts a code once and for one minute', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const code = await codeTo(phone);
    world.clock.advance(59_000);
    expect((await verify(phone, code)).status).toBe(200);
    expect((await verify(phone, code)).body).toEqual({
      code: 'otp_expired',
      message: 'Token has expired or is invalid',
    });
    await post('/otp', { phone });
    const late = await codeTo(phone, 2);
    world.clock.advance(60_000);
    expect([(await verify(phone, late)).status, (await verify(phone, late)).body.code]).toEqual([403, 'otp_expired']);
  });

  test('accepts only the newest code', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const first = await codeTo(phone);
    await post('/otp', { phone });
    const second = await codeTo(phone, 2);
    if (first !== second) expect((await verify(phone, first)).status).toBe(403);
    expect((await verify(phone, second)).status).toBe(200);
  });

  test('invalidates a code after five wrong guesses', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const code = await codeTo(phone);
    const guesses = await Promise.all(Array.from({ length: 5 }, () => verify(phone, otherCode(code))));
    expect(guesses.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect((await verify(phone, code)).status).toBe(403);
  });

  test('accepts no more than fifteen wrong guesses in a day, whatever the number of codes', async () => {
    const phone = newNumber();
    for (let round = 1; round <= 3; round += 1) {
      await post('/otp', { phone });
      const code = await codeTo(phone, round);
      for (let guess = 0; guess < 5; guess += 1) await verify(phone, otherCode(code));
    }
    await post('/otp', { phone });
    expect((await verify(phone, await codeTo(phone, 4))).status).toBe(403);
    world.clock.advance(25 * HOUR);
    await post('/otp', { phone });
    expect((await verify(phone, await codeTo(phone, 5))).status).toBe(200);
  });

  test('gives one of two concurrent requests a session', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const code = await codeTo(phone);
    const answers = await Promise.all([verify(phone, code), verify(phone, code)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
  });

  test('takes the code of one number for no other number and no other type', async () => {
    const [one, other] = [newNumber(), newNumber()];
    await post('/otp', { phone: one });
    await post('/otp', { phone: other });
    const code = await codeTo(one);
    if (code !== (await codeTo(other))) expect((await verify(other, code)).status).toBe(403);
    expect((await verify(one, code, 'phone_change')).status).toBe(403);
    expect((await verify(one, code)).status).toBe(200);
  });

  test('rejects the code of a number that the account no longer has', async () => {
    const { phone, id } = await signInByText();
    await post('/otp', { phone });
    await world.admin.query('update auth.users set phone = $2 where id = $1', [id, digits(newNumber())]);
    expect((await verify(phone, await codeTo(phone, 2))).status).toBe(403);
  });

  test('rejects a banned user', async () => {
    const { phone, id } = await signInByText();
    await post('/otp', { phone });
    await world.admin.query(`update auth.users set banned_until = now() + interval '1 year' where id = $1`, [id]);
    const { status, body } = await verify(phone, await codeTo(phone, 2));
    expect([status, body]).toEqual([403, { code: 'user_banned', message: 'User is banned' }]);
  });

  test('stores the code as a keyed hash', async () => {
    const { phone, id } = await signInByText();
    await post('/otp', { phone });
    await codeTo(phone, 2);
    const { rows } = await world.admin.query('select * from auth.one_time_tokens where user_id = $1', [id]);
    expect(rows).toMatchObject([{ purpose: 'sms', address: digits(phone), link_hash: null }]);
    expect(rows[0].code_hash).toHaveLength(32);
  });

  test('records the sign-up and each sign-in', async () => {
    const { id } = await signInByText();
    const { rows } = await world.admin.query(
      'select event, details from auth.audit_log where user_id = $1 order by id',
      [id],
    );
    expect(rows).toEqual([
      { event: 'signed_up', details: { provider: 'phone' } },
      { event: 'signed_in', details: { method: 'otp' } },
    ]);
  });

  test.each([
    [
      { type: 'sms', phone: '+49', token: '123456' },
      400,
      'validation_failed',
      'Invalid phone number format (E.164 required)',
    ],
    [
      { type: 'signup', phone: '+4915112345678', token: '1' },
      400,
      'validation_failed',
      'Unsupported verification type',
    ],
    [{ type: 'sms', email: 'a@b.co', token: '1' }, 400, 'validation_failed', 'Invalid email verification type'],
    [
      { type: 'sms', phone: '+4915112345678' },
      400,
      'validation_failed',
      'Verify requires either a token or a token hash',
    ],
    [
      { type: 'sms', phone: '+4915112345678', email: 'a@b.co', token: '1' },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided on verify',
    ],
    [{ type: 'sms', phone: '+4915199999999', token: '123456' }, 403, 'otp_expired', 'Token has expired or is invalid'],
    [
      { type: 'sms', phone: '+4915199999999', token: "' or 1=1" },
      403,
      'otp_expired',
      'Token has expired or is invalid',
    ],
  ])('rejects %j', async (body, status, code, message) => {
    const response = await post('/verify', body);
    expect([response.status, response.body]).toEqual([status, { code, message }]);
  });
});

describe('the password grant', () => {
  test('answers alike for an unknown number, no password and a wrong password', async () => {
    const { phone: withoutPassword } = await signInByText();
    const answers = [await grant(newNumber()), await grant(withoutPassword), await grant(withoutPassword, '')];
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([400, { code: 'invalid_credentials', message: 'Invalid login credentials' }]);
    }
  });

  test('makes the browser a known device', async () => {
    const { phone, access } = await signInByText();
    await world.request('PUT', '/user', { token: access, body: { password: PASSWORD } });
    const { status, headers, body } = await grant(phone);
    expect([status, body.user.phone]).toEqual([200, digits(phone)]);
    expect(headers.get('set-cookie')).toMatch(/^hustle-forge-device=/);
    expect(body.user.identities[0].last_sign_in_at).toBe(body.user.last_sign_in_at);
  });

  test.each([
    [{ password: PASSWORD }, 'missing email or phone'],
    [
      { phone: '+4915112345678', email: 'a@b.co' },
      'Only an email address or phone number should be provided on login.',
    ],
    [{ phone: 'x', password: PASSWORD }, 'Invalid phone number format (E.164 required)'],
  ])('rejects %j', async (body, message) => {
    const response = await post('/token?grant_type=password', body);
    expect([response.status, response.body]).toEqual([400, { code: 'validation_failed', message }]);
  });
});

describe('POST /resend', () => {
  test('texts the code of an unconfirmed sign-up again', async () => {
    const phone = newNumber();
    const client = world.client();
    await client.auth.signUp({ phone, password: PASSWORD });
    const { error } = await client.auth.resend({ type: 'sms', phone });
    expect(error).toBeNull();
    expect((await verify(phone, await codeTo(phone, 2))).status).toBe(200);
    expect((await grant(phone)).status).toBe(200);
  });

  test('answers alike and texts nothing for an unknown or a confirmed number', async () => {
    const { phone: confirmed } = await signInByText();
    const [unknown, last] = [newNumber(), newNumber()];
    for (const phone of [unknown, confirmed]) {
      for (const type of ['sms', 'phone_change']) {
        const { status, body } = await post('/resend', { type, phone });
        expect([status, body]).toEqual([200, {}]);
      }
    }
    await post('/otp', { phone: last });
    await world.textTo(last);
    expect(world.sms!.control.messages(unknown)).toHaveLength(0);
    expect(world.sms!.control.messages(confirmed)).toHaveLength(1);
  });

  test.each([
    [{ type: 'sms' }, 'Missing email address or phone number'],
    [{ type: 'phone_change', email: 'a@b.co' }, 'Type provided requires a phone number'],
    [{ type: 'signup', phone: '+4915112345678' }, 'Type provided requires an email address'],
    [{ type: 'sms', phone: '1' }, 'Invalid phone number format (E.164 required)'],
  ])('rejects %j', async (body, message) => {
    const response = await post('/resend', body);
    expect([response.status, response.body]).toEqual([400, { code: 'validation_failed', message }]);
  });
});

describe('PUT /user with a number', () => {
  const change = (token: string, body: unknown) => world.request('PUT', '/user', { token, body });

  test('adds a number to an account with an address, once its code is entered', async () => {
    const { email, id, access } = await world.signUpUser();
    const phone = newNumber();
    const { status, body } = await change(access, { phone });
    expect([status, body.phone, body.new_phone]).toEqual([200, '', digits(phone)]);
    expect(body.phone_change_sent_at).toEqual(expect.any(String));
    expect((await world.textTo(phone)).text).toContain('Use it only if that was you.');

    const client = world.client();
    const verified = await client.auth.verifyOtp({ phone, token: await codeTo(phone), type: 'phone_change' });
    expect(verified.error).toBeNull();
    expect(verified.data.user).toMatchObject({
      id,
      email,
      phone: digits(phone),
      app_metadata: { provider: 'email', providers: ['email', 'phone'] },
      user_metadata: { email, email_verified: true, phone: digits(phone), phone_verified: true },
    });
    expect(verified.data.user).not.toHaveProperty('new_phone');
    expect(verified.data.user!.identities!.map(({ provider }) => provider)).toEqual(['email', 'phone']);
    expect((await world.mailTo(email)).subject).toBe('Your phone number was changed');
    expect((await grant(phone)).body.user.id).toBe(id);
    const { rows } = await world.admin.query(
      `select event from auth.audit_log where user_id = $1 and event like 'phone%'`,
      [id],
    );
    expect(rows).toEqual([{ event: 'phone_changed' }]);
  });

  test('the owner removes the number again on a server without providers', async () => {
    const { id, access } = await world.signUpUser();
    const phone = newNumber();
    await change(access, { phone });
    await verify(phone, await codeTo(phone), 'phone_change');
    const { body } = await world.request('GET', '/user', { token: access });
    const identity = body.identities.find(({ provider }: { provider: string }) => provider === 'phone');
    const removed = await world.request('DELETE', `/user/identities/${identity.identity_id}`, { token: access });
    expect(removed.status).toBe(200);
    const { rows } = await world.admin.query('select phone, phone_confirmed_at from auth.users where id = $1', [id]);
    expect(rows).toEqual([{ phone: null, phone_confirmed_at: null }]);
    await post('/otp', { phone, create_user: false });
    expect((await verify(phone, '000000')).status).toBe(403);
    expect(world.sms!.control.messages(phone)).toHaveLength(1);
  });

  test('replaces the number and notifies the old one', async () => {
    const { phone: old, id, access } = await signInByText();
    const phone = newNumber();
    await change(access, { phone });
    expect((await verify(phone, await codeTo(phone), 'phone_change')).body.user).toMatchObject({
      id,
      phone: digits(phone),
    });
    expect((await world.textTo(old, 2)).text).toContain('now uses another phone number');
    expect((await post('/otp', { phone: old, create_user: false })).status).toBe(200);
    expect(await findUser(old)).toBeUndefined();
  });

  test('answers a taken number like a free one, and tells only the person who holds it', async () => {
    const { phone: taken } = await signInByText();
    const { access } = await world.signUpUser();
    const [free, ofTaken] = [await change(access, { phone: newNumber() }), await change(access, { phone: taken })];
    expect(ofTaken.status).toBe(free.status);
    expect(Object.keys(ofTaken.body)).toEqual(Object.keys(free.body));
    expect((await verify(taken, otherCode(await codeTo(taken, 2)), 'phone_change')).body.code).toBe('otp_expired');
    const { status, body } = await verify(taken, await codeTo(taken, 2), 'phone_change');
    expect([status, body]).toEqual([
      422,
      { code: 'phone_exists', message: 'A user with this phone number has already been registered' },
    ]);
  });

  test('takes a number from a sign-up that nobody confirmed', async () => {
    const phone = newNumber();
    await post('/signup', { phone, password: 'a stranger chose this' });
    const squatter = (await findUser(phone)).id;
    const { id, access } = await world.signUpUser();
    await change(access, { phone });
    expect((await verify(phone, await codeTo(phone, 2), 'phone_change')).body.user.id).toBe(id);
    const { rows } = await world.admin.query('select 1 from auth.users where id = $1', [squatter]);
    expect(rows).toEqual([]);
  });

  test('gives the number to one of two accounts that confirm it at the same time', async () => {
    const phone = newNumber();
    const [one, other] = [await world.signUpUser(), await world.signUpUser()];
    await change(one.access, { phone });
    const first = await codeTo(phone);
    await change(other.access, { phone });
    const second = await codeTo(phone, 2);
    const answers = await Promise.all([verify(phone, first, 'phone_change'), verify(phone, second, 'phone_change')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });

  test('makes an anonymous user a permanent one', async () => {
    const client = world.client();
    const anonymous = await client.auth.signInAnonymously();
    expect(anonymous.error).toBeNull();
    const phone = newNumber();
    expect((await client.auth.updateUser({ phone, password: PASSWORD })).error).toBeNull();
    expect((await grant(phone)).body.code).toBe('invalid_credentials');
    const { data } = await client.auth.verifyOtp({ phone, token: await codeTo(phone), type: 'phone_change' });
    expect(data.user).toMatchObject({
      id: anonymous.data.user!.id,
      is_anonymous: false,
      app_metadata: { provider: 'phone', providers: ['phone'] },
      identities: [{ provider: 'phone' }],
    });
    expect((await grant(phone)).status).toBe(200);
  });

  test('confirms the current number of an account that never confirmed it', async () => {
    const { id, access } = await world.signUpUser();
    const phone = newNumber();
    await world.admin.query('update auth.users set phone = $2 where id = $1', [id, digits(phone)]);
    await change(access, { phone });
    const { body } = await verify(phone, await codeTo(phone), 'phone_change');
    expect(body.user).toMatchObject({ id, phone: digits(phone), phone_confirmed_at: expect.any(String) });
  });

  test('changes nothing for the current number and texts nothing', async () => {
    const { phone, access } = await signInByText();
    const { status, body } = await change(access, { phone });
    expect([status, body.new_phone]).toEqual([200, undefined]);
    expect(world.sms!.control.messages(phone)).toHaveLength(1);
  });

  test('drops the pending change if the text cannot be sent', async () => {
    const { access } = await world.signUpUser();
    expect((await change(access, { phone: INVALID_NUMBER })).body.code).toBe('sms_send_failed');
    expect((await world.request('GET', '/user', { token: access })).body).not.toHaveProperty('new_phone');
  });

  test('a changed password ends the pending change', async () => {
    const { access } = await world.signUpUser();
    const phone = newNumber();
    await change(access, { phone });
    const { body } = await change(access, { password: 'quite another' });
    expect(body).not.toHaveProperty('new_phone');
    expect((await verify(phone, await codeTo(phone), 'phone_change')).status).toBe(403);
  });

  test('a code for one number confirms no other', async () => {
    const { access } = await world.signUpUser();
    const [first, second] = [newNumber(), newNumber()];
    await change(access, { phone: first });
    const code = await codeTo(first);
    await change(access, { phone: second });
    expect((await verify(first, code, 'phone_change')).status).toBe(403);
  });

  test('resends the code to the pending number, named by itself or by the current number', async () => {
    const { phone: current, access } = await signInByText();
    const phone = newNumber();
    await change(access, { phone });
    await post('/resend', { type: 'phone_change', phone });
    await world.textTo(phone, 2);
    await post('/resend', { type: 'phone_change', phone: current });
    expect((await verify(phone, await codeTo(phone, 3), 'phone_change')).status).toBe(200);
  });

  test('resends nothing while two accounts wait for the same number', async () => {
    const phone = newNumber();
    const [one, other] = [await world.signUpUser(), await world.signUpUser()];
    await change(one.access, { phone });
    await change(other.access, { phone });
    await world.textTo(phone, 2);
    await post('/resend', { type: 'phone_change', phone });
    await post('/otp', { phone });
    expect((await world.textTo(phone, 3)).text).toContain('your code to sign in');
    const texts = world.sms!.control.messages(phone).map(({ text }) => text);
    expect(texts.filter((text) => text.includes('adds this number'))).toHaveLength(2);
  });

  test.each([
    [{ phone: '123' }, 400, 'validation_failed'],
    [{ phone: '+4915112345678', channel: 'whatsapp' }, 400, 'validation_failed'],
    [{ phone: '+447700900000' }, 422, 'sms_send_failed'],
  ])('rejects %j', async (body, status, code) => {
    const { access } = await world.signUpUser();
    const response = await change(access, body);
    expect([response.status, response.body.code]).toEqual([status, code]);
  });
});

describe('reauthentication', () => {
  test('goes by text to a user without an address', async () => {
    const { phone, refresh } = await signInByText();
    world.clock.advance(24 * HOUR);
    const renewed = await post('/token?grant_type=refresh_token', { refresh_token: refresh });
    const token = renewed.body.access_token as string;
    const change = (body: unknown) => world.request('PUT', '/user', { token, body });
    expect((await change({ phone: newNumber() })).body).toEqual({
      code: 'reauthentication_needed',
      message: 'Phone update requires reauthentication',
    });
    const asked = await world.request('GET', '/reauthenticate', { token });
    expect([asked.status, asked.body]).toEqual([200, {}]);
    const nonce = await codeTo(phone, 2);
    expect((await verify(phone, nonce)).status).toBe(403);
    expect((await change({ password: PASSWORD, nonce: otherCode(nonce) })).body.code).toBe(
      'reauthentication_not_valid',
    );
    expect((await change({ password: PASSWORD, nonce })).status).toBe(200);
    expect((await grant(phone)).status).toBe(200);
  });

  test('goes by mail to a user with an address and a number', async () => {
    const { email, access } = await world.signUpUser();
    const phone = newNumber();
    await world.request('PUT', '/user', { token: access, body: { phone } });
    const { body } = await verify(phone, await codeTo(phone), 'phone_change');
    await world.request('GET', '/reauthenticate', { token: body.access_token });
    await world.mailWith('Your confirmation code', email);
    expect(world.sms!.control.messages(phone)).toHaveLength(1);
  });
});

test('the settings name the provider', async () => {
  const { body } = await world.request('GET', '/settings');
  expect(body).toMatchObject({ external: { phone: true }, sms_provider: 'twilio', phone_autoconfirm: false });
});

test('an account with an address is not found by an unconfirmed change', async () => {
  const { access } = await world.signUpUser(newAddress());
  const phone = newNumber();
  await world.request('PUT', '/user', { token: access, body: { phone } });
  await codeTo(phone);
  expect((await grant(phone)).body.code).toBe('invalid_credentials');
});

describe('without sign-ups', () => {
  let closed: AuthWorld;
  beforeAll(async () => {
    closed = await startAuthWorld({ AUTH_SIGNUPS: 'off' }, { sms: 'on' });
  });
  afterAll(() => closed.close());

  test('a new number gets no account and no text', async () => {
    const phone = newNumber();
    const signup = await closed.request('POST', '/signup', { body: { phone, password: PASSWORD } });
    expect([signup.status, signup.body.code]).toEqual([422, 'signup_disabled']);
    const asked = await closed.request('POST', '/otp', { body: { phone } });
    expect([asked.status, asked.body]).toEqual([200, {}]);
    // Requests a text for a known number afterwards. Once it has arrived, no earlier text can still be on its way.
    const known = newNumber();
    await closed.admin.query('insert into auth.users (phone, phone_confirmed_at) values ($1, now())', [digits(known)]);
    await closed.request('POST', '/otp', { body: { phone: known } });
    await expect.poll(() => closed.sms!.control.messages(known)).toHaveLength(1);
    expect(closed.sms!.control.messages(phone)).toEqual([]);
  });
});

describe('without a provider', () => {
  let without: AuthWorld;
  beforeAll(async () => {
    without = await startAuthWorld();
  });
  afterAll(() => without.close());

  test.each([
    ['POST', '/signup', { phone: '+4915112345678', password: PASSWORD }, 400, 'phone_provider_disabled'],
    ['POST', '/otp', { phone: '+4915112345678' }, 400, 'phone_provider_disabled'],
    [
      'POST',
      '/token?grant_type=password',
      { phone: '+4915112345678', password: PASSWORD },
      422,
      'phone_provider_disabled',
    ],
    ['POST', '/verify', { type: 'sms', phone: '+4915112345678', token: '123456' }, 403, 'otp_expired'],
    ['POST', '/resend', { type: 'sms', phone: '+4915112345678' }, 400, 'phone_provider_disabled'],
    ['POST', '/resend', { type: 'phone_change', phone: '+4915112345678' }, 400, 'phone_provider_disabled'],
  ])('%s %s with %j is disabled', async (method, path, body, status, code) => {
    const response = await without.request(method, path, { body });
    expect([response.status, response.body.code]).toEqual([status, code]);
  });
});
