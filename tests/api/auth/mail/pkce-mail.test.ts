/** PKCE flows that continue in a mail (docs/specification/api.md 15 and 24). */
import { createHash, randomBytes } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { purgeExpired } from '#server/jobs/purges.ts';
import { parseChallenge } from '#server/auth/sessions/flows.ts';
import { AuthError } from '#server/auth/http/errors.ts';
import { unicodeText } from '../../../support/unicode-text.ts';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { setUpAuthWorld, PASSWORD, newAddress } from '../fixture.ts';

const world = setUpAuthWorld({ AUTH_AUTOCONFIRM: 'off' });
const APP = 'http://127.0.0.1:4100/welcome?from=mail';

/** The real client with PKCE, which keeps verifiers and session in memory. */
function pkceClient() {
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  const auth = { flowType: 'pkce', storage, autoRefreshToken: false, detectSessionInUrl: false } as const;
  return createClient(world.url, world.config.publishableKey, { auth });
}

type Mail = { links: string[]; code: string | null };
const linkOf = (mail: Mail): URL => new URL(mail.links[0]!);

/** Presses the button on the page behind the link, and returns where it leads. */
async function press(mail: Mail): Promise<URL> {
  const link = linkOf(mail);
  const page = await world.request('GET', link.href.slice(`${world.config.publicUrl}/auth/v1`.length));
  expect(page.status).toBe(200);
  const field = (pattern: RegExp) => pattern.exec(page.body)![1]!.replaceAll('&amp;', '&');
  const form = new URLSearchParams({
    type: field(/name="type" value="([^"]*)"/),
    token: field(/name="token" value="([^"]*)"/),
  });
  const pressed = await world.request('POST', field(/action="([^"]*)"/).replace('/auth/v1', ''), {
    body: form.toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  expect(pressed.status).toBe(303);
  expect(pressed.headers.get('referrer-policy')).toBe('no-referrer');
  return new URL(pressed.headers.get('location')!);
}

const codeIn = (target: URL): string => {
  expect(target.hash).toBe('');
  return target.searchParams.get('code')!;
};
const methodsIn = (accessToken: string): unknown[] =>
  JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).amr.map(
    ({ method }: { method: string }) => method,
  );

async function createConfirmedAccount(): Promise<string> {
  const email = newAddress();
  await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
  const { code } = await world.waitForMail(email);
  expect((await world.request('POST', '/verify', { body: { type: 'signup', email, token: code } })).status).toBe(200);
  return email;
}

/** Each flow requests a mail with the real client. Resolves with the address and its number of mails. */
const FLOWS = {
  'sign-up': async (client: ReturnType<typeof pkceClient>, emailRedirectTo: string) => {
    const email = newAddress();
    const { error } = await client.auth.signUp({ email, password: PASSWORD, options: { emailRedirectTo } });
    return { email, count: 1, error, method: 'email/signup', type: 'signup' };
  },
  'code for a new address': async (client: ReturnType<typeof pkceClient>, emailRedirectTo: string) => {
    const email = newAddress();
    const { error } = await client.auth.signInWithOtp({ email, options: { emailRedirectTo } });
    return { email, count: 1, error, method: 'email/signup', type: 'signup' };
  },
  'magic link': async (client: ReturnType<typeof pkceClient>, emailRedirectTo: string) => {
    const email = await createConfirmedAccount();
    const { error } = await client.auth.signInWithOtp({ email, options: { emailRedirectTo } });
    return { email, count: 2, error, method: 'magiclink', type: 'magiclink' };
  },
  recovery: async (client: ReturnType<typeof pkceClient>, redirectTo: string) => {
    const email = await createConfirmedAccount();
    const { error } = await client.auth.resetPasswordForEmail(email, { redirectTo });
    return { email, count: 2, error, method: 'recovery', type: 'recovery' };
  },
  'repeated confirmation': async (client: ReturnType<typeof pkceClient>, emailRedirectTo: string) => {
    const email = newAddress();
    await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
    await world.waitForMail(email);
    const { error } = await client.auth.resend({ type: 'signup', email, options: { emailRedirectTo } });
    return { email, count: 2, error, method: 'email/signup', type: 'signup' };
  },
};

describe.each(Object.entries(FLOWS))('the link of a %s', (name, ask) => {
  test('redirects with a code, which the client exchanges for a session once', async () => {
    const client = pkceClient();
    const events: string[] = [];
    client.auth.onAuthStateChange((event) => void events.push(event));
    const { email, count, error, method, type } = await ask(client, APP);
    expect(error).toBeNull();
    const mail = await world.waitForMail(email, count);
    const link = linkOf(mail);
    expect([link.pathname, link.searchParams.get('type')]).toEqual(['/auth/v1/verify', type]);
    expect(link.searchParams.get('token')).toMatch(/^pkce_[\w-]{43}$/);

    const target = await press(mail);
    expect([target.origin + target.pathname, target.searchParams.get('from')]).toEqual([
      'http://127.0.0.1:4100/welcome',
      'mail',
    ]);
    const code = codeIn(target);
    const { data, error: failure } = await client.auth.exchangeCodeForSession(code);
    expect(failure).toBeNull();
    expect(data.user?.email).toBe(email);
    expect(methodsIn(data.session!.access_token)).toEqual([method]);
    expect(events.includes('PASSWORD_RECOVERY')).toBe(name === 'recovery');
    const again = await world.request('POST', '/token?grant_type=pkce', {
      body: { auth_code: code, code_verifier: 'x'.repeat(43) },
    });
    expect(again.body.code).toBe('flow_state_not_found');
  });

  test('leads back to our own pages with a code as well', async () => {
    const client = pkceClient();
    const { email, count } = await ask(client, `${world.config.publicUrl}/journal`);
    const target = await press(await world.waitForMail(email, count));
    expect(target.origin + target.pathname).toBe(`${world.config.publicUrl}/journal`);
    expect((await client.auth.exchangeCodeForSession(codeIn(target))).data.user?.email).toBe(email);
  });

  test('tells a PKCE client of a used link in query and fragment', async () => {
    const { email, count } = await ask(pkceClient(), `${APP}&code=forged&error=forged`);
    const mail = await world.waitForMail(email, count);
    expect((await press(mail)).searchParams.getAll('code')).not.toContain('forged');
    const target = await press(mail);
    const expected = {
      error: 'access_denied',
      error_code: 'otp_expired',
      error_description: 'Email link is invalid or has expired',
    };
    expect(Object.fromEntries(target.searchParams)).toEqual({ from: 'mail', ...expected });
    expect(Object.fromEntries(new URLSearchParams(target.hash.slice(1)))).toEqual({ ...expected, sb: '' });
  });
});

const newChallenge = () => {
  const verifier = randomBytes(56).toString('hex');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge: { code_challenge, code_challenge_method: 's256' } };
};
const exchange = (auth_code: string, code_verifier: string) =>
  world.request('POST', '/token?grant_type=pkce', { body: { auth_code, code_verifier } });

test('the code of a PKCE mail, typed in, and its token_hash give a session at once', async () => {
  const email = await createConfirmedAccount();
  for (const count of [2, 3]) {
    await world.request('POST', '/otp', { body: { email, ...newChallenge().challenge } });
    const mail = await world.waitForMail(email, count);
    const body =
      count === 2
        ? { type: 'email', email, token: mail.code }
        : { type: 'magiclink', token_hash: linkOf(mail).searchParams.get('token') };
    const verified = await world.request('POST', '/verify', { body });
    expect([verified.status, methodsIn(verified.body.access_token)]).toEqual([200, ['otp']]);
  }
});

test('an auth code needs the verifier of its own flow, and expires after five minutes', async () => {
  const email = await createConfirmedAccount();
  const { verifier, challenge } = newChallenge();
  await world.request('POST', '/otp', { body: { email, ...challenge } });
  const code = codeIn(await press(await world.waitForMail(email, 2)));
  expect((await exchange(code, newChallenge().verifier)).body.code).toBe('bad_code_verifier');
  world.clock.advance(300_000);
  expect((await exchange(code, verifier)).body.code).toBe('flow_state_expired');
});

test.each([
  ['a new password', 'PUT', '/user', { password: 'quite another' }],
  ['a deletion', 'DELETE', '/account', { password: PASSWORD }],
] as const)('%s ends the auth code of a link that was opened before', async (_name, method, path, body) => {
  const client = pkceClient();
  const email = await createConfirmedAccount();
  await client.auth.signInWithOtp({ email });
  const code = codeIn(await press(await world.waitForMail(email, 2)));
  const { body: owner } = await world.request('POST', '/token?grant_type=password', {
    body: { email, password: PASSWORD },
  });
  expect((await world.request(method, path, { token: owner.access_token, body })).status).toBe(200);
  expect((await client.auth.exchangeCodeForSession(code)).error?.code).toBe('flow_state_not_found');
});

test('a mailed link works for an hour although its flow began with it', async () => {
  const email = await createConfirmedAccount();
  const { verifier, challenge } = newChallenge();
  await world.request('POST', '/otp', { body: { email, ...challenge } });
  const mail = await world.waitForMail(email, 2);
  world.clock.advance(59 * 60_000);
  await purgeExpired(world.database.asService('purge'), world.clock.now(), new AbortController().signal);
  expect((await exchange(codeIn(await press(mail)), verifier)).status).toBe(200);
});

test('an earlier link belongs to its own flow, not to that of a stranger who asked later', async () => {
  const email = await createConfirmedAccount();
  const [own, foreign] = [newChallenge(), newChallenge()];
  await world.request('POST', '/otp', { body: { email, ...own.challenge } });
  const mail = await world.waitForMail(email, 2);
  await world.request('POST', '/otp', { body: { email, ...foreign.challenge } });
  await world.waitForMail(email, 3);
  const code = codeIn(await press(mail));
  expect((await exchange(code, foreign.verifier)).body.code).toBe('bad_code_verifier');
  expect((await exchange(code, own.verifier)).body.user.email).toBe(email);
});

test('an earlier link of the implicit flow still carries tokens after a stranger asked with PKCE', async () => {
  const email = await createConfirmedAccount();
  await world.request('POST', `/otp?redirect_to=${encodeURIComponent(APP)}`, { body: { email } });
  const mail = await world.waitForMail(email, 2);
  await world.request('POST', '/otp', { body: { email, ...newChallenge().challenge } });
  await world.waitForMail(email, 3);
  expect(new URLSearchParams((await press(mail)).hash.slice(1)).get('access_token')).toBeTruthy();
});

test('an address change by PKCE says that the other link is open, and then returns a code', async () => {
  const email = await createConfirmedAccount();
  const client = pkceClient();
  await client.auth.signInWithPassword({ email, password: PASSWORD });
  const newEmail = newAddress();
  const { error } = await client.auth.updateUser({ email: newEmail }, { emailRedirectTo: APP });
  expect(error).toBeNull();
  const [toNew, toOld] = [await world.waitForMail(newEmail), await world.waitForMail(email, 2)];
  const first = await press(toNew);
  const message = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';
  expect(first.searchParams.get('message')).toBe(message);
  expect(Object.fromEntries(new URLSearchParams(first.hash.slice(1)))).toEqual({ message, sb: '' });
  const { data } = await client.auth.exchangeCodeForSession(codeIn(await press(toOld)));
  expect(data.user).toMatchObject({ email: newEmail });
  expect(methodsIn(data.session!.access_token)).toEqual(['email_change']);
});

test.each([
  ['/signup', { password: PASSWORD }],
  ['/otp', {}],
  ['/magiclink', {}],
  ['/recover', {}],
  ['/resend', { type: 'signup' }],
  ['/resend', { type: 'email_change' }],
])('POST %s rejects a malformed challenge for every address', async (path, fields) => {
  const known = await createConfirmedAccount();
  for (const email of [known, newAddress()]) {
    for (const [challenge, message] of [
      [{ code_challenge_method: 's256' }, 'PKCE flow requires code_challenge_method and code_challenge'],
      [
        { code_challenge: 'x'.repeat(42), code_challenge_method: 's256' },
        'code challenge has to be between 43 and 128 characters',
      ],
      [
        { code_challenge: '='.repeat(43), code_challenge_method: 'plain' },
        'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
      ],
    ] as const) {
      const { status, body } = await world.request('POST', path, { body: { email, ...fields, ...challenge } });
      expect([status, body]).toEqual([400, { code: 'validation_failed', message }]);
    }
  }
});

test('a challenge is taken as it is, or refused with a typed error', () => {
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '.', '_', '~'), minLength: 40, maxLength: 132 }),
    unicodeText({ minLength: 40, maxLength: 132 }),
  );
  const method = fc.oneof(fc.constantFrom('', 's256', 'S256', 'plain', 'Plain'), fc.string());
  fc.assert(
    fc.property(value, method, (given, name) => {
      try {
        const challenge = parseChallenge(given, name);
        if (challenge === null) expect([given, name]).toEqual(['', '']);
        else {
          expect(challenge).toEqual({ value: given, method: name.toLowerCase() });
          expect(given).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(AuthError);
        expect((error as AuthError).code).toBe('validation_failed');
      }
    }),
  );
});

test('the button of any link leads to an allowed address, with no field that the link forged', async () => {
  const home = new URL(world.config.publicUrl).origin;
  const base = fc.constantFrom(home, 'http://127.0.0.1:4100', 'https://evil.example', 'javascript:alert(1)//', '//x');
  const query = fc
    .dictionary(fc.constantFrom('code', 'error', 'message', 'error_code', 'from'), fc.string())
    .map((fields) => new URLSearchParams(fields).toString());
  const suffix = fc.oneof(
    query.map((text) => `/?${text}`),
    fc.string(),
    fc.constant('/#access_token=forged'),
  );
  const token = fc.oneof(fc.string({ minLength: 1 }), fc.constant(`pkce_${'x'.repeat(43)}`));
  await fc.assert(
    fc.asyncProperty(base, suffix, token, async (origin, rest, link) => {
      const target = encodeURIComponent((origin + rest).toWellFormed());
      const body = new URLSearchParams({ type: 'magiclink', token: link.toWellFormed() }).toString();
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const { status, headers: answered } = await world.request('POST', `/verify/continue?redirect_to=${target}`, {
        body,
        headers,
      });
      if (status === 400) return;
      expect(status).toBe(303);
      const location = new URL(answered.get('location')!);
      // A server on loopback allows redirects to any port of the machine, also `http://127.0.0.1:4100` and port 0.
      expect([home, 'http://127.0.0.1']).toContain(location.origin.replace(/^(http:\/\/127\.0\.0\.1):\d+$/, '$1'));
      expect(new URLSearchParams(location.hash.slice(1)).get('error_code')).toBe('otp_expired');
      expect(location.hash).not.toContain('forged');
      if (link.startsWith('pkce_')) expect(location.searchParams.getAll('error_code')).toEqual(['otp_expired']);
    }),
    { numRuns: fuzzBudget(100) },
  );
});
