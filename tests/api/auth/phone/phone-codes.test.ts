/** Which texted codes are accepted, and the reauthentication by text (docs/specification/wire.md 26). */
import { describe, expect, test } from 'vitest';
import { PASSWORD, newNumber, setUpAuthWorld } from '../fixture.ts';
import { HOUR, WITH_PHONE, createPhoneClient, digits, otherCode } from './phone-client.ts';

const world = setUpAuthWorld(...WITH_PHONE);
const { codeTo, post, verify, grant, signInByText } = createPhoneClient(world);

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
