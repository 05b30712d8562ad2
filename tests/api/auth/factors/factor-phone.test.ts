/** Phone numbers as second factors (docs/specification/api.md 31). */
import { expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, newAddress, newNumber, type WireBody } from '../fixture.ts';

const world = setUpAuthWorld({ AUTH_RATE_LIMITS: 'on', SMS_COUNTRIES: '+49,+1' }, { sms: 'on' });

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
const post = (path: string, token: string, body: unknown = {}) => world.request('POST', path, { token, body });
const ok = ({ status, body }: { status: number; body: WireBody }): WireBody => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const errorOf = ({ status, body }: { status: number; body: WireBody }) => [status, body.code, body.message];
const enroll = (token: string, phone: string, friendly_name = 'mobile') =>
  post('/factors', token, { factor_type: 'phone', phone, friendly_name });
/** Deletes the counts of texts, because the limiter ignores the test clock. */
const allowTexts = () => world.admin.query("delete from auth.rate_limits where key like 'sms-%'");

async function requestChallenge(token: string, id: string, phone: string, count = 1) {
  await allowTexts();
  const challenge_id = ok(await post(`/factors/${id}/challenge`, token)).id;
  return { challenge_id, code: (await world.waitForText(phone, count)).code! };
}

test('a texted code raises the session to aal2 and verifies the number', async () => {
  const { access, email } = await world.signUpUser();
  const phone = newNumber();
  const factor = ok(await enroll(access, phone));
  expect(factor).toEqual({ id: expect.any(String), type: 'phone', friendly_name: 'mobile', phone: phone.slice(1) });
  const first = await requestChallenge(access, factor.id, phone);
  const text = (await world.waitForText(phone)).text;
  expect(text).toContain(`${first.code} is the code for the second step`);
  const wrong = first.code === '000000' ? '111111' : '000000';
  const verify = `/factors/${factor.id}/verify`;
  expect(errorOf(await post(verify, access, { ...first, code: wrong }))).toEqual([
    422,
    'mfa_verification_failed',
    'Invalid MFA Phone code entered',
  ]);
  const session = ok(await post(verify, access, first));
  expect(claimsOf(session.access_token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/phone' }, {}] });
  expect(session.user.factors).toMatchObject([{ factor_type: 'phone', status: 'verified', phone: phone.slice(1) }]);
  expect((await post(verify, session.access_token, first)).body.code).toBe('mfa_ip_address_mismatch');
  const mail = await world.waitForMailWith('Two-step verification was added', email);
  expect(mail.text).toContain('A phone number now confirms your sign-ins');

  // A code belongs to its challenge.
  const second = await requestChallenge(session.access_token, factor.id, phone, 2);
  const third = await requestChallenge(session.access_token, factor.id, phone, 3);
  const crossed = await post(verify, session.access_token, { ...second, code: third.code });
  expect(crossed.status).toBe(second.code === third.code ? 200 : 422);
  expect(errorOf(await enroll(session.access_token, phone, 'again'))).toEqual([
    422,
    'mfa_verified_factor_exists',
    'A verified phone factor already exists, unenroll the existing factor to continue',
  ]);
});

test('a number is checked at its enrolment, and a repeated one replaces the unverified factor', async () => {
  const { access } = await world.signUpUser();
  expect((await enroll(access, '')).body.message).toBe('Phone number required to enroll Phone factor');
  expect((await enroll(access, '12')).body.message).toBe('Invalid phone number format (E.164 required)');
  const phone = newNumber();
  const first = ok(await enroll(access, phone));
  const second = ok(await enroll(access, phone));
  expect((await post(`/factors/${first.id}/challenge`, access)).body.code).toBe('mfa_factor_not_found');
  expect((await post(`/factors/${second.id}/challenge`, access, { channel: 'whatsapp' })).status).toBe(400);
});

test('a number gets one text a minute, none outside the allowed countries, and each refusal is reported', async () => {
  const { access } = await world.signUpUser();
  const phone = newNumber();
  const { id } = ok(await enroll(access, phone));
  await requestChallenge(access, id, phone);
  const limited = await post(`/factors/${id}/challenge`, access);
  expect([limited.status, limited.body.code]).toEqual([429, 'over_sms_send_rate_limit']);
  const abroad = ok(await enroll(access, '+33612345678', 'abroad'));
  expect((await post(`/factors/${abroad.id}/challenge`, access)).body.code).toBe('sms_send_failed');
  // Twilio's test number that cannot receive texts.
  const invalid = ok(await enroll(access, '+15005550001', 'invalid'));
  expect((await post(`/factors/${invalid.id}/challenge`, access)).body.code).toBe('sms_send_failed');
});

test('the real client passes a second step with a text', async () => {
  const client = world.client();
  await client.auth.signUp({ email: newAddress(), password: PASSWORD });
  const phone = newNumber();
  const { data: factor } = await client.auth.mfa.enroll({ factorType: 'phone', phone, friendlyName: 'mobile' });
  await allowTexts();
  const { data: challenge, error } = await client.auth.mfa.challenge({ factorId: factor!.id, channel: 'sms' });
  expect(error).toBeNull();
  const { code } = await world.waitForText(phone);
  const verified = await client.auth.mfa.verify({ factorId: factor!.id, challengeId: challenge!.id, code: code! });
  expect(verified.error).toBeNull();
  expect((await client.auth.mfa.listFactors()).data?.phone).toHaveLength(1);
});
