/** How often anybody may ask (docs/specification/accounts.md 9). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, hashIn, newAddress, startAuthWorld } from './world.ts';
import type { AuthWorld } from './world.ts';

let world: AuthWorld;
let lastAddress = 0;
beforeAll(async () => {
  world = await startAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' });
});
afterAll(() => world.close());

/** Each test speaks from a network of its own. */
const newPlace = () => ({ 'X-Real-Ip': `192.0.2.${(lastAddress += 1)}` });

const recoverFrom = (address: string) =>
  world.ask('POST', '/recover', { body: { email: newAddress() }, headers: { 'X-Real-Ip': address } });

describe('one network', () => {
  test('is stopped after thirty recoveries in five minutes, and nobody else is', async () => {
    const headers = newPlace();
    const recover = () => world.ask('POST', '/recover', { body: { email: newAddress() }, headers });
    for (let count = 0; count < 30; count += 1) expect((await recover()).status).toBe(200);
    const stopped = await recover();
    expect([stopped.status, stopped.body]).toEqual([
      429,
      { code: 'over_request_rate_limit', message: 'Request rate limit reached' },
    ]);
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(200);
    const elsewhere = await world.ask('POST', '/recover', { body: { email: newAddress() }, headers: newPlace() });
    expect(elsewhere.status).toBe(200);
  });

  test('is one /64 of IPv6', async () => {
    for (let count = 0; count < 30; count += 1) {
      const headers = { 'X-Real-Ip': `2001:db8:1:2::${count.toString(16)}` };
      expect((await world.ask('POST', '/recover', { body: { email: newAddress() }, headers })).status).toBe(200);
    }
    expect((await recoverFrom('2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await recoverFrom('2001:db8:1:3::1')).status).toBe(200);
  });

  test('may renew a valid session however often it asked before', async () => {
    const headers = newPlace();
    const { body } = await world.ask('POST', '/signup', { body: { email: newAddress(), password: PASSWORD }, headers });
    const renew = (token: string) =>
      world.ask('POST', '/token?grant_type=refresh_token', { body: { refresh_token: token }, headers });
    let stopped = 0;
    for (let count = 0; count < 160; count += 1) stopped += (await renew('a'.repeat(43))).status === 429 ? 1 : 0;
    expect(stopped).toBe(10);
    expect((await renew(body.refresh_token)).status).toBe(200);
  });
});

describe('one address', () => {
  test('gets one mail of a kind a minute, and the answers do not tell', async () => {
    const email = newAddress();
    await world.ask('POST', '/signup', { body: { email, password: PASSWORD }, headers: newPlace() });
    const recover = () => world.ask('POST', '/recover', { body: { email }, headers: newPlace() });
    const answers = [await recover(), await recover(), await recover()];
    expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [200, {}]));
    await world.mailTo(email);
    world.clock.advance(60_000);
    await recover();
    await world.mailTo(email, 2);
    expect(world.mailbox.messagesTo(email)).toHaveLength(2);
  });

  test('asks for the same move twice without a second mail, and for another one a minute later', async () => {
    const email = newAddress();
    const { body } = await world.ask('POST', '/signup', { body: { email, password: PASSWORD }, headers: newPlace() });
    const move = (to: string) =>
      world.ask('PUT', '/user', { token: body.access_token, body: { email: to }, headers: newPlace() });
    const [first, second] = [newAddress(), newAddress()];
    expect((await move(first)).status).toBe(200);
    expect((await move(first)).body.new_email).toBe(first);
    const early = await move(second);
    expect([early.status, early.body.code]).toEqual([429, 'over_email_send_rate_limit']);
    expect(early.headers.get('retry-after')).toBe(/\d+/.exec(early.body.message)![0]);
    world.clock.advance(60_000);
    expect((await move(second)).body.new_email).toBe(second);
    await Promise.all([world.mailTo(first), world.mailTo(second)]);
    expect(world.mailbox.messagesTo(first)).toHaveLength(1);
  });
});

describe('one account', () => {
  const tryPassword = (email: string, password: string, headers: Record<string, string> = {}) =>
    world.ask('POST', '/token?grant_type=password', {
      body: { email, password },
      headers: { ...newPlace(), ...headers },
    });
  const deviceIn = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split(';')[0] ?? '';

  async function guessUntilStopped(email: string) {
    // Many at once count like one by one.
    const guesses = await Promise.all(Array.from({ length: 12 }, () => tryPassword(email, 'not this one')));
    const stopped = guesses.filter(({ status }) => status === 429);
    expect(guesses.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(stopped).toHaveLength(2);
    return stopped[0]!;
  }

  test('takes ten wrong passwords from everywhere, and its owner still signs in from a known device', async () => {
    const email = newAddress();
    const signedUp = await world.ask('POST', '/signup', { body: { email, password: PASSWORD }, headers: newPlace() });
    expect(signedUp.headers.get('set-cookie')).toMatch(
      /^hustle-forge-device=[\w-]+\.[\w-]+; Max-Age=34560000; Path=\/auth\/v1; HttpOnly; SameSite=Strict$/,
    );
    const stopped = await guessUntilStopped(email);
    expect(stopped.body.code).toBe('over_request_rate_limit');
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await tryPassword(email.toUpperCase(), PASSWORD)).status).toBe(429);

    const own = { Cookie: deviceIn(signedUp) };
    const signedIn = await tryPassword(email, PASSWORD, own);
    expect([signedIn.status, deviceIn(signedIn)]).toEqual([200, '']);
    const stranger = await world.ask('POST', '/signup', {
      body: { email: newAddress(), password: PASSWORD },
      headers: newPlace(),
    });
    expect((await tryPassword(email, PASSWORD, { Cookie: deviceIn(stranger) })).status).toBe(429);
    expect((await tryPassword(email, PASSWORD, { Cookie: `${deviceIn(signedUp)}x` })).status).toBe(429);

    // On a new device a recovery link opens the door, and makes that device known.
    await world.ask('POST', '/recover', { body: { email }, headers: newPlace() });
    const body = { type: 'recovery', token_hash: hashIn(await world.mailTo(email)) };
    const recovered = await world.ask('POST', '/verify', { body, headers: newPlace() });
    expect((await tryPassword(email, PASSWORD, { Cookie: deviceIn(recovered) })).status).toBe(200);
  });

  test('keeps its known device when a page elsewhere signs the browser in to another account', async () => {
    const email = newAddress();
    await world.ask('POST', '/signup', { body: { email, password: PASSWORD }, headers: newPlace() });
    // A form with enctype text/plain can write JSON, and its answer may set a cookie because it is a page of its own.
    const sendForm = (headers: Record<string, string>) =>
      tryPassword(email, PASSWORD, { 'Content-Type': 'text/plain', ...headers });
    const foreign = { Origin: 'https://evil.example' };
    expect(deviceIn(await sendForm({ ...foreign, 'Sec-Fetch-Site': 'cross-site' }))).toBe('');
    expect(deviceIn(await sendForm({ ...foreign, 'Sec-Fetch-Site': 'same-site' }))).toBe('');
    expect(deviceIn(await sendForm(foreign))).toBe('');
    expect(deviceIn(await sendForm({ Origin: 'null' }))).toBe('');
    expect(deviceIn(await sendForm({ Origin: world.url }))).not.toBe('');
    expect(deviceIn(await sendForm({ ...foreign, 'Sec-Fetch-Site': 'same-origin' }))).not.toBe('');
  });

  test('gets one device from a session, however often it is renewed', async () => {
    const { refresh } = await world.signedUp();
    const renewed = () =>
      world.ask('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh }, headers: newPlace() });
    const [first, second] = [deviceIn(await renewed()), deviceIn(await renewed())];
    expect(first).not.toBe('');
    expect(second).toBe(first);
  });

  test('that does not exist backs off like one that does', async () => {
    const known = newAddress();
    await world.ask('POST', '/signup', { body: { email: known, password: PASSWORD }, headers: newPlace() });
    const [ofKnown, ofUnknown] = [await guessUntilStopped(known), await guessUntilStopped(newAddress())];
    expect(ofUnknown.body).toEqual(ofKnown.body);
    expect([...ofUnknown.headers.keys()]).toEqual([...ofKnown.headers.keys()]);
  });
});
