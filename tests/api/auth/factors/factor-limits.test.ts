/**
 * Budgets of second factors and recovery codes, by network address and by factor (docs/specification/limits.md 2), and
 * the network that may answer a challenge. A request of this file without `ip` comes from a new address.
 */
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { SoftwareAuthenticator } from '../../../support/software-authenticator.ts';
import { totpCode } from '../../../support/totp-code.ts';
import { setUpAuthWorld, PASSWORD, tokenHashIn, newAddress, type WireBody } from '../fixture.ts';

const world = setUpAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' });
let lastAddress = 0;

const MINUTE = 60_000;

/** An IPv4 address that no other request of this file uses. */
const newIp = (): string => {
  lastAddress += 1;
  return `10.${(lastAddress >> 16) & 255}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
};
const post = (path: string, options: { token?: string; body?: unknown; ip?: string } = {}) => {
  const { ip = newIp(), ...request } = options;
  return world.request('POST', path, { ...request, headers: { 'X-Real-Ip': ip } });
};
const ok = ({ status, body }: { status: number; body: WireBody }): WireBody => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const codeOf = (secret: string): string => totpCode(secret, world.clock.now().getTime());

type Owner = { email: string; id: string; secret: string; factor: string; token: string };

async function answer(owner: Pick<Owner, 'factor'>, token: string, code: string, ip = newIp()) {
  const { id: challenge_id } = ok(await post(`/factors/${owner.factor}/challenge`, { token, body: {}, ip }));
  return post(`/factors/${owner.factor}/verify`, { token, body: { challenge_id, code }, ip });
}

async function createProtectedOwner(): Promise<Owner> {
  const email = newAddress();
  const signedUp = ok(await post('/signup', { body: { email, password: PASSWORD } }));
  const body = ok(await post('/factors', { token: signedUp.access_token, body: { factor_type: 'totp' } }));
  const owner = { email, id: signedUp.user.id, factor: body.id, secret: body.totp.secret };
  const session = ok(await answer(owner, signedUp.access_token, codeOf(owner.secret)));
  world.clock.advance(MINUTE);
  return { ...owner, token: session.access_token };
}
const signIn = async ({ email }: Pick<Owner, 'email'>): Promise<string> =>
  ok(await post('/token?grant_type=password', { body: { email, password: PASSWORD } })).access_token;
/** A code of six digits that is wrong for the next eight minutes of the test clock. */
function wrongCodeOf({ secret }: Owner): string {
  const now = world.clock.now().getTime();
  const right = new Set(Array.from({ length: 20 }, (_, step) => totpCode(secret, now + (step - 2) * 30_000)));
  return Array.from({ length: 50 }, (_, index) => String(index * 11_111).padStart(6, '0')).find(
    (code) => !right.has(code),
  )!;
}
const countCompared = async ({ id }: Owner): Promise<number> => {
  const query = "select count(*)::int as n from auth.audit_log where user_id = $1 and event = 'factor_failed'";
  return (await world.admin.query(query, [id])).rows[0].n;
};

test('a network address gets fifteen challenges and fifteen answers a minute', async () => {
  const { token, factor } = await createProtectedOwner();
  for (const path of [`/factors/${factor}/challenge`, `/factors/${factor}/verify`, '/factors/recovery-codes/verify']) {
    const ip = newIp();
    const statuses: number[] = [];
    for (let count = 0; count < 17; count += 1) statuses.push((await post(path, { token, ip, body: {} })).status);
    expect(statuses.slice(15)).toEqual([429, 429]);
    expect(statuses.slice(0, 15)).not.toContain(429);
  }
});

describe('wrong codes', () => {
  test('from hundreds of addresses are compared ten times in a quarter of an hour and thirty times a day', async () => {
    const owner = await createProtectedOwner();
    const thief = await signIn(owner);
    const wrong = wrongCodeOf(owner);
    const guess = async (times: number): Promise<void> => {
      for (let done = 0; done < times; done += 50) {
        await Promise.all(Array.from({ length: 50 }, () => answer(owner, thief, wrong)));
      }
    };
    await guess(fuzzBudget(200));
    expect(await countCompared(owner)).toBe(10);
    for (const expected of [20, 30, 30]) {
      // Ends the limiter's window of a quarter of an hour in the database, because the limiter ignores the test clock.
      await world.admin.query("update auth.rate_limits set expire = 0 where key like 'factor:%'");
      await guess(50);
      expect(await countCompared(owner)).toBe(expected);
    }
    const refused = await answer(owner, thief, codeOf(owner.secret));
    expect([refused.status, refused.body.code]).toEqual([429, 'over_request_rate_limit']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('warn the owner by mail, who can still sign in by a recovery link and a right code', async () => {
    const owner = await createProtectedOwner();
    await world.proveAddress(owner.email);
    const thief = await signIn(owner);
    const wrong = wrongCodeOf(owner);
    await Promise.all(Array.from({ length: 14 }, () => answer(owner, thief, wrong)));
    await world.waitForMailWith('Somebody enters wrong codes', owner.email);
    expect((await answer(owner, await signIn(owner), codeOf(owner.secret))).status).toBe(429);

    await post('/recover', { body: { email: owner.email } });
    const mail = await world.waitForMailWith('Reset your password', owner.email);
    const body = { type: 'recovery', token_hash: tokenHashIn(mail) };
    const { access_token } = ok(await post('/verify', { body }));
    const session = ok(await answer(owner, access_token, codeOf(owner.secret)));
    const change = await world.request('PUT', '/user', {
      token: session.access_token,
      body: { password: 'another horse' },
    });
    expect(change.status).toBe(200);
    expect((await world.request('GET', '/user', { token: thief })).body.code).toBe('session_not_found');
  });

  test('lock recovery codes for a while, until new ones are issued', async () => {
    const owner = await createProtectedOwner();
    const codes = ok(await post('/factors/recovery-codes', { token: owner.token })).codes;
    const token = await signIn(owner);
    const redeem = (code: string) => post('/factors/recovery-codes/verify', { token, body: { code } });
    const answers = await Promise.all(Array.from({ length: 40 }, () => redeem('wrong')));
    expect(answers.filter(({ body }) => body.code === 'mfa_verification_failed')).toHaveLength(10);
    const locked = await redeem(codes[0]);
    expect([locked.status, locked.body]).toEqual([
      429,
      { code: 'mfa_recovery_codes_locked', message: 'Too many failed verification attempts, try again later' },
    ]);
    const fresh = ok(await post('/factors/recovery-codes/regenerate', { token: owner.token })).codes;
    ok(await redeem(fresh[0]));
  });
});

test('a right answer does not count as a guess', async () => {
  const owner = await createProtectedOwner();
  for (let count = 0; count < 12; count += 1) {
    world.clock.advance(MINUTE);
    ok(await answer(owner, await signIn(owner), codeOf(owner.secret)));
  }
});

test('a challenge is answered from its own network: an IPv4 address or a /64 of IPv6', async () => {
  const owner = await createProtectedOwner();
  const attempt = async (from: string, to: string) => {
    world.clock.advance(MINUTE);
    const path = `/factors/${owner.factor}`;
    const challenge = ok(await post(`${path}/challenge`, { token: owner.token, body: {}, ip: from }));
    const body = { challenge_id: challenge.id, code: codeOf(owner.secret) };
    const { status, body: result } = await post(`${path}/verify`, { token: owner.token, body, ip: to });
    return status === 200 ? 'ok' : result.code;
  };
  expect(await attempt('203.0.113.7', '203.0.113.8')).toBe('mfa_ip_address_mismatch');
  expect(await attempt('2001:db8:1:2::1', '2001:db8:1:3::1')).toBe('mfa_ip_address_mismatch');
  expect(await attempt('2001:db8:1:2::1', '2001:db8:1:2:ffff::9')).toBe('ok');
});

test('records ten wrong answers of a passkey from any number of addresses, and its right one signs in', async () => {
  const signedUp = ok(await post('/signup', { body: { email: newAddress(), password: PASSWORD } }));
  const token = signedUp.access_token;
  const authenticator = new SoftwareAuthenticator(world.config.publicUrl);
  const added = ok(await post('/passkeys/registration/options', { token, body: {} }));
  const credential = authenticator.create(added.options);
  ok(await post('/passkeys/registration/verify', { token, body: { challenge_id: added.challenge_id, credential } }));
  const answerWith = async (change: object) => {
    const { challenge_id, options } = ok(await post('/passkeys/authentication/options', { body: {} }));
    const answered = authenticator.get({ ...options, ...change });
    return (await post('/passkeys/authentication/verify', { body: { challenge_id, credential: answered } })).status;
  };
  const wrong: number[] = [];
  for (let at = 0; at < 12; at += 1) wrong.push(await answerWith({ challenge: 'b3RoZXI' }));
  expect(wrong).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
  const query = "select count(*)::int as n from auth.audit_log where user_id = $1 and event = 'sign_in_failed'";
  expect((await world.admin.query(query, [signedUp.user.id])).rows).toEqual([{ n: 10 }]);
  expect(await answerWith({})).toBe(200);
});
