/** Sign-up and sign-in by phone: with a password, and with a texted code (docs/specification/api.md 26). */
import { describe, expect, test } from 'vitest';
import { PASSWORD, newNumber, setUpAuthWorld, type AuthWorld, type WireBody } from '../fixture.ts';
import { INVALID_NUMBER, UNSUBSCRIBED_NUMBER, WITH_PHONE, createPhoneClient, digits } from './phone-client.ts';

const world = setUpAuthWorld(...WITH_PHONE);
const { codeTo, post, verify, grant, findUser, signInByText } = createPhoneClient(world);

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
    const notice = await world.waitForText(taken, 2);
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
    const { text, code } = await world.waitForText(phone);
    expect(text).toBe(
      `Hustle Forge: ${code} is your code to sign in. It works for one minute. Never share it.\n\n@localhost #${code}`,
    );
    expect(text.length).toBeLessThanOrEqual(160);
  });

  test('without create_user answers alike for known and unknown numbers, and texts only the known', async () => {
    const { phone: known } = await signInByText();
    const unknown = newNumber();
    const requestCode = (phone: string) => post('/otp', { phone, create_user: false });
    const [ofUnknown, ofKnown] = [await requestCode(unknown), await requestCode(known)];
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
    await world.waitForText(phone, 2);
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

describe('the password grant', () => {
  test('answers alike for an unknown number, no password and a wrong password', async () => {
    const { phone: withoutPassword } = await signInByText();
    const numbers = [newNumber(), 'abc', withoutPassword];
    const answers = [...(await Promise.all(numbers.map((phone) => grant(phone)))), await grant(withoutPassword, '')];
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
    await world.waitForText(last);
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

test('the settings name the provider', async () => {
  const { body } = await world.request('GET', '/settings');
  expect(body).toMatchObject({ external: { phone: true }, sms_provider: 'twilio', phone_autoconfirm: false });
});
