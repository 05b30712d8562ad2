/**
 * A user's own sessions, the deletion of the account and its undoing, and the archive (docs/specification/wire.md 34,
 * docs/specification/accounts.md 12).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, dayLabel, latestToday } from '#domain/day/day.ts';
import { jsonEntriesOf, readJson } from '#domain/export/formats/json-format.ts';
import { createLog } from '#server/log.ts';
import { deleteAccount } from '#server/auth/accounts/delete-account.ts';
import { deleteDueAccounts } from '#server/auth/own-account/delete-accounts.ts';
import { createPayments } from '#server/payments/payments.ts';
import { PASSWORD, tokenHashIn, newAddress, startAuthWorld } from '../auth/fixture.ts';
import type { AuthWorld, WireBody } from '../auth/fixture.ts';
import { findMarks, findPersonalTables, markPersonalColumns } from './personal-data.ts';

const HOUR_MS = 3_600_000;
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

let world: AuthWorld;
beforeAll(async () => {
  world = await startAuthWorld();
});
afterAll(() => world.close());

type SignedUp = Awaited<ReturnType<AuthWorld['signUpUser']>>;

const signIn = (email: string, headers = {}) =>
  world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD }, headers });
const remove = (token: string, body: object = { password: PASSWORD }) =>
  world.request('DELETE', '/account', { token, body });
const undo = (body: object) => world.request('POST', '/account/undo-deletion', { body });
const status = async (token: string): Promise<number> => (await world.request('GET', '/user', { token })).status;
const readEntries = async (token: string): Promise<number> =>
  (await fetch(`${world.url}/rest/v1/entries?select=date`, { headers: { Authorization: `Bearer ${token}` } })).status;
const rows = async <T>(text: string, values: unknown[]): Promise<T[]> =>
  (await world.admin.query(text, values)).rows as T[];
const eventsOf = async (id: string): Promise<string[]> =>
  (await rows<{ event: string }>('select event from auth.audit_log where user_id = $1 order by id', [id])).map(
    ({ event }) => event,
  );
const dueAtOf = async (id: string): Promise<Date | null> =>
  (await rows<{ at: Date | null }>('select deletion_due_at as at from auth.users where id = $1', [id]))[0]!.at;
const deleteDue = (): Promise<number> =>
  deleteDueAccounts(
    {
      ...{ database: world.database, clock: world.clock, log: createLog('error') },
      mailer: { send: (mail) => void sentByJob.push(mail.to) },
      findRateLimitKeys: () => [],
    },
    new AbortController().signal,
  );
const sentByJob: string[] = [];

describe('GET /sessions', () => {
  test("lists the user's own sessions with device and times, the current one first", async () => {
    const ana = await world.signUpUser();
    await world.signUpUser();
    world.clock.advance(60_000);
    const { body: second } = await signIn(ana.email, { 'User-Agent': CHROME });
    world.clock.advance(60_000);
    const { body, headers, status: code } = await world.request('GET', '/sessions', { token: ana.access });
    expect(code).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.sessions).toEqual([
      expect.objectContaining({ current: true, aal: 'aal1', device: 'An app' }),
      expect.objectContaining({ current: false, aal: 'aal1', device: 'Chrome on Windows' }),
    ]);
    const [first, other] = body.sessions;
    expect(Object.keys(other)).toEqual(['id', 'device', 'created_at', 'last_seen_at', 'current', 'aal']);
    expect(other.last_seen_at).toBe(other.created_at);
    expect(Date.parse(other.created_at) - Date.parse(first.created_at)).toBeGreaterThanOrEqual(60_000);

    const renewal = { body: { refresh_token: second.refresh_token } };
    const { body: renewed } = await world.request('POST', '/token?grant_type=refresh_token', renewal);
    const after = await world.request('GET', '/sessions', { token: renewed.access_token });
    expect(after.body.sessions[0]).toMatchObject({ id: other.id, current: true });
    expect(Date.parse(after.body.sessions[0].last_seen_at)).toBeGreaterThan(Date.parse(other.last_seen_at));
  });

  test('needs a session', async () => {
    expect(await world.request('GET', '/sessions')).toMatchObject({ status: 401, body: { code: 'no_authorization' } });
  });
});

describe('DELETE /sessions/{id}', () => {
  const listSessions = async (token: string): Promise<WireBody[]> =>
    (await world.request('GET', '/sessions', { token })).body.sessions;

  test('ends one session at once and leaves the others', async () => {
    const ana = await world.signUpUser();
    const { body: other } = await signIn(ana.email);
    const [, session] = await listSessions(ana.access);
    // Lets /rest/v1 cache that the session exists, which must not delay its end below.
    expect(await readEntries(other.access_token)).toBe(200);
    expect((await world.request('DELETE', `/sessions/${session.id}`, { token: ana.access })).status).toBe(204);
    expect(await readEntries(other.access_token)).toBe(401);
    expect(await status(other.access_token)).toBe(403);
    expect(await status(ana.access)).toBe(200);
    expect(await listSessions(ana.access)).toHaveLength(1);
    expect(await eventsOf(ana.id)).toContain('signed_out');
  });

  test("answers 404 for another user's session, an unknown one and a malformed id", async () => {
    const [ana, ben] = await Promise.all([world.signUpUser(), world.signUpUser()]);
    const [session] = await listSessions(ben.access);
    for (const id of [session.id, randomUUID(), 'x', "'"]) {
      expect(await world.request('DELETE', `/sessions/${id}`, { token: ana.access }), id).toMatchObject({
        status: 404,
        body: { code: 'not_found', message: 'There is no such session' },
      });
    }
    expect(await status(ben.access)).toBe(200);
  });

  test('logout with scope others ends all but the current session', async () => {
    const ana = await world.signUpUser();
    await Promise.all([signIn(ana.email), signIn(ana.email)]);
    expect((await world.request('POST', '/logout?scope=others', { token: ana.access })).status).toBe(204);
    expect(await listSessions(ana.access)).toMatchObject([{ current: true }]);
  });
});

describe('GET /account', () => {
  const proofOf = async (token: string): Promise<string> =>
    (await world.request('GET', '/account', { token })).body.required_proof;
  const setUser = (id: string, change: string) =>
    world.admin.query(`update auth.users set ${change} where id = $1`, [id]);
  const setAmr = (id: string, method: string, minutesAgo: number, aal = 'aal1') =>
    world.admin.query('update auth.sessions set amr = $2, aal = $3 where user_id = $1', [
      id,
      JSON.stringify([{ method, timestamp: Math.floor(world.clock.now().getTime() / 1000) - minutesAgo * 60 }]),
      aal,
    ]);

  test('tells whether the account has a password', async () => {
    const { id, access } = await world.signUpUser();
    const read = async () => (await world.request('GET', '/account', { token: access })).body;
    expect(await read()).toEqual({ required_proof: 'password', has_password: true, address_change: null });
    await setUser(id, 'password_hash = null');
    expect(await read()).toMatchObject({ has_password: false });
  });

  test('says what the user has to prove', async () => {
    const { id, access } = await world.signUpUser();
    expect(await proofOf(access)).toBe('password');
    await setAmr(id, 'totp', 9, 'aal2');
    expect(await proofOf(access)).toBe('none');
    await setAmr(id, 'totp', 11, 'aal2');
    expect(await proofOf(access)).toBe('password');
    await setUser(id, 'password_hash = null');
    expect(await proofOf(access)).toBe('code');
    await setAmr(id, 'oauth', 9);
    expect(await proofOf(access)).toBe('none');
    await setAmr(id, 'oauth', 11);
    await setUser(id, 'email_confirmed_at = null');
    expect(await proofOf(access)).toBe('sign_in');
    await setUser(id, 'is_anonymous = true');
    expect(await proofOf(access)).toBe('none');
  });

  test('asks for the second step of an account that has one, also with the password', async () => {
    const { id, access } = await world.signUpUser();
    await world.admin.query(
      `insert into auth.mfa_factors (user_id, factor_type, status) values ($1, 'totp', 'verified')`,
      [id],
    );
    expect(await proofOf(access)).toBe('second_step');
    expect(await remove(access)).toMatchObject({ status: 403, body: { code: 'insufficient_aal' } });
    await setAmr(id, 'totp', 0, 'aal2');
    expect(await remove(access, {})).toMatchObject({ status: 200 });
  });
});

describe('DELETE /account', () => {
  test('marks the account, ends every session and mails a link to undo it', async () => {
    const ana = await world.signUpUser();
    const { body: other } = await signIn(ana.email);
    const { status: code, body } = await remove(ana.access);
    expect(code, JSON.stringify(body)).toBe(200);
    expect(Object.keys(body)).toEqual(['deletion_due_at', 'undo_token']);
    const dueIn = Date.parse(body.deletion_due_at) - world.clock.now().getTime();
    expect(Math.abs(dueIn - HOUR_MS)).toBeLessThan(5_000);
    expect(await dueAtOf(ana.id)).toEqual(new Date(body.deletion_due_at));
    expect([await status(ana.access), await status(other.access_token)]).toEqual([403, 403]);
    const renewal = { body: { refresh_token: ana.refresh } };
    expect((await world.request('POST', '/token?grant_type=refresh_token', renewal)).status).toBe(400);
    expect((await eventsOf(ana.id)).at(-1)).toBe('deletion_requested');

    const mail = await world.mailTo(ana.email);
    expect(mail.subject).toBe('Your account will be deleted in one hour');
    expect(mail.links[0]).toBe(`${world.config.publicUrl}/auth/v1/account/undo-deletion?token_hash=${body.undo_token}`);
  });

  test('refuses a wrong password, a missing proof and a body that is no object', async () => {
    const { id, access } = await world.signUpUser();
    expect(await remove(access, { password: 'wrong horse' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_credentials' },
    });
    expect(await remove(access, {})).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    expect(await remove(access, { nonce: '000000' })).toMatchObject({
      status: 422,
      body: { code: 'reauthentication_not_valid' },
    });
    const bad = await world.request('DELETE', '/account', { token: access, body: '[]' });
    expect(bad).toMatchObject({ status: 400, body: { code: 'bad_json' } });
    expect(await world.request('DELETE', '/account', { body: { password: PASSWORD } })).toMatchObject({ status: 401 });
    expect(await dueAtOf(id)).toBeNull();
    expect(await status(access)).toBe(200);
  });

  test('takes the code of a mail once, from an account without a password', async () => {
    const ana = await world.signUpUser();
    await world.admin.query('update auth.users set password_hash = null where id = $1', [ana.id]);
    world.clock.advance(11 * 60_000);
    expect(await remove(ana.access)).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    await world.request('GET', '/reauthenticate', { token: ana.access });
    const { code } = await world.mailTo(ana.email);
    const other = await world.signUpUser();
    expect(await remove(other.access, { nonce: code })).toMatchObject({ status: 422 });
    const answers = await Promise.all([remove(ana.access, { nonce: code }), remove(ana.access, { nonce: code })]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, expect.any(Number)]);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  test('lets one of several concurrent requests through', async () => {
    const { email, access } = await world.signUpUser();
    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(access)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const { status: code } of answers) expect([200, 403]).toContain(code);
    await world.mailTo(email);
    expect(world.mailbox.messagesTo(email)).toHaveLength(1);
  });
});

describe('a requested deletion is undone', () => {
  const leaving = async (): Promise<SignedUp & { token: string }> => {
    const user = await world.signUpUser();
    const { body } = await remove(user.access);
    return { ...user, token: body.undo_token };
  };

  test('without links that were mailed before it', async () => {
    const ana = await world.signUpUser();
    await world.request('POST', '/recover', { body: { email: ana.email } });
    const mail = await world.mailWith('Reset your password', ana.email);
    const { body } = await remove(ana.access);
    expect((await undo({ token_hash: body.undo_token })).status).toBe(200);
    const link = { type: 'recovery', token_hash: tokenHashIn(mail) };
    expect((await world.request('POST', '/verify', { body: link })).body.code).toBe('otp_expired');
  });

  test('by the link once, without signing in', async () => {
    const ana = await leaving();
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 200, body: {} });
    expect(await dueAtOf(ana.id)).toBeNull();
    expect(await status(ana.access)).toBe(403);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403, body: { code: 'otp_expired' } });
    expect((await eventsOf(ana.id)).at(-1)).toBe('deletion_undone');
    await world.mailWith('Your account will not be deleted', ana.email);
    world.clock.advance(2 * HOUR_MS);
    await deleteDue();
    expect((await signIn(ana.email)).status).toBe(200);
  });

  test('by the button of the page, which uses nothing up while it is only shown', async () => {
    const ana = await leaving();
    const path = `/account/undo-deletion?token_hash=${ana.token}`;
    for (const method of ['HEAD', 'GET', 'GET']) {
      expect((await world.request(method, path)).status).toBe(200);
    }
    expect(await dueAtOf(ana.id)).not.toBeNull();
    const page = await world.request('GET', path);
    expect(page.body).toContain(`value="${ana.token}"`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const press = () =>
      world.request('POST', path, {
        body: new URLSearchParams({ token_hash: ana.token }).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
    const done = await press();
    expect([done.status, done.body.includes('Your account stays')]).toEqual([200, true]);
    expect(await dueAtOf(ana.id)).toBeNull();
    const again = await press();
    expect([again.status, again.body.includes('This link no longer works')]).toEqual([403, true]);
  });

  test('by signing in, which says so once and voids the link', async () => {
    const ana = await leaving();
    const { status: code, body } = await signIn(ana.email);
    expect([code, body.deletion_undone]).toEqual([200, true]);
    expect(await dueAtOf(ana.id)).toBeNull();
    expect((await eventsOf(ana.id)).slice(-2).toSorted()).toEqual(['deletion_undone', 'signed_in']);
    await world.mailWith('Your account will not be deleted', ana.email);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403 });
    expect((await signIn(ana.email)).body).not.toHaveProperty('deletion_undone');
  });

  test('by the recovery of the password', async () => {
    const ana = await leaving();
    await world.request('POST', '/recover', { body: { email: ana.email } });
    const { code: token } = await world.mailWith('Reset your password', ana.email);
    const { body } = await world.request('POST', '/verify', { body: { type: 'recovery', email: ana.email, token } });
    expect(body.deletion_undone).toBe(true);
    expect(await dueAtOf(ana.id)).toBeNull();
  });

  test('not by a foreign, an empty or an expired token, nor by the wrong password', async () => {
    const ana = await leaving();
    for (const token_hash of ['', 'x', `${ana.token}x`, ana.token.toUpperCase()]) {
      expect(await undo({ token_hash })).toMatchObject({ status: 403 });
    }
    expect(await world.request('POST', '/verify', { body: { type: 'recovery', token_hash: ana.token } })).toMatchObject(
      {
        status: 403,
      },
    );
    await world.request('POST', '/token?grant_type=password', { body: { email: ana.email, password: 'wrong horse' } });
    expect(await dueAtOf(ana.id)).not.toBeNull();
    world.clock.advance(HOUR_MS + 1_000);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403 });
  });

  test('by one of two concurrent ways, and the account stays', async () => {
    const ana = await leaving();
    const [link, signedIn] = await Promise.all([undo({ token_hash: ana.token }), signIn(ana.email)]);
    expect([200, 403, 503]).toContain(link.status);
    expect(signedIn.status).toBe(200);
    expect(await dueAtOf(ana.id)).toBeNull();
    const undone = (await eventsOf(ana.id)).filter((event) => event === 'deletion_undone');
    expect(undone).toHaveLength(1);
  });
});

/** Tables without a column that leads to a user. `rate_limits` and `payment_events` name users in their texts. */
const TABLES_WITHOUT_USER = [
  'auth.rate_limits',
  'auth.signing_keys',
  'auth.sso_domains',
  'auth.sso_providers',
  'auth.used_id_tokens',
  'auth.web3_nonces',
  'public.coach_reader',
  'public.payment_events',
];
/** Tables whose rows outlive the account. They hold figures and kinds of events, and a random id or null as the user. */
const KEPT_TABLE = /^(auth\.audit_log|public\.(payment|plan_change|plan_use)\w*)\./;
const KEPT_TEXTS = [
  'auth.audit_log.event',
  'public.payment_changes.status',
  'public.payment_ledger.currency',
  'public.payment_ledger.provider_ref',
  'public.payments.order_id',
  'public.payments.capture_id',
  'public.plan_changes.reason',
];
/** Columns whose constraints allow only fixed texts, and the country, which is set to null. */
const KEPT_CHOICES = [
  'auth.audit_log.actor',
  'public.payment_ledger.kind',
  'public.payments.provider',
  'public.payments.currency',
  'public.payments.country',
  'public.payments.status',
  'public.plan_changes.plan',
  'public.plan_uses.kind',
];

describe('the deletion of an account by a job', () => {
  test('leaves an account whose deletion was undone meanwhile', async () => {
    const { id } = await world.signUpUser();
    const deletion = { userId: id, actor: 'job', now: world.clock.now(), onlyIf: 'due' } as const;
    expect(await deleteAccount(world.database, deletion)).toBeNull();
    expect(await dueAtOf(id)).toBeNull();
  });

  test('leaves an account that became a permanent one meanwhile', async () => {
    const { id } = await world.signUpUser();
    const deletion = { userId: id, actor: 'job', now: world.clock.now(), onlyIf: 'anonymous' } as const;
    expect(await deleteAccount(world.database, deletion)).toBeNull();
    expect(await rows('select id from auth.users where id = $1', [id])).toHaveLength(1);
  });
});

describe('the job delete-accounts', () => {
  test('deletes an account an hour after the request and tells its owner', async () => {
    const [ana, ben] = await Promise.all([world.signUpUser(), world.signUpUser()]);
    await remove(ana.access);
    world.clock.advance(HOUR_MS - 60_000);
    await deleteDue();
    expect(await dueAtOf(ana.id)).not.toBeNull();
    world.clock.advance(60_000);
    await deleteDue();
    expect(await rows('select id from auth.users where id = any ($1)', [[ana.id, ben.id]])).toEqual([{ id: ben.id }]);
    expect(sentByJob).toContain(ana.email);
    expect(await signIn(ana.email)).toMatchObject({ status: 400, body: { code: 'invalid_credentials' } });
    expect((await world.signUpUser(ana.email)).id).not.toBe(ana.id);
  });

  test('leaves no trace of the user in any table, and a ledger that still balances', async () => {
    const ana = await world.signUpUser();
    const paymentId = await fillEveryTable(ana);
    const before = await ledger();
    expect(await findTraces(ana)).toEqual(
      expect.arrayContaining(['auth.users', 'auth.audit_log', 'public.entries', 'public.payments', 'public.plan_uses']),
    );
    await remove(ana.access);
    world.clock.advance(HOUR_MS);
    await deleteDue();
    expect(await findTraces(ana)).toEqual([]);
    expect(await ledger()).toEqual(before);
    const [payment] = await rows<Record<string, unknown>>('select * from payments where id = $1', [paymentId]);
    expect(payment).toMatchObject({ amount_minor: 2400, status: 'completed', country: null, approval_url: null });
    const changes = await rows<{ user_id: string }>('select user_id from plan_changes where payment_id = $1', [
      paymentId,
    ]);
    expect(changes).toEqual([{ user_id: payment!['user_id'] }]);
  });

  test('leaves no text of the user in any column, as the catalogue of the database lists them', async () => {
    const ana = await world.signUpUser();
    await fillEveryTable(ana);
    const { conditions, impersonal } = await findPersonalTables(world.admin);
    const empty: string[] = [];
    for (const [table, condition] of conditions) {
      if ((await rows(`select 1 from ${table} where ${condition}`, [ana.id])).length === 0) empty.push(table);
    }
    expect(empty, 'fillEveryTable leaves these tables empty').toEqual([]);
    expect(impersonal).toEqual(TABLES_WITHOUT_USER);

    const mark = `mark${randomUUID().replaceAll('-', '')}`;
    const { marked, refused } = await markPersonalColumns(world.admin, { userId: ana.id, mark, conditions });
    expect(await findMarks(world.admin, mark)).toEqual(marked);
    expect(marked).toEqual(expect.arrayContaining(['auth.users.raw_user_meta_data', 'auth.audit_log.details']));
    expect(refused.filter((column) => KEPT_TABLE.test(column))).toEqual(KEPT_CHOICES);
    await world.admin.query('update auth.users set deletion_due_at = $2 where id = $1', [ana.id, world.clock.now()]);
    await deleteDue();
    expect(await findMarks(world.admin, mark)).toEqual(KEPT_TEXTS);
  });

  test('every table that names a user is deleted with the account or erased', async () => {
    const references = await rows(
      `select conrelid::regclass::text as from_table from pg_constraint
        where contype = 'f' and confrelid = 'auth.users'::regclass and confdeltype <> 'c'`,
      [],
    );
    expect(references).toEqual([]);
    const unreferenced = await rows<{ name: string }>(
      `select attrelid::regclass || '.' || attname as name
         from pg_attribute join pg_class on pg_class.oid = attrelid
        where relkind in ('r', 'p') and not relispartition and relnamespace::regnamespace::text in ('auth', 'public') and attname ~ 'user_id$'
          and not exists (select from pg_constraint
                           where contype = 'f' and conrelid = attrelid and attnum = any (conkey) and confdeltype = 'c')
        order by 1`,
      [],
    );
    // Columns without a foreign key, in which `erase_audit_log` and `erase_payer` replace or clear the user.
    expect(unreferenced.map(({ name }) => name)).toEqual([
      'auth.audit_log.user_id',
      'payments.user_id',
      'plan_changes.user_id',
      'plan_uses.user_id',
    ]);
  });

  async function ledger(): Promise<unknown> {
    return rows(`select kind, amount_minor, currency, provider_ref, payment_id from payment_ledger order by id`, []);
  }
});

describe('money of a user who leaves', () => {
  const payments = () =>
    createPayments({
      config: world.config,
      database: world.database,
      clock: world.clock,
      log: createLog('silent'),
      requestMails: () => undefined,
    })!;
  const paymentOf = async (orderId: string): Promise<{ id: string; status: string; refunded: boolean }> =>
    (
      await rows<{ id: string; status: string; refunded: boolean }>(
        `select id, status, refund_requested_at is not null as refunded from payments where order_id = $1`,
        [orderId],
      )
    )[0]!;
  const sweep = async (): Promise<void> => {
    await world.admin.query('update payments set due_at = $1 where due_at is not null and status <> $2', [
      world.clock.now(),
      'capturing',
    ]);
    await payments().reconcile(new AbortController().signal);
  };

  test('an approved order is not captured, neither in the hour before the deletion nor afterwards', async () => {
    const ana = await world.signUpUser();
    const orderId = await order(ana);
    world.paypal.books.approve(orderId);
    await remove(ana.access);
    await sweep();
    expect(await paymentOf(orderId)).toMatchObject({ status: 'approved' });
    world.clock.advance(HOUR_MS);
    await deleteDue();
    await sweep();
    expect(await paymentOf(orderId)).toMatchObject({ status: 'voided' });
    expect(world.paypal.books.orders.get(orderId)).toMatchObject({ capture: null });
  });

  test('an approved order is captured once the deletion is undone', async () => {
    const ana = await world.signUpUser();
    const orderId = await order(ana);
    world.paypal.books.approve(orderId);
    const { body } = await remove(ana.access);
    await sweep();
    await undo({ token_hash: body.undo_token });
    await sweep();
    expect(await paymentOf(orderId)).toMatchObject({ status: 'completed', refunded: false });
  });

  test.each(['before', 'after'] as const)(
    'a payment that PayPal held and completes %s the deletion goes back',
    async (when) => {
      const ana = await world.signUpUser();
      const orderId = await order(ana);
      world.paypal.books.approve(orderId, 'echeck');
      await callFunction(ana, 'paypal-capture-order', { order_id: orderId });
      expect(await paymentOf(orderId)).toMatchObject({ status: 'pending' });
      await remove(ana.access);
      const complete = async (): Promise<void> => {
        world.paypal.books.completeCapture(world.paypal.books.orders.get(orderId)!.capture!.id);
        await sweep();
      };
      if (when === 'before') await complete();
      world.clock.advance(HOUR_MS);
      await deleteDue();
      if (when === 'after') await complete();
      await sweep();
      expect(await paymentOf(orderId)).toMatchObject({ status: 'refunded' });
    },
  );

  test('webhooks that arrive after the deletion are emptied once they are processed', async () => {
    const ana = await world.signUpUser();
    const orderId = await order(ana);
    world.paypal.books.approve(orderId);
    await callFunction(ana, 'paypal-capture-order', { order_id: orderId });
    await remove(ana.access);
    world.clock.advance(HOUR_MS);
    await deleteDue();
    world.paypal.books.refundCapture(world.paypal.books.orders.get(orderId)!.capture!.id, { amount: null });
    await world.paypal.webhooks.deliverAll();
    await sweep();
    const { id } = await paymentOf(orderId);
    expect(await paymentOf(orderId)).toMatchObject({ status: 'refunded' });
    expect(await rows('select id from payment_events where position($1 in raw) > 0', [id])).toEqual([]);
  });
});

describe('the archive', () => {
  const archive = (token: string, body: object = { password: PASSWORD }) =>
    fetch(`${world.url}/functions/v1/archive`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const write = (id: string, count: number) =>
    world.admin.query(
      `insert into entries (user_id, date, content, ai_feedback, hustle_score, ai_analyzed_at)
       select $1, date, '<p>log of ' || date || '</p>', 'Good.', 7, '2026-01-02T03:04:05.678901Z'
         from unnest($2::date[]) date`,
      [id, Array.from({ length: count }, (_, index) => addDays(latestToday(new Date()), -index * 9))],
    );

  test('has every log of a free user, locked ones too, in the format of the JSON export', async () => {
    const [ana, ben] = await Promise.all([world.signUpUser(), world.signUpUser()]);
    await Promise.all([write(ana.id, 60), write(ben.id, 3)]);
    const response = await archive(ana.access);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="hustle-forge-\d{4}-\d\d-\d\d\.json"$/,
    );
    const file = JSON.parse(await response.text());
    expect(file.format).toBe('hustle-forge/1');
    const entries = jsonEntriesOf(file)!;
    expect(entries).toHaveLength(60);
    const days = [...readJson(entries)];
    expect(days.every(({ kind }) => kind === 'day')).toBe(true);
    const oldest = addDays(latestToday(new Date()), -59 * 9);
    expect(entries[0]).toEqual({
      date: oldest,
      content: `<p>log of ${oldest}</p>`,
      hustleScore: 7,
      feedback: 'Good.',
      analyzedAt: '2026-01-02T03:04:05.678901+00:00',
    });
    expect(dayLabel(oldest)).toBeTruthy();
  });

  test('counts as no use of the plan, and is in the audit log', async () => {
    const ana = await world.signUpUser();
    expect((await archive(ana.access)).status).toBe(200);
    expect(await rows('select kind from plan_uses where user_id = $1', [ana.id])).toEqual([]);
    expect(await eventsOf(ana.id)).toContain('archive_downloaded');
  });

  test('is empty, but a valid file, for a user without logs', async () => {
    const ana = await world.signUpUser();
    expect(jsonEntriesOf(await (await archive(ana.access)).json())).toEqual([]);
  });

  test('needs a proof of identity', async () => {
    const ana = await world.signUpUser();
    await write(ana.id, 1);
    const refused = async (body: object): Promise<unknown> => {
      const response = await archive(ana.access, body);
      return [response.status, await response.json()];
    };
    expect(await refused({})).toEqual([
      400,
      expect.objectContaining({ success: false, code: 'reauthentication_needed', error: expect.any(String) }),
    ]);
    expect(await refused({ password: 'wrong horse' })).toEqual([
      400,
      expect.objectContaining({ success: false, code: 'invalid_credentials' }),
    ]);
    expect(await refused({ password: 7, nonce: ['x'] })).toEqual([400, expect.anything()]);
    expect((await archive('x')).status).toBe(401);
  });

  test('takes a mailed code that the deletion can take afterwards', async () => {
    const ana = await world.signUpUser();
    await world.admin.query('update auth.users set password_hash = null where id = $1', [ana.id]);
    world.clock.advance(11 * 60_000);
    await world.request('GET', '/reauthenticate', { token: ana.access });
    const { code } = await world.mailTo(ana.email);
    expect((await archive(ana.access, { nonce: code })).status).toBe(200);
    expect(await remove(ana.access, { nonce: code })).toMatchObject({ status: 200 });
  });
});

describe('with rate limits', () => {
  let limited: AuthWorld;
  beforeAll(async () => {
    limited = await startAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' });
  });
  afterAll(() => limited.close());
  let lastAddress = 0;
  const newNetwork = () => ({ 'X-Real-Ip': `192.0.2.${(lastAddress += 1)}` });
  const archive = (token: string) =>
    fetch(`${limited.url}/functions/v1/archive`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...newNetwork() },
      body: JSON.stringify({ password: PASSWORD }),
    });

  test('a network gets 429 after thirty guesses of an undo token in five minutes', async () => {
    const headers = newNetwork();
    const guess = () => limited.request('POST', '/account/undo-deletion', { body: { token_hash: 'x' }, headers });
    for (let count = 0; count < 30; count += 1) expect((await guess()).status).toBe(403);
    expect((await guess()).status).toBe(429);
  });

  test('wrong passwords count together with those at sign-in, and a fourth request for the archive gets 429', async () => {
    const email = newAddress();
    const { access, id } = await limited.signUpUser(email);
    for (let count = 0; count < 3; count += 1) expect((await archive(access)).status).toBe(200);
    const refused = await archive(access);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining({ success: false, code: 'over_request_rate_limit' }),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(29 * 86_400);

    const guess = () =>
      limited.request('DELETE', '/account', { token: access, body: { password: 'wrong' }, headers: newNetwork() });
    for (let count = 0; count < 10; count += 1) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
    const atSignIn = await limited.request('POST', '/token?grant_type=password', {
      body: { email, password: PASSWORD },
      headers: newNetwork(),
    });
    expect(atSignIn.status).toBe(429);

    const keys = async (): Promise<number> =>
      (await limited.admin.query("select 1 from auth.rate_limits where key like '%' || $1", [id])).rowCount!;
    expect(await keys()).toBe(1);
    await limited.admin.query("update auth.users set deletion_due_at = now() - interval '1 second' where id = $1", [
      id,
    ]);
    const deps = { database: limited.database, clock: limited.clock, log: createLog('error') };
    const mailer = { send: () => undefined };
    const signal = new AbortController().signal;
    expect(await deleteDueAccounts({ ...deps, mailer, findRateLimitKeys: () => [] }, signal)).toBe(1);
    expect(await keys()).toBe(0);
  });
});

const callFunction = (user: SignedUp, name: string, body: object): Promise<WireBody> =>
  fetch(`${world.url}/functions/v1/${name}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.access}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user_id: user.id, ...body }),
  }).then((response) => response.json());

async function order(user: SignedUp): Promise<string> {
  const { approval_url: url } = await callFunction(user, 'paypal-create-order', {
    amount: 24,
    currency: 'USD',
  });
  return new URL(url).searchParams.get('token')!;
}

/** Buys a year and leaves rows in every table that can name the user. Returns the payment's id. */
async function fillEveryTable(user: SignedUp): Promise<string> {
  const { id, email } = user;
  await world.admin.query("update profiles set country = 'DE', ai_consent = true where id = $1", [id]);
  const orderId = await order(user);
  world.paypal.books.approve(orderId);
  await callFunction(user, 'paypal-capture-order', { order_id: orderId });
  await world.paypal.webhooks.deliverAll();
  await callFunction(user, 'record-export', {});
  const [payment] = await rows<{ id: string }>('select id from payments where order_id = $1', [orderId]);
  await world.request('POST', '/recover', { body: { email } });
  await world.mailTo(email);
  await world.request('PUT', '/user', { token: user.access, body: { data: { name: 'Ana', mail: email } } });
  // The payer's address at PayPal may be the one of the account.
  await world.admin.query('update payment_events set raw = raw || $2 where position($1 in raw) > 0', [
    payment!.id,
    email,
  ]);
  const statements = [
    `insert into entries (user_id, date, content) values ($1, '2026-01-05', '<p>a</p>'), ($1, '2020-01-05', '<p>b</p>')`,
    `insert into entries (user_id, date, content) values ($1, '2020-01-06', '<p>c</p>')`,
    `delete from entries where user_id = $1 and date = '2020-01-06'`,
    `insert into entry_words (user_id, date, revision, words) values ($1, '2026-01-05', 1, 'a')`,
    `insert into analyses (user_id, kind, date, score, input_hash, provider, model, prompt_version, finish_reason, duration_ms, text)
     values ($1, 'feedback', '2026-01-05', 7, 'hash', 'google', 'gemini', 1, 'stop', 5, 'Good work.')`,
    `insert into analysis_runs (user_id, kind, key, run, lease_until, counted_on, tries)
     values ($1, 'feedback', '2026-01-05', gen_random_uuid(), now() + interval '1 hour', current_date, 1)`,
    `insert into plan_reminders (user_id, access_valid_until, days_before) values ($1, '2026-01-05', 3)`,
    `insert into auth.flows (method, redirect_to, user_id, expires_at) values ('oauth', '/', $1, now() + interval '1 day')`,
    `insert into auth.flows (method, redirect_to, linking_user_id, expires_at) values ('oauth', '/', $1, now() + interval '1 day')`,
    `insert into auth.webauthn_credentials (user_id, purpose, credential_id, public_key, aaguid)
     values ($1, 'passkey', 'x', 'y', gen_random_uuid())`,
    `insert into auth.mfa_factors (user_id, factor_type, friendly_name) values ($1, 'totp', 'phone')`,
    `insert into auth.mfa_challenges (factor_id, ip, expires_at)
     select id, '192.0.2.1', now() + interval '1 day' from auth.mfa_factors where user_id = $1`,
    `insert into auth.recovery_code_sets (user_id, friendly_name) values ($1, 'Recovery codes')`,
    `insert into auth.recovery_codes (user_id, code_hash) values ($1, sha256('x'))`,
    `insert into auth.passkey_challenges (user_id, challenge, expires_at) values ($1, 'x', now() + interval '1 day')`,
    `insert into auth.identities (user_id, provider, provider_id, identity_data)
     values ($1, 'google', $1::uuid::text, jsonb_build_object('sub', $1::uuid::text))`,
    `insert into auth.earlier_links (link_hash, user_id, purpose, address, expires_at)
     select sha256(link_hash), user_id, purpose, address, expires_at from auth.one_time_tokens where user_id = $1`,
    `with provider as (
       insert into auth.sso_providers (entity_id, metadata_xml) values (gen_random_uuid()::text, '<x/>') returning id)
     insert into auth.saml_requests (id, flow_id, provider_id, expires_at)
     select 'id' || flows.id, flows.id, provider.id, flows.expires_at from auth.flows, provider where user_id = $1`,
    `insert into auth.rate_limits (key, points) values ('archive:' || $1::uuid::text, 1)`,
  ];
  for (const statement of statements) await world.admin.query(statement, [id]);
  await world.admin.query("insert into auth.rate_limits (key, points) values ('otp:' || $1, 1)", [email]);
  return payment!.id;
}

/** The tables with a row that contains the user's id or address in any column. */
async function findTraces({ id, email }: { id: string; email: string }): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relkind in ('r', 'p') and nspname !~ '^pg_' and nspname <> 'information_schema' order by 1`,
    [],
  );
  expect(tables.length).toBeGreaterThan(30);
  const found: string[] = [];
  for (const { name } of tables) {
    const hits = await rows(`select 1 from ${name} as row where row::text ilike any ($1)`, [[`%${id}%`, `%${email}%`]]);
    if (hits.length > 0) found.push(name);
  }
  return found;
}
