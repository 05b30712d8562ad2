/**
 * The first proof of an address claims the account (docs/specification/accounts.md 17). A stranger has signed up with
 * the owner's address, which AUTH_AUTOCONFIRM accepts, and has left every kind of foothold that the API offers.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, utcDayOf } from '#domain/day/day.ts';
import { formatContent } from '#domain/documents/wins-document.ts';
import { createMailToken, storeMailTokens } from '#server/habit/mail-tokens.ts';
import { commandBody, SLACK_SECRET, SLACK_SETTINGS, signedHeaders } from '../../../simulators/slack/server.ts';
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts';
import { createFactorClient, ok } from './factors/factor-client.ts';
import {
  newAddress,
  newNumber,
  PASSWORD,
  startAuthWorld,
  tokenHashIn,
  type AuthWorld,
  type WireBody,
} from './fixture.ts';
import { Browser } from './providers/browser.ts';
import { startOidcPeer, type OidcPeer } from './providers/oidc-peer.ts';

let peer: OidcPeer;
let world: AuthWorld;
let factors: ReturnType<typeof createFactorClient>;
beforeAll(async () => {
  peer = await startOidcPeer();
  const settings = { ...peer.settings, ...SLACK_SETTINGS, AUTH_RATE_LIMITS: 'off', SMS_COUNTRIES: '+49' };
  world = await startAuthWorld(settings, { sms: 'on' });
  factors = createFactorClient(world);
});
afterAll(async () => {
  await world.close();
  await peer.close();
});

const CLAIMED = 'Your account is yours alone now';
const TODAY = () => world.clock.now().toISOString().slice(0, 10);

const post = (path: string, body: unknown, token?: string) =>
  world.request('POST', path, { body, ...(token !== undefined && { token }) });
const data = (token: string, method = 'GET', body?: unknown) =>
  fetch(`${world.url}/rest/v1/entries?select=content`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const grant = (type: string, body: unknown) => post(`/token?grant_type=${type}`, body);

async function addPasskey(token: string): Promise<SoftwareAuthenticator> {
  const authenticator = new SoftwareAuthenticator(world.config.publicUrl);
  const { challenge_id, options } = ok(await post('/passkeys/registration/options', {}, token));
  ok(await post('/passkeys/registration/verify', { challenge_id, credential: authenticator.create(options) }, token));
  return authenticator;
}
async function signInWith(authenticator: SoftwareAuthenticator) {
  const { challenge_id, options } = ok(await post('/passkeys/authentication/options', {}));
  return post('/passkeys/authentication/verify', { challenge_id, credential: authenticator.get(options) });
}

/** Signs in at the peer with PKCE, and returns how the client exchanges the auth code. */
async function startPkce(): Promise<() => ReturnType<typeof grant>> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    provider: 'peer',
    redirect_to: `${world.url}/journal`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 's256',
  });
  const url = await new Browser().follow(`${world.url}/auth/v1/authorize?${query.toString()}`, `${world.url}/journal`);
  return () => grant('pkce', { auth_code: url.searchParams.get('code'), code_verifier: verifier });
}

type Attempt = () => Promise<{ status: number }>;

async function askInSlack(userId: string, text: string): Promise<string> {
  const body = commandBody({ userId, userName: 'mallory', text });
  const headers = signedHeaders(body, SLACK_SECRET, world.clock.now().getTime());
  const answer = await fetch(`${world.url}/functions/v1/slack`, { method: 'POST', headers, body });
  return ((await answer.json()) as { text: string }).text;
}

/**
 * Leaves three ways in that work without a session: a linked Slack user writes to the journal, a read-only link shows
 * the document with its later changes, and the token of a notification fills an empty day.
 */
async function leaveLinks({ id, access }: { id: string; access: string }): Promise<Record<string, Attempt>> {
  const user = `U${randomUUID().replaceAll('-', '').toUpperCase()}`;
  const code = /\?slack=([\w-]{43})\|/.exec(await askInSlack(user, 'link'))![1]!;
  const allowed = await post('/connect/allow', { code, days: 30, time_zone: 'Europe/Vienna' }, access);
  expect(allowed.status).toBe(204);
  const token = randomBytes(32).toString('base64url');
  await world.admin.query(
    `with closer as (update profiles set subscription_plan = 'premium' where id = $1 returning id),
          document as (insert into documents (user_id, title, first_day, last_day, content)
                       select id, 'My year', '2026-01-01', '2026-12-31', $2 from closer returning user_id, id)
     insert into document_links (user_id, document_id, token_hash, expires_at)
     select user_id, id, $3, now() + interval '7 days' from document`,
    [id, formatContent({ author: '', lines: [] }), createHash('sha256').update(token).digest()],
  );
  const tap = createMailToken(id);
  const [now, tokens] = [world.clock.now(), [{ token: tap, purpose: 'tap' as const }]];
  const service = world.database.asService('test');
  await storeMailTokens(service, { day: addDays(utcDayOf(now), -1), now, tokens });
  const attempts: Record<string, Attempt> = {
    'the token of a notification': () => fetch(`${world.url}/evening/${tap.text}?entry=0`),
    'a linked Slack user': async () => ({
      status: (await askInSlack(user, 'help')).includes('not linked') ? 403 : 200,
    }),
    'a read-only link': () => fetch(`${world.url}/s/${token}`),
  };
  for (const [foothold, attempt] of Object.entries(attempts))
    expect([foothold, (await attempt()).status]).toEqual([foothold, 200]);
  return attempts;
}

/** Returns the stranger's attempts to get in; each succeeds before the owner proves the address. */
async function settleIn(email: string): Promise<{ id: string; attempts: Record<string, Attempt> }> {
  const stranger = await world.signUpUser(email);
  const { access, id } = stranger;
  expect((await data(access, 'POST', { user_id: id, date: TODAY(), content: '<p>before</p>' })).status).toBe(201);

  const links = await leaveLinks(stranger);
  await world.admin.query(
    `insert into preferences (user_id, time_zone, remind_at, remind_by_mail, remind_by_push, digest, digest_review)
     values ($1, 'Europe/Vienna', 1080, true, true, true, true)`,
    [id],
  );
  const claims = { sub: randomUUID(), email: newAddress(), email_verified: true };
  peer.claims = claims;
  ok(
    await post(
      '/token?grant_type=id_token',
      { provider: 'peer', id_token: await peer.idToken({}), link_identity: true },
      access,
    ),
  );

  const phone = newNumber();
  ok(await world.request('PUT', '/user', { token: access, body: { phone } }));
  const code = (await world.waitForText(phone)).code!;
  ok(await post('/verify', { type: 'phone_change', phone, token: code }));

  const passkey = await addPasskey(access);
  const totp = await factors.enrollApp(access);
  const whole = await factors.passSecondStep(access, totp);
  const { codes } = ok(await post('/factors/recovery-codes', {}, whole.access_token));

  const elsewhere = newAddress();
  ok(await world.request('PUT', '/user', { token: whole.access_token, body: { email: elsewhere } }));
  const newHash = tokenHashIn(await world.waitForMailWith('Confirm your new email address', elsewhere));
  const currentHash = tokenHashIn(await world.waitForMailWith('Confirm the change of your email address', email));
  ok(await world.request('GET', '/reauthenticate', { token: whole.access_token }));
  const nonce = (await world.waitForMailWith('Your confirmation code', email)).code;
  const exchange = await startPkce();
  const registration = ok(await post('/passkeys/registration/options', {}, whole.access_token));
  const late = new SoftwareAuthenticator(world.config.publicUrl);
  ok(await post('/otp', { phone }));
  const texted = (await world.waitForText(phone, 2)).code!;

  const token = whole.access_token;
  return {
    id,
    attempts: {
      ...links,
      'the data API': () => data(token),
      'the access token': () => world.request('GET', '/user', { token }),
      'the first access token': () => data(access),
      'the refresh token': () => grant('refresh_token', { refresh_token: whole.refresh_token }),
      'the password': () => grant('password', { email, password: PASSWORD }),
      'the password with the number': () => grant('password', { phone, password: PASSWORD }),
      'the passkey': () => signInWith(passkey),
      'the linked identity': async () => {
        peer.claims = claims;
        const result = await post('/token?grant_type=id_token', { provider: 'peer', id_token: await peer.idToken({}) });
        return result.status === 200 && result.body.user.id !== id ? { status: 401 } : result;
      },
      'a texted code': () => post('/verify', { type: 'sms', phone, token: texted }),
      'the auth code of a flow': exchange,
      'a recovery code': () => post('/factors/recovery-codes/verify', { code: codes[0] }, token),
      'the link to the new address': () => post('/verify', { type: 'email_change', token_hash: newHash }),
      'the link to the current address': () => post('/verify', { type: 'email_change', token_hash: currentHash }),
      'a reauthentication code': () =>
        world.request('PUT', '/user', { token, body: { password: 'a password of the stranger', nonce } }),
      'a passkey in registration': () =>
        post(
          '/passkeys/registration/verify',
          { challenge_id: registration.challenge_id, credential: late.create(registration.options) },
          token,
        ),
    },
  };
}

const linkOf = async (subject: string, email: string) => tokenHashIn(await world.waitForMailWith(subject, email));

/** Each way to prove an address. Returns the owner's session. */
const PROOFS: Record<string, (email: string) => Promise<WireBody>> = {
  'a recovery link': async (email) => {
    await post('/recover', { email });
    return ok(await post('/verify', { type: 'recovery', token_hash: await linkOf('Reset your password', email) }));
  },
  'a recovery code': async (email) => {
    await post('/recover', { email });
    const { code } = await world.waitForMailWith('Reset your password', email);
    return ok(await post('/verify', { type: 'recovery', email, token: code }));
  },
  'a sign-in link': async (email) => {
    await post('/magiclink', { email });
    return ok(await post('/verify', { type: 'magiclink', token_hash: await linkOf('Sign in to your journal', email) }));
  },
  'a sign-in code': async (email) => {
    await post('/otp', { email });
    const { code } = await world.waitForMailWith('Sign in to your journal', email);
    return ok(await post('/verify', { type: 'email', email, token: code }));
  },
  'a link that an administrator made': async (email) => {
    const token = await world.serviceToken();
    const { hashed_token } = ok(await post('/admin/generate_link', { type: 'magiclink', email }, token));
    return ok(await post('/verify', { type: 'magiclink', token_hash: hashed_token }));
  },
  'a provider': async (email) => {
    peer.claims = { sub: randomUUID(), email, email_verified: true, name: 'Owner' };
    return ok(await grant('id_token', { provider: 'peer', id_token: await peer.idToken({}) }));
  },
  'a provider in the browser': async (email) => {
    peer.claims = { sub: randomUUID(), email, email_verified: true };
    return ok(await (await startPkce())());
  },
};

/** The codes are read from the table: their API asks for a session of the owner with a second factor. */
async function storedFootholds(userId: string): Promise<unknown> {
  const count = (table: string) => `(select count(*)::int from auth.${table} where user_id = $1)`;
  const { rows } = await world.admin.query(
    `select ${count('mfa_factors')} as factors, ${count('webauthn_credentials')} as passkeys,
            ${count('recovery_code_sets')} as sets, ${count('recovery_codes')} as codes,
            (select count(*)::int from reminder_schedule where user_id = $1 and due_at <> 'infinity') as mails,
            (select remind_by_mail or remind_by_push or digest or digest_review from preferences
              where user_id = $1) as reminds`,
    [userId],
  );
  return rows[0];
}

describe.each(Object.entries(PROOFS))('%s', (name, prove) => {
  test('claims an account that nobody has proven, with the logs in it and without a foothold', async () => {
    const email = newAddress();
    const { id, attempts } = await settleIn(email);
    const session = await prove(email);
    expect(session.user.id).toBe(id);
    expect(session.user).toMatchObject({ email, phone: '' });
    expect(session.user).not.toHaveProperty('factors');
    expect(session.user).not.toHaveProperty('new_email');
    const provider = name.startsWith('a provider') ? 'peer' : 'email';
    expect(session.user.app_metadata).toEqual({ provider, providers: [provider] });
    expect(await (await data(session.access_token)).json()).toMatchObject([
      { content: expect.stringContaining('before') },
    ]);
    for (const [foothold, attempt] of Object.entries(attempts)) {
      const { status } = await attempt();
      expect([foothold, status >= 400 && status < 500, status]).toEqual([foothold, true, status]);
    }
    expect((await data(session.access_token)).status).toBe(200);
    expect(await storedFootholds(id)).toEqual({ factors: 0, passkeys: 0, sets: 0, codes: 0, mails: 0, reminds: false });
    await world.waitForMailWith(CLAIMED, email);
  });

  test('keeps everything once the address is proven', async () => {
    const email = newAddress();
    await world.signUpUser(email);
    const first = await prove(email);
    const passkey = await addPasskey(first.access_token);
    await PROOFS['a link that an administrator made']!(email);
    ok(await signInWith(passkey));
    expect((await data(first.access_token)).status).toBe(200);
  });
});

/** Lets two requests wait for the user's row in this order, then lets them go on. */
async function raceForRow<A, B>(userId: string, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  const waiting = async (count: number) => {
    const query = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => (await world.admin.query(query)).rowCount).toBeGreaterThanOrEqual(count);
  };
  const holder = await world.admin.connect();
  try {
    await holder.query('begin');
    await holder.query('select from auth.users where id = $1 for update', [userId]);
    const a = first();
    await waiting(1);
    const b = second();
    await waiting(2);
    await holder.query('commit');
    return await Promise.all([a, b]);
  } finally {
    holder.release(true);
  }
}

describe.each(['first', 'second'] as const)('a stranger who comes %s in a race with the proof', (place) => {
  const race = async <A>(id: string, email: string, stranger: () => Promise<A>): Promise<A> => {
    await post('/recover', { email });
    const link = { type: 'recovery', token_hash: await linkOf('Reset your password', email) };
    const owner = async () => ok(await post('/verify', link));
    if (place === 'first') return (await raceForRow(id, stranger, owner))[0];
    return (await raceForRow(id, owner, stranger))[1];
  };

  test('keeps no passkey', async () => {
    const { id, email, access } = await world.signUpUser();
    const { challenge_id, options } = ok(await post('/passkeys/registration/options', {}, access));
    const authenticator = new SoftwareAuthenticator(world.config.publicUrl);
    const credential = authenticator.create(options);
    await race(id, email, () => post('/passkeys/registration/verify', { challenge_id, credential }, access));
    expect((await signInWith(authenticator)).status).toBe(400);
  });

  test('keeps no linked identity and no session', async () => {
    const { id, email, access } = await world.signUpUser();
    peer.claims = { sub: randomUUID(), email: newAddress(), email_verified: true };
    const link = { provider: 'peer', id_token: await peer.idToken({}), link_identity: true };
    ok(await post('/token?grant_type=id_token', link, access));
    const again = { provider: 'peer', id_token: await peer.idToken({}) };
    const { body } = await race(id, email, () => grant('id_token', again));
    const { rows } = await world.admin.query('select provider from auth.identities where user_id = $1', [id]);
    expect(rows).toEqual([{ provider: 'email' }]);
    if (place === 'first') expect((await data(body.access_token)).status).toBe(401);
    else expect(body.user.id).not.toBe(id);
  });

  test('keeps no second factor', async () => {
    const { id, email, access } = await world.signUpUser();
    const body = { factor_type: 'totp', friendly_name: 'late' };
    await race(id, email, () => post('/factors', body, access));
    const { rows } = await world.admin.query('select from auth.mfa_factors where user_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  test('keeps no password', async () => {
    const { id, email, access } = await world.signUpUser();
    const password = 'a password of the stranger';
    await race(id, email, () => world.request('PUT', '/user', { token: access, body: { password } }));
    expect((await grant('password', { email, password })).status).toBe(400);
  });

  test('starts no change of the address', async () => {
    const { id, email, access } = await world.signUpUser();
    await race(id, email, () => world.request('PUT', '/user', { token: access, body: { email: newAddress() } }));
    const { rows } = await world.admin.query('select new_email from auth.users where id = $1', [id]);
    expect(rows).toEqual([{ new_email: null }]);
  });

  test("does not end the owner's session", async () => {
    const { id, email, access } = await world.signUpUser();
    await race(id, email, () => world.request('POST', '/logout?scope=others', { token: access }));
    const { rowCount } = await world.admin.query('select from auth.sessions where user_id = $1', [id]);
    expect(rowCount).toBe(1);
  });

  test('changes no name', async () => {
    const { id, email, access } = await world.signUpUser();
    const { status } = await race(id, email, () =>
      world.request('PUT', '/user', { token: access, body: { data: { full_name: 'Stranger' } } }),
    );
    expect(status).toBe(place === 'first' ? 200 : 403);
  });
});

test('no change by the stranger ends the link that the owner is about to open', async () => {
  const { email, access } = await world.signUpUser();
  const passkey = await addPasskey(access);
  await post('/recover', { email });
  const link = { type: 'recovery', token_hash: await linkOf('Reset your password', email) };
  ok(await world.request('PUT', '/user', { token: access, body: { password: 'a password of the stranger' } }));
  ok(await world.request('DELETE', '/account', { token: access, body: { password: 'a password of the stranger' } }));
  const { access_token } = ok(await post('/verify', link));
  expect((await data(access_token)).status).toBe(200);
  expect((await signInWith(passkey)).status).toBe(400);
  expect((await post('/verify', link)).status).toBe(403);
});

test('the proof ends a deletion that a stranger requested, and the token that would undo a later one', async () => {
  const { id, email, access } = await world.signUpUser();
  const deleteAccount = async (token: string, password: string) =>
    ok(await world.request('DELETE', '/account', { token, body: { password } }));
  const { undo_token: strangers } = await deleteAccount(access, PASSWORD);
  const { access_token } = await PROOFS['a recovery link']!(email);
  const dueAt = async () =>
    (await world.admin.query('select deletion_due_at from auth.users where id = $1', [id])).rows[0].deletion_due_at;
  expect(await dueAt()).toBeNull();
  const password = 'a password of the owner';
  ok(await world.request('PUT', '/user', { token: access_token, body: { password } }));
  const { undo_token: owners } = await deleteAccount(access_token, password);
  expect((await post('/account/undo-deletion', { token_hash: strangers })).status).toBe(403);
  expect(await dueAt()).not.toBeNull();
  expect((await post('/account/undo-deletion', { token_hash: owners })).status).toBe(200);
  expect(await dueAt()).toBeNull();
});

test("a stranger's browser is no known device any more, and the stranger's consent to the coach is void", async () => {
  const email = newAddress();
  const signedUp = await post('/signup', { email, password: PASSWORD });
  const { id } = signedUp.body.user;
  const cookie = signedUp.headers.get('set-cookie')!.split(';')[0]!;
  await world.admin.query(
    'insert into public.profiles (id, ai_consent) values ($1, true) on conflict (id) do update set ai_consent = true',
    [id],
  );
  const { access_token } = await PROOFS['a recovery link']!(email);
  const profile = await world.admin.query('select ai_consent from public.profiles where id = $1', [id]);
  expect(profile.rows).toEqual([{ ai_consent: false }]);
  const password = 'a password of the owner';
  ok(await world.request('PUT', '/user', { token: access_token, body: { password } }));
  const stolen = await world.request('POST', '/token?grant_type=password', {
    body: { email, password },
    headers: { Cookie: cookie },
  });
  ok(stolen);
  await world.waitForSignInNotices(email, 1);
  const own = stolen.headers.get('set-cookie')!.split(';')[0]!;
  ok(
    await world.request('POST', '/token?grant_type=password', { body: { email, password }, headers: { Cookie: own } }),
  );
  await world.waitForSignInNotices(email, 1);
});

test('the exchange of an auth code waits for the user before it locks the flow', async () => {
  const { id, email } = await world.signUpUser();
  await world.proveAddress(email);
  peer.claims = { sub: randomUUID(), email, email_verified: true };
  const exchange = await startPkce();
  const { code } = await raceForRow(id, exchange, async () => {
    const held = await world.admin.connect();
    try {
      await held.query("set lock_timeout = '5s'");
      // Only a flow that nobody has locked can be locked without waiting.
      await held.query('select from auth.flows where user_id = $1 for update nowait', [id]);
      await held.query('select from auth.users where id = $1 for update', [id]);
    } finally {
      held.release(true);
    }
    return { code: 'unlocked' };
  }).then(([, result]) => result);
  expect(code).toBe('unlocked');
});

test('the confirmation of a sign-up proves the address and keeps the password', async () => {
  const email = newAddress();
  await world.signUpUser(email);
  await world.admin.query('update auth.users set email_confirmed_at = null, last_sign_in_at = null where email = $1', [
    email,
  ]);
  await post('/resend', { type: 'signup', email });
  ok(await post('/verify', { type: 'signup', token_hash: await linkOf('Confirm your email address', email) }));
  ok(await grant('password', { email, password: PASSWORD }));
  await PROOFS['a sign-in link']!(email);
  ok(await grant('password', { email, password: PASSWORD }));
});

test('a provider that has not verified the address claims nothing', async () => {
  const { email, access } = await world.signUpUser();
  peer.claims = { sub: randomUUID(), email, email_verified: false };
  const { body } = await grant('id_token', { provider: 'peer', id_token: await peer.idToken({}) });
  expect(body.code).toBe('provider_email_needs_verification');
  expect((await data(access)).status).toBe(200);
});

test('an administrator who confirms an address vouches for it', async () => {
  const [email, token] = [newAddress(), await world.serviceToken()];
  ok(await post('/admin/users', { email, password: PASSWORD, email_confirm: true }, token));
  await PROOFS['a sign-in link']!(email);
  ok(await grant('password', { email, password: PASSWORD }));
});
