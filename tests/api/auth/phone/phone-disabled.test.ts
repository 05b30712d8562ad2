/** Sign-in by phone without sign-ups, and without a provider of text messages (docs/specification/api.md 26). */
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, newNumber } from '../fixture.ts';
import { digits } from './phone-client.ts';

describe('without sign-ups', () => {
  const closed = setUpAuthWorld({ AUTH_SIGNUPS: 'off' }, { sms: 'on' });

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
  const without = setUpAuthWorld();

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
    ['POST', '/verify', { type: 'sms', phone: 'abc', token: '123456' }, 400, 'validation_failed'],
    ['POST', '/resend', { type: 'sms', phone: '+4915112345678' }, 400, 'phone_provider_disabled'],
    ['POST', '/resend', { type: 'phone_change', phone: '+4915112345678' }, 400, 'phone_provider_disabled'],
  ])('%s %s with %j is disabled', async (method, path, body, status, code) => {
    const response = await without.request(method, path, { body });
    expect([response.status, response.body.code]).toEqual([status, code]);
  });

  test('a malformed number of a user is refused before the missing provider', async () => {
    const { access: token } = await without.signUpUser();
    const change = async (phone: string) =>
      (await without.request('PUT', '/user', { token, body: { phone } })).body.code;
    expect(await change('abc')).toBe('validation_failed');
    expect(await change('+4915112345678')).toBe('phone_provider_disabled');
  });
});
