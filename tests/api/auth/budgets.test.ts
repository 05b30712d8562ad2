/** The budgets of routes that write security events (docs/specification/limits.md 2). */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ENDPOINTS } from '#server/auth/routes.ts';
import { newKeyPair } from '../../../simulators/saml/key-pair.ts';
import { PASSWORD, newAddress, newNumber, startAuthWorld } from './fixture.ts';
import { messageOf, newEthereumWallet } from './providers/wallet.ts';

const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-budgets-'));
const { privateKey, certificate } = await newKeyPair('hustle-forge');
await writeFile(join(folder, 'saml.pem'), privateKey + certificate);
const world = await startAuthWorld(
  {
    AUTH_RATE_LIMITS: 'on',
    CLIENT_ADDRESS_HEADER: 'X-Real-Ip',
    AUTH_ETHEREUM: 'on',
    AUTH_SAML_KEY_FILE: join(folder, 'saml.pem'),
    AUTH_ANONYMOUS: 'on',
    // The floods must not use up the texts of the server.
    SMS_DAILY_LIMIT: '10000',
  },
  { sms: 'on' },
);
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

let lastNetwork = 0;
/** A client address in a network that no other request uses. */
const newNetwork = () => {
  lastNetwork += 1;
  return { 'X-Real-Ip': `198.18.${Math.floor(lastNetwork / 250)}.${(lastNetwork % 250) + 1}` };
};
const signUp = async (): Promise<{ access: string; id: string }> => {
  const body = { email: newAddress(), password: PASSWORD };
  const answer = await world.request('POST', '/signup', { body, headers: newNetwork() });
  expect(answer.status).toBe(200);
  return { access: answer.body.access_token, id: answer.body.user.id };
};
const countEvents = async (userId: string, event: string): Promise<number> => {
  const { rows } = await world.admin.query<{ count: number }>(
    'select count(*)::int as count from auth.audit_log where user_id = $1 and event = $2',
    [userId, event],
  );
  return rows[0]!.count;
};

/** More than any route accepts from one network address. */
const FLOOD = 192;
const FLOOD_AT_ONCE = 16;

/** Routes that write nothing. The answers of POST /logout that end a session are bounded by the sign-ins. */
const READS = new Set([
  'GET /user',
  'GET /verify',
  'GET /factors/:id',
  'GET /passkeys',
  'GET /settings',
  'GET /health',
  'GET /.well-known/jwks.json',
  'GET /sessions',
  'GET /tokens',
  'GET /account',
  'GET /account/undo-deletion',
  'GET /sso/saml/metadata',
]);
const limited = ENDPOINTS.filter(([, path]) => !path.startsWith('/admin') && path !== '/invite')
  .map(([method, path]) => [`${method} ${path}`, method, path] as const)
  .filter(([name]) => !READS.has(name));

const QUERIES: Readonly<Record<string, string>> = {
  '/token': '?grant_type=password',
  '/logout': '?scope=others',
  '/authorize': '?provider=google',
};

test.each(limited)('%s refuses a flood from one network address', async (_name, method, path) => {
  const { access: token } = await signUp();
  const headers = newNetwork();
  const id = path.startsWith('/factors/:id') && method === 'POST' ? 'recovery-codes' : randomUUID();
  const url = path.replace(':id', id) + (QUERIES[path] ?? '');
  const statuses: number[] = [];
  for (let sent = 0; sent < FLOOD; sent += FLOOD_AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: FLOOD_AT_ONCE }, () =>
        world.request(method, url, { token, headers, ...(method !== 'GET' && { body: {} }) }),
      ),
    );
    statuses.push(
      ...answers.map((answer) =>
        answer.headers.get('location')?.includes('over_request_rate_limit') ? 429 : answer.status,
      ),
    );
    if (statuses.includes(429)) break;
  }
  expect(statuses).toContain(429);
});

test('a sign-out that ends no session adds no audit row, and one that ends a session is never refused', async () => {
  const { access, id } = await signUp();
  const headers = newNetwork();
  const signOut = (token: string, scope: string) => world.request('POST', `/logout?scope=${scope}`, { token, headers });
  const statuses = new Set<number>();
  for (let count = 0; count < 40; count += 1) statuses.add((await signOut(access, 'others')).status);
  expect([...statuses]).toEqual([204, 429]);
  expect(await countEvents(id, 'signed_out')).toBe(0);
  expect((await signOut(access, 'global')).status).toBe(204);
  expect(await countEvents(id, 'signed_out')).toBe(1);
});

test('a session changes its account sixty times an hour from all networks together', async () => {
  const email = newAddress();
  const answer = await world.request('POST', '/signup', { body: { email, password: PASSWORD }, headers: newNetwork() });
  const { access_token: token, user } = answer.body;
  const enroll = (session: string) =>
    world.request('POST', '/factors', {
      token: session,
      body: { factor_type: 'phone', phone: '+4915112345678', friendly_name: randomUUID() },
      headers: newNetwork(),
    });
  const statuses: number[] = [];
  for (let count = 0; count < 70; count += 1) statuses.push((await enroll(token)).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(60);
  expect(statuses.slice(60)).toEqual(Array.from({ length: 10 }, () => 429));
  expect(await countEvents(user.id, 'factor_enrolled')).toBe(60);

  const thiefsLeftover = await world.request('DELETE', `/factors/${randomUUID()}`, { token, headers: newNetwork() });
  expect(thiefsLeftover.status).toBe(404);
  const signedIn = await world.request('POST', '/token?grant_type=password', {
    body: { email, password: PASSWORD },
    headers: newNetwork(),
  });
  expect((await enroll(signedIn.body.access_token)).status).toBe(200);
});

test('many sessions change an account 240 times an hour, and ten times each', async () => {
  const email = newAddress();
  const body = { email, password: PASSWORD };
  const { user } = (await world.request('POST', '/signup', { body, headers: newNetwork() })).body;
  const changeInNewSession = async (times: number) => {
    const signedIn = await world.request('POST', '/token?grant_type=password', { body, headers: newNetwork() });
    const statuses: number[] = [];
    for (let count = 0; count < times; count += 1) {
      const codes = await world.request('POST', '/factors', {
        token: signedIn.body.access_token,
        body: { factor_type: 'phone', phone: '+4915112345678', friendly_name: randomUUID() },
        headers: newNetwork(),
      });
      statuses.push(codes.status);
    }
    return statuses.filter((status) => status === 200).length;
  };
  expect(await changeInNewSession(12)).toBe(12);
  await world.admin.query(`update auth.rate_limits set points = 239 where key = $1`, [`account-change:${user.id}`]);
  expect(await changeInNewSession(12)).toBe(11);
  expect(await changeInNewSession(12)).toBe(10);
});

test('an account signs in with its password 120 times an hour, known devices included', async () => {
  const email = newAddress();
  const signedUp = await world.request('POST', '/signup', {
    body: { email, password: PASSWORD },
    headers: newNetwork(),
  });
  const signIn = (headers = {}) =>
    world.request('POST', '/token?grant_type=password', {
      body: { email, password: PASSWORD },
      headers: { ...newNetwork(), ...headers },
    });
  const [Cookie] = (await signIn()).headers.get('set-cookie')!.split(';');
  await world.admin.query(`update auth.rate_limits set points = 119 where key like 'signed-in:%'`);
  expect((await signIn()).status).toBe(200);
  expect((await signIn()).status).toBe(429);
  expect((await signIn({ Cookie })).status).toBe(429);
  expect(await countEvents(signedUp.body.user.id, 'signed_in')).toBe(3);
});

test('a wallet signs in 120 times an hour', async () => {
  const wallet = newEthereumWallet();
  const signIn = async () => {
    const { nonce } = (await world.request('GET', '/web3/nonce', { headers: newNetwork() })).body;
    const fields = { uri: `${world.config.publicUrl}/login`, nonce, issuedAt: world.clock.now() };
    const message = messageOf(wallet, fields);
    const body = { chain: 'ethereum', message, signature: wallet.sign(message) };
    return (await world.request('POST', '/token?grant_type=web3', { body, headers: newNetwork() })).status;
  };
  expect(await signIn()).toBe(200);
  await world.admin.query(`update auth.rate_limits set points = 119 where key like 'signed-in:%'`);
  expect([await signIn(), await signIn()]).toEqual([200, 429]);
});

test('a sign-up by phone whose text is not accepted leaves no audit row', async () => {
  const countSignUps = async () =>
    (await world.admin.query(`select from auth.audit_log where event = 'signed_up' and details->>'provider' = 'phone'`))
      .rowCount;
  for (const path of ['/otp', '/signup']) {
    world.sms!.control.fail({ code: 21614 });
    const body = { phone: newNumber(), ...(path === '/signup' && { password: PASSWORD }) };
    const answer = await world.request('POST', path, { body, headers: newNetwork() });
    expect(answer.body.code).toBe('sms_send_failed');
  }
  expect(await countSignUps()).toBe(0);
  const accepted = await world.request('POST', '/otp', { body: { phone: newNumber() }, headers: newNetwork() });
  expect([accepted.status, accepted.body]).toEqual([200, {}]);
  // The server records the event after its answer.
  await expect.poll(countSignUps).toBe(1);
});

test.each(['/signup', '/otp', '/magiclink'])(
  '%s stores at most 1,024 bytes of metadata of a stranger',
  async (path) => {
    const send = (bytes: number, to: object) => {
      const body = { ...to, password: PASSWORD, data: { full_name: 'x'.repeat(bytes - '{"full_name":""}'.length) } };
      return world.request('POST', path, { body, headers: newNetwork() });
    };
    const recipients =
      path === '/magiclink' ? [{ email: newAddress() }] : [{ email: newAddress() }, { phone: newNumber() }];
    for (const to of recipients) {
      const refused = await send(1_025, to);
      expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed']);
      expect((await send(1_024, to)).status).toBe(200);
    }
  },
);
