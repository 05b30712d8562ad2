/**
 * Texted codes: which are accepted, the reauthentication by text, and a number that is added to an account, changed or
 * removed (docs/specification/api.md 26).
 */
import { describe, expect, test } from 'vitest';
import { blockRequest, endSessionsOf } from '../block-request.ts';
import { PASSWORD, newAddress, newNumber, setUpAuthWorld } from '../fixture.ts';
import { HOUR, INVALID_NUMBER, WITH_PHONE, createPhoneClient, digits, otherCode } from './phone-client.ts';

const world = setUpAuthWorld(...WITH_PHONE);
const { codeTo, post, verify, grant, findUser, signInByText } = createPhoneClient(world);

describe('POST /verify', () => {
  test('accepts a code once and for one minute', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const code = await codeTo(phone);
    world.clock.advance(50_000);
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
    const listEvents = async () =>
      (await world.admin.query('select event, details from auth.audit_log where user_id = $1 order by event', [id]))
        .rows;
    // The server records a sign-up after its answer.
    await expect.poll(listEvents).toEqual([
      { event: 'signed_in', details: { method: 'otp' } },
      { event: 'signed_up', details: { provider: 'phone' } },
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
      { type: 'sms', phone: 'abc', token: '1' },
      400,
      'validation_failed',
      'Invalid phone number format (E.164 required)',
    ],
    [{ type: 'signup', phone: '+4915112345678', token: '1' }, 403, 'otp_expired', 'Token has expired or is invalid'],
    [{ type: 'magic', phone: '+4915112345678', token: '1' }, 403, 'otp_expired', 'Token has expired or is invalid'],
    [{ type: 'sms', email: 'a@b.co', token: '1' }, 403, 'otp_expired', 'Token has expired or is invalid'],
    [{ type: 'magic', email: 'a@b.co', token: '1' }, 403, 'otp_expired', 'Token has expired or is invalid'],
    [{ type: 'magic', email: 'a b', token: '1' }, 422, 'validation_failed', 'Invalid email format'],
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
    await world.waitForMailWith('Your confirmation code', email);
    expect(world.sms!.control.messages(phone)).toHaveLength(1);
  });
});

describe('PUT /user with a number', () => {
  const change = (token: string, body: unknown) => world.request('PUT', '/user', { token, body });

  test('is refused when the session ends while the request waits', async () => {
    const { id, access } = await world.signUpUser();
    const phone = newNumber();
    const { body } = await blockRequest(world.admin, id, () => change(access, { phone }), endSessionsOf(id));
    expect(body.code).toBe('session_not_found');
    const { rows } = await world.admin.query('select new_phone from auth.users where id = $1', [id]);
    expect(rows).toEqual([{ new_phone: null }]);
  });

  test('adds a number to an account with an address, once its code is entered', async () => {
    const { email, id, access } = await world.signUpUser();
    const phone = newNumber();
    const { status, body } = await change(access, { phone });
    expect([status, body.phone, body.new_phone]).toEqual([200, '', digits(phone)]);
    expect(body.phone_change_sent_at).toEqual(expect.any(String));
    expect((await world.waitForText(phone)).text).toContain('Use it only if that was you.');

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
    expect((await world.waitForMail(email)).subject).toBe('Your phone number was changed');
    expect((await grant(phone)).body.user.id).toBe(id);
    const { rows } = await world.admin.query(
      `select event from auth.audit_log where user_id = $1 and event like 'phone%'`,
      [id],
    );
    expect(rows).toEqual([{ event: 'phone_changed' }]);
  });

  test('a removal of the number is refused when the session ends while it waits', async () => {
    const { id, access } = await world.signUpUser();
    const phone = newNumber();
    await change(access, { phone });
    await verify(phone, await codeTo(phone), 'phone_change');
    const user = await world.request('GET', '/user', { token: access });
    const identity = user.body.identities.find(({ provider }: { provider: string }) => provider === 'phone');
    const removal = () => world.request('DELETE', `/user/identities/${identity.identity_id}`, { token: access });
    const { body } = await blockRequest(world.admin, id, removal, endSessionsOf(id));
    expect(body.code).toBe('session_not_found');
    expect(await findUser(phone)).toMatchObject({ id });
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
    expect((await world.waitForText(old, 2)).text).toContain('now uses another phone number');
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
    await world.waitForText(phone, 2);
    await post('/resend', { type: 'phone_change', phone: current });
    expect((await verify(phone, await codeTo(phone, 3), 'phone_change')).status).toBe(200);
  });

  test('resends nothing while two accounts wait for the same number', async () => {
    const phone = newNumber();
    const [one, other] = [await world.signUpUser(), await world.signUpUser()];
    await change(one.access, { phone });
    await change(other.access, { phone });
    await world.waitForText(phone, 2);
    await post('/resend', { type: 'phone_change', phone });
    await post('/otp', { phone });
    expect((await world.waitForText(phone, 3)).text).toContain('your code to sign in');
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

test('an account with an address is not found by an unconfirmed change', async () => {
  const { access } = await world.signUpUser(newAddress());
  const phone = newNumber();
  await world.request('PUT', '/user', { token: access, body: { phone } });
  await codeTo(phone);
  expect((await grant(phone)).body.code).toBe('invalid_credentials');
});
