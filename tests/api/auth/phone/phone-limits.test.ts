/** The limits of text messages, and of wrong passwords for a number (docs/specification/limits.md 2). */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, newNumber, startAuthWorld } from '../fixture.ts';

const world = await startAuthWorld(
  { AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip', SMS_DAILY_LIMIT: '120' },
  { sms: 'on' },
);
const { control } = world.sms!;
afterAll(() => world.close());
beforeEach(() => world.admin.query('delete from auth.rate_limits'));

let lastAddress = 0;
/** A client address in a network that no other request uses. */
const newNetwork = () => ({ 'X-Real-Ip': `192.0.2.${(lastAddress += 1) % 250}` });
const post = (path: string, body: unknown, headers: Record<string, string> = newNetwork()) =>
  world.request('POST', path, { body, headers });
const expire = (bucket: string) => world.admin.query('delete from auth.rate_limits where key like $1', [`${bucket}:%`]);

describe('a number', () => {
  test('gets one text a minute, whichever request asks for it', async () => {
    const phone = newNumber();
    expect((await post('/otp', { phone })).status).toBe(200);
    for (const [path, body] of [
      ['/otp', { phone }],
      ['/otp', { phone, create_user: false }],
      ['/signup', { phone, password: PASSWORD }],
      ['/resend', { type: 'sms', phone }],
      ['/resend', { type: 'phone_change', phone }],
    ] as const) {
      const limited = await post(path, body);
      expect([limited.status, limited.body], path).toEqual([
        429,
        {
          code: 'over_sms_send_rate_limit',
          message: expect.stringMatching(/^For security purposes, you can only request this after \d+ seconds\.$/),
        },
      ]);
      const seconds = Number(limited.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(50);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(limited.body.message).toContain(` ${seconds} `);
    }
    expect(control.messages(phone)).toHaveLength(1);
    await expire('sms-guest');
    expect((await post('/otp', { phone })).status).toBe(200);
  });

  test('is limited the same way whether it has an account or not', async () => {
    const [known, unknown] = [newNumber(), newNumber()];
    await post('/otp', { phone: known });
    await world.admin.query('delete from auth.rate_limits');
    const requestCode = (phone: string) => post('/otp', { phone, create_user: false });
    const first = [await requestCode(known), await requestCode(unknown)];
    const second = [await requestCode(known), await requestCode(unknown)];
    expect(first.map(({ status }) => status)).toEqual([200, 200]);
    expect(second.map(({ status }) => status)).toEqual([429, 429]);
    expect([...second[0]!.headers.keys()]).toEqual([...second[1]!.headers.keys()]);
  });

  test('loses the password of a stranger’s sign-up although its owner has to wait for a text', async () => {
    const phone = newNumber();
    expect((await post('/signup', { phone, password: 'of the stranger' })).status).toBe(200);
    expect((await post('/signup', { phone, password: PASSWORD })).status).toBe(429);
    const { code: token } = control.messages(phone)[0]!;
    expect((await post('/verify', { type: 'sms', phone, token })).status).toBe(200);
    const stranger = await post('/token?grant_type=password', { phone, password: 'of the stranger' });
    expect(stranger.body.code).toBe('invalid_credentials');
  });

  test('gets three texts an hour', async () => {
    const phone = newNumber();
    for (let count = 0; count < 3; count += 1) {
      expect((await post('/otp', { phone })).status).toBe(200);
      await expire('sms-guest');
    }
    const limited = await post('/otp', { phone });
    expect([limited.status, limited.body.code]).toEqual([429, 'over_sms_send_rate_limit']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(60);
  });

  test('gets ten texts a day', async () => {
    const phone = newNumber();
    for (let count = 0; count < 10; count += 1) {
      expect((await post('/otp', { phone })).status).toBe(200);
      await expire('sms-guest');
      await expire('sms-guest-hour');
      await expire('sms-server');
      await expire('sms-open');
    }
    const limited = await post('/otp', { phone });
    expect([limited.status, limited.body.code]).toEqual([429, 'over_sms_send_rate_limit']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(3_600);
  });

  test('is not stored in the table of counters', async () => {
    const phone = newNumber();
    await post('/otp', { phone });
    const { rows } = await world.admin.query<{ key: string }>('select key from auth.rate_limits');
    expect(rows.map(({ key }) => key).join(' ')).not.toContain(phone.slice(1));
  });
});

test('a network address gets ten texts an hour, for different numbers', async () => {
  const headers = newNetwork();
  for (let count = 0; count < 10; count += 1) {
    expect((await post('/otp', { phone: newNumber() }, headers)).status).toBe(200);
  }
  const phone = newNumber();
  const limited = await post('/otp', { phone }, headers);
  expect([limited.status, limited.body.code]).toEqual([429, 'over_sms_send_rate_limit']);
  // A request refused for its network address does not count for the number. Otherwise this address could use up the
  // texts of any number.
  expect((await post('/otp', { phone })).status).toBe(200);
});

test('a request that its number refuses does not count for the network address', async () => {
  const headers = newNetwork();
  const phone = newNumber();
  await post('/otp', { phone }, headers);
  for (let count = 0; count < 10; count += 1) expect((await post('/otp', { phone }, headers)).status).toBe(429);
  expect((await post('/otp', { phone: newNumber() }, headers)).status).toBe(200);
});

describe('the server', () => {
  /** A number that a texted code has confirmed, and the token of its session. */
  async function confirmNumber(): Promise<{ phone: string; token: string }> {
    const phone = newNumber();
    expect((await post('/otp', { phone })).status).toBe(200);
    const { code } = control.messages(phone)[0]!;
    const { status, body } = await post('/verify', { type: 'sms', phone, token: code });
    expect(status).toBe(200);
    await world.admin.query('delete from auth.rate_limits');
    return { phone, token: body.access_token };
  }
  /** Strangers ask for codes until their half of the hourly texts is used: six of twelve. */
  async function useUpOpenTexts(): Promise<void> {
    for (let count = 0; count < 6; count += 1) {
      const phone = newNumber();
      expect((await post('/otp', { phone })).status).toBe(200);
      expect(control.messages(phone)).toHaveLength(1);
    }
  }
  const useUpAllTexts = async () => {
    await useUpOpenTexts();
    await world.admin.query(`update auth.rate_limits set points = 12 where key = 'sms-server:all'`);
  };
  const answerOf = ({ status, body }: { status: number; body: unknown }) => [status, body];

  test('texts a code to the signed-in owner of a number although a stranger has used up the texts of the number', async () => {
    const { phone, token } = await confirmNumber();
    expect((await post('/otp', { phone })).status).toBe(200);
    await world.waitForText(phone, 2);
    expect((await post('/otp', { phone })).status).toBe(429);
    const reauthenticate = () =>
      world.request('GET', '/reauthenticate', { headers: { ...newNetwork(), Authorization: `Bearer ${token}` } });
    expect((await reauthenticate()).status).toBe(200);
    expect(control.messages(phone)).toHaveLength(3);
    expect((await reauthenticate()).status).toBe(429);
  });

  test('reserves half of its hourly texts for confirmed numbers', async () => {
    const { phone } = await confirmNumber();
    await useUpOpenTexts();
    const stranger = newNumber();
    // Alike in words. Neither waits for the provider, so they are alike in time too.
    expect(answerOf(await post('/otp', { phone: stranger }))).toEqual([200, {}]);
    expect(answerOf(await post('/otp', { phone }))).toEqual([200, {}]);
    const { code: token } = await world.waitForText(phone, 2);
    expect((await post('/verify', { type: 'sms', phone, token })).status).toBe(200);
    expect(control.messages(stranger)).toEqual([]);
    const account = await world.admin.query('select from auth.users where phone = $1', [stranger.slice(1)]);
    expect(account.rowCount, 'an account without a text').toBe(0);
  });

  test('keeps a reserved text for every confirmed number that asks for its first, however often others ask', async () => {
    const numbers = [await confirmNumber(), await confirmNumber(), await confirmNumber(), await confirmNumber()];
    const owner = numbers.pop()!;
    await useUpOpenTexts();
    for (let round = 0; round < 3; round += 1) {
      for (const { phone } of numbers) await post('/otp', { phone });
      await expire('sms-guest');
    }
    for (const { phone } of numbers) await world.waitForText(phone, 2);
    expect(answerOf(await post('/otp', { phone: owner.phone }))).toEqual([200, {}]);
    await world.waitForText(owner.phone, 2);
    for (const { phone } of numbers) expect(control.messages(phone)).toHaveLength(2);
  });

  test('keeps texts for signed-in owners, however many confirmed numbers strangers ask for', async () => {
    const numbers = [];
    for (let count = 0; count < 6; count += 1) numbers.push(await confirmNumber());
    await useUpOpenTexts();
    const [owner, ...others] = numbers;
    for (const { phone } of others) expect(answerOf(await post('/otp', { phone }))).toEqual([200, {}]);
    const texted = () => others.filter(({ phone }) => control.messages(phone).length === 2).length;
    await expect.poll(texted).toBeGreaterThanOrEqual(4);
    for (const { token } of [owner!, others[0]!]) {
      const headers = { ...newNetwork(), Authorization: `Bearer ${token}` };
      expect((await world.request('GET', '/reauthenticate', { headers })).status).toBe(200);
    }
    expect(control.messages(owner!.phone)).toHaveLength(2);
    expect(control.messages(others[0]!.phone)).toHaveLength(3);
  });

  test('refuses a sign-up with a password for every number alike once the open half is used', async () => {
    const { phone } = await confirmNumber();
    await useUpOpenTexts();
    const answers = [phone, newNumber()].map((number) => post('/signup', { phone: number, password: PASSWORD }));
    for (const answer of await Promise.all(answers)) {
      expect(answerOf(answer)).toEqual([429, { code: 'over_sms_send_rate_limit', message: 'SMS rate limit exceeded' }]);
    }
  });

  test('reserves texts for verified second factors, and none for a number that a user only enrols', async () => {
    const { phone, token } = await confirmNumber();
    const enroll = async (number: string): Promise<string> => {
      const body = { factor_type: 'phone', phone: number, friendly_name: number };
      const answer = await world.request('POST', '/factors', { token, body, headers: newNetwork() });
      expect(answer.status).toBe(200);
      return answer.body.id;
    };
    const challenge = (id: string) =>
      world.request('POST', `/factors/${id}/challenge`, { token, body: {}, headers: newNetwork() });
    const factor = await enroll(phone);
    await useUpOpenTexts();
    const foreign = newNumber();
    const refused = await challenge(await enroll(foreign));
    expect([refused.status, refused.body.code]).toEqual([429, 'over_sms_send_rate_limit']);
    expect(control.messages(foreign)).toEqual([]);
    await world.admin.query(`update auth.mfa_factors set status = 'verified' where id = $1`, [factor]);
    expect((await challenge(factor)).status).toBe(200);
    expect(control.messages(phone)).toHaveLength(2);
  });

  test('counts no reserved text for the requests that it refuses', async () => {
    await useUpOpenTexts();
    for (let count = 0; count < 20; count += 1) await post('/otp', { phone: newNumber() });
    const { rows } = await world.admin.query(`select points from auth.rate_limits where key = 'sms-server:all'`);
    expect(rows).toEqual([{ points: 6 }]);
  });

  test('refuses a known and an unknown number alike once all texts are used', async () => {
    const { phone } = await confirmNumber();
    await useUpAllTexts();
    for (const number of [phone, newNumber()]) {
      const limited = await post('/otp', { phone: number });
      expect(answerOf(limited)).toEqual([
        429,
        { code: 'over_sms_send_rate_limit', message: 'SMS rate limit exceeded' },
      ]);
      expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
      await expire('sms-guest');
      // Without create_user the account is looked up after the response.
      expect(answerOf(await post('/otp', { phone: number, create_user: false }))).toEqual([200, {}]);
    }
  });
});

test('after ten wrong passwords for a number, the right one is rejected too', async () => {
  const phone = newNumber();
  const guess = () => post('/token?grant_type=password', { phone, password: 'not this one' });
  const guesses = await Promise.all(Array.from({ length: 12 }, guess));
  expect(guesses.filter(({ status }) => status === 400)).toHaveLength(10);
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(2);
});
