/** Rate limits of /auth/v1 (docs/specification/accounts.md 9). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import { setUpAuthWorld, PASSWORD, tokenHashIn, newAddress } from './fixture.ts';

const world = setUpAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' });
let lastAddress = 0;

/** A client address in a network that no other test uses. */
const newNetwork = () => ({ 'X-Real-Ip': `192.0.2.${(lastAddress += 1)}` });

const recoverFrom = (address: string) =>
  world.request('POST', '/recover', { body: { email: newAddress() }, headers: { 'X-Real-Ip': address } });

describe('a network', () => {
  test('gets 429 after thirty recoveries in five minutes, without affecting other networks', async () => {
    const headers = newNetwork();
    const recover = () => world.request('POST', '/recover', { body: { email: newAddress() }, headers });
    for (let count = 0; count < 30; count += 1) expect((await recover()).status).toBe(200);
    const limited = await recover();
    expect([limited.status, limited.body]).toEqual([
      429,
      { code: 'over_request_rate_limit', message: 'Request rate limit reached' },
    ]);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(200);
    const elsewhere = await world.request('POST', '/recover', { body: { email: newAddress() }, headers: newNetwork() });
    expect(elsewhere.status).toBe(200);
  });

  test('is a /64 prefix of IPv6', async () => {
    for (let count = 0; count < 30; count += 1) {
      const headers = { 'X-Real-Ip': `2001:db8:1:2::${count.toString(16)}` };
      expect((await world.request('POST', '/recover', { body: { email: newAddress() }, headers })).status).toBe(200);
    }
    expect((await recoverFrom('2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await recoverFrom('2001:db8:1:3::1')).status).toBe(200);
  });

  test('can renew a valid session regardless of its failed renewals', async () => {
    const headers = newNetwork();
    const { body } = await world.request('POST', '/signup', {
      body: { email: newAddress(), password: PASSWORD },
      headers,
    });
    const renew = (token: string) =>
      world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: token }, headers });
    let limited = 0;
    for (let count = 0; count < 160; count += 1) limited += (await renew('a'.repeat(43))).status === 429 ? 1 : 0;
    expect(limited).toBe(10);
    expect((await renew(body.refresh_token)).status).toBe(200);
  });
});

describe('two servers of one database', () => {
  let other: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    const { config, database, clock } = world;
    other = await serve({ config: { ...config, port: 0 }, database, clock, log: createLog('error') });
  });
  afterAll(() => other.stop());

  /** Sends the requests in turns to both servers and returns the statuses. */
  async function alternate(count: number, path: string, { body, headers }: { body: object; headers?: object }) {
    const statuses: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const url = index % 2 === 0 ? world.url : `http://localhost:${other.port}`;
      const response = await fetch(`${url}/auth/v1${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(headers ?? newNetwork()) },
        body: JSON.stringify(body),
      });
      await response.text();
      statuses.push(response.status);
    }
    return statuses;
  }
  const repeat = (status: number, count: number) => Array.from({ length: count }, () => status);

  test('share the requests of a network', async () => {
    const statuses = await alternate(32, '/recover', { body: { email: newAddress() }, headers: newNetwork() });
    expect(statuses).toEqual([...repeat(200, 30), 429, 429]);
  });

  test('share the wrong passwords of an account', async () => {
    const body = { email: newAddress(), password: 'not this one' };
    expect(await alternate(12, '/token?grant_type=password', { body })).toEqual([...repeat(400, 10), 429, 429]);
  });
});

describe('an address', () => {
  test('gets one mail of a kind a minute, with identical responses', async () => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD }, headers: newNetwork() });
    const recover = () => world.request('POST', '/recover', { body: { email }, headers: newNetwork() });
    const responses = [await recover(), await recover(), await recover()];
    expect(responses.map(({ status, body }) => [status, body])).toEqual(responses.map(() => [200, {}]));
    await world.waitForMail(email);
    world.clock.advance(60_000);
    await recover();
    await world.waitForMail(email, 2);
    expect(world.mailbox.messagesTo(email)).toHaveLength(2);
  });

  test('gets no second mail for a repeated address change, and can request another change a minute later', async () => {
    const email = newAddress();
    const { body } = await world.request('POST', '/signup', {
      body: { email, password: PASSWORD },
      headers: newNetwork(),
    });
    const move = (to: string) =>
      world.request('PUT', '/user', { token: body.access_token, body: { email: to }, headers: newNetwork() });
    const [first, second] = [newAddress(), newAddress()];
    expect((await move(first)).status).toBe(200);
    expect((await move(first)).body.new_email).toBe(first);
    const early = await move(second);
    expect([early.status, early.body.code]).toEqual([429, 'over_email_send_rate_limit']);
    expect(early.headers.get('retry-after')).toBe(/\d+/.exec(early.body.message)![0]);
    world.clock.advance(60_000);
    expect((await move(second)).body.new_email).toBe(second);
    await Promise.all([world.waitForMail(first), world.waitForMail(second)]);
    expect(world.mailbox.messagesTo(first)).toHaveLength(1);
  });
});

describe('an account', () => {
  const tryPassword = (email: string, password: string, headers: Record<string, string> = {}) =>
    world.request('POST', '/token?grant_type=password', {
      body: { email, password },
      headers: { ...newNetwork(), ...headers },
    });
  const deviceIn = (response: { headers: Headers }) => response.headers.get('set-cookie')?.split(';')[0] ?? '';

  async function guessUntilLimited(email: string) {
    // Concurrent guesses count like sequential ones.
    const guesses = await Promise.all(Array.from({ length: 12 }, () => tryPassword(email, 'not this one')));
    const limited = guesses.filter(({ status }) => status === 429);
    expect(guesses.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(limited).toHaveLength(2);
    return limited[0]!;
  }

  test('accepts ten wrong passwords across all networks, and its owner can still sign in from a known device', async () => {
    const email = newAddress();
    const signedUp = await world.request('POST', '/signup', {
      body: { email, password: PASSWORD },
      headers: newNetwork(),
    });
    expect(signedUp.headers.get('set-cookie')).toMatch(
      /^hustle-forge-device=[\w-]+\.[\w-]+; Max-Age=34560000; Path=\/auth\/v1; HttpOnly; SameSite=Lax$/,
    );
    const limited = await guessUntilLimited(email);
    expect(limited.body.code).toBe('over_request_rate_limit');
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await tryPassword(email.toUpperCase(), PASSWORD)).status).toBe(429);

    const own = { Cookie: deviceIn(signedUp) };
    const signedIn = await tryPassword(email, PASSWORD, own);
    expect([signedIn.status, deviceIn(signedIn)]).toEqual([200, '']);
    const stranger = await world.request('POST', '/signup', {
      body: { email: newAddress(), password: PASSWORD },
      headers: newNetwork(),
    });
    expect((await tryPassword(email, PASSWORD, { Cookie: deviceIn(stranger) })).status).toBe(429);
    expect((await tryPassword(email, PASSWORD, { Cookie: `${deviceIn(signedUp)}x` })).status).toBe(429);

    // On a new device the owner uses a recovery link, which makes that device known.
    await world.proveAddress(email);
    await world.request('POST', '/recover', { body: { email }, headers: newNetwork() });
    const body = { type: 'recovery', token_hash: tokenHashIn(await world.waitForMail(email)) };
    const recovered = await world.request('POST', '/verify', { body, headers: newNetwork() });
    expect((await tryPassword(email, PASSWORD, { Cookie: deviceIn(recovered) })).status).toBe(200);
  });

  test('accepts fifty wrong passwords a day, although the shorter window is over', async () => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD }, headers: newNetwork() });
    for (let round = 0; round < 5; round += 1) {
      const guesses = await Promise.all(Array.from({ length: 10 }, () => tryPassword(email, 'not this one')));
      expect(guesses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 400));
      await world.admin.query(`delete from auth.rate_limits where key like 'sign-in:%'`);
    }
    const limited = await tryPassword(email, 'not this one');
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(3600);
  });

  test('keeps its device cookie when another site signs the browser in to another account', async () => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD }, headers: newNetwork() });
    // A form with enctype text/plain can send JSON. Its submission is a top-level navigation, so the response can set a
    // cookie.
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

  test('gets the same device cookie from every renewal of a session', async () => {
    const { refresh } = await world.signUpUser();
    const renewSession = () =>
      world.request('POST', '/token?grant_type=refresh_token', {
        body: { refresh_token: refresh },
        headers: newNetwork(),
      });
    const [first, second] = [deviceIn(await renewSession()), deviceIn(await renewSession())];
    expect(first).not.toBe('');
    expect(second).toBe(first);
  });

  test('is limited the same way whether it exists or not', async () => {
    const known = newAddress();
    await world.request('POST', '/signup', { body: { email: known, password: PASSWORD }, headers: newNetwork() });
    const [ofKnown, ofUnknown] = [await guessUntilLimited(known), await guessUntilLimited(newAddress())];
    expect(ofUnknown.body).toEqual(ofKnown.body);
    expect([...ofUnknown.headers.keys()]).toEqual([...ofKnown.headers.keys()]);
  });
});
