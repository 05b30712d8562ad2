/**
 * The job that deletes accounts leaves neither data of the user nor money (docs/specification/api.md 34,
 * docs/specification/accounts.md 12).
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { deleteAccount } from '#server/auth/own-account/delete-account.ts';
import { createPayments } from '#server/payments/payments.ts';
import { blockRequest } from '../auth/block-request.ts';
import { setUpAuthWorld, type WireBody } from '../auth/fixture.ts';
import { HOUR_MS, createAccountClient, type SignedUpUser } from './account-client.ts';
import { findMarks, findPersonalTables, markPersonalColumns } from './personal-data.ts';

const world = setUpAuthWorld();
const { signIn, remove, undo, rows, dueAtOf, deleteDue, deleteAbandoned, sentByJob } = createAccountClient(world);

/** Tables without a column that leads to a user. `rate_limits.key` and `payment_events.raw` still name users. */
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
    const now = world.clock.now();
    const deletion = { userId: id, actor: 'job', now, onlyIf: { abandonedBefore: now } } as const;
    await world.admin.query('delete from auth.sessions where user_id = $1', [id]);
    expect(await deleteAccount(world.database, deletion)).toBeNull();
    expect(await rows('select id from auth.users where id = $1', [id])).toHaveLength(1);
  });
});

describe('the deletion of abandoned anonymous accounts', () => {
  const DAY_MS = 24 * HOUR_MS;
  const daysAgo = (days: number): Date => new Date(world.clock.now().getTime() - days * DAY_MS);
  /** Returns the id of the user and of the session, which was not used for 31 days. */
  async function createAbandoned() {
    const [user] = await rows<{ id: string }>(
      'insert into auth.users (is_anonymous, created_at) values (true, $1) returning id',
      [daysAgo(31)],
    );
    const [session] = await rows<{ id: string }>(
      'insert into auth.sessions (user_id, created_at) values ($1, $2) returning id',
      [user!.id, daysAgo(31)],
    );
    return { id: user!.id, session: session!.id };
  }

  test('deletes an account that was not used for thirty days', async () => {
    const { id } = await createAbandoned();
    expect(await deleteAbandoned()).toBe(1);
    expect(await rows('select id from auth.users where id = $1', [id])).toEqual([]);
  });

  test('leaves an account that is used again while the job runs', async () => {
    const { id, session } = await createAbandoned();
    const deleted = await blockRequest(world.admin, id, deleteAbandoned, (transaction) =>
      transaction.query('update auth.sessions set refreshed_at = $2 where id = $1', [session, world.clock.now()]),
    );
    expect(deleted).toBe(0);
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

const callFunction = (user: SignedUpUser, name: string, body: object): Promise<WireBody> =>
  fetch(`${world.url}/functions/v1/${name}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.access}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user_id: user.id, ...body }),
  }).then((response) => response.json());

async function order(user: SignedUpUser): Promise<string> {
  const { approval_url: url } = await callFunction(user, 'paypal-create-order', { amount: 24, currency: 'USD' });
  return new URL(url).searchParams.get('token')!;
}

/** Buys a year and leaves rows in every table that can name the user. Returns the payment's id. */
async function fillEveryTable(user: SignedUpUser): Promise<string> {
  const { id, email } = user;
  await world.admin.query("update profiles set country = 'DE', ai_consent = true where id = $1", [id]);
  const orderId = await order(user);
  world.paypal.books.approve(orderId);
  await callFunction(user, 'paypal-capture-order', { order_id: orderId });
  await world.paypal.webhooks.deliverAll();
  await callFunction(user, 'record-export', {});
  const [payment] = await rows<{ id: string }>('select id from payments where order_id = $1', [orderId]);
  await world.request('POST', '/recover', { body: { email } });
  await world.waitForMail(email);
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
    `insert into import_days (user_id, import_id, date, entry_id, revision, change)
     values ($1, gen_random_uuid(), '2026-01-05', gen_random_uuid(), 1, 'added')`,
    `insert into documents (user_id, title, first_day, last_day, content) values ($1, 'Q3', '2026-07-01', '2026-09-30', '')`,
    `insert into document_links (user_id, document_id, token_hash, expires_at)
     select user_id, id, sha256('token'), now() + interval '7 days' from documents where user_id = $1`,
    `insert into reviews (user_id, period, period_from, period_to, text) values ($1, '7-day', '2026-01-01', '2026-01-07', 'Fine.')`,
    // A trigger makes the rows of `reminder_schedule`.
    `insert into time_off (user_id, first_day, last_day) values ($1, '2026-07-01', '2026-07-14')`,
    `insert into preferences (user_id, time_zone, digest) values ($1, 'Europe/Vienna', true)`,
    `insert into mail_tokens (user_id, token_hash, purpose, day, expires_at)
     values ($1, sha256('tap'), 'tap', '2026-01-05', now() + interval '3 days')`,
    `insert into access_tokens (user_id, name, scopes, token_hash, expires_at)
     values ($1, 'Laptop', '{append}', sha256('token'), now() + interval '30 days')`,
    `with session as (insert into auth.sessions (user_id) values ($1) returning id)
     insert into push_subscriptions (user_id, session_id, endpoint, p256dh, auth, device, renewal_hash)
     select $1, id, 'https://fcm.googleapis.com/' || id, decode(repeat('04', 65), 'hex'), decode(repeat('00', 16), 'hex'), 'Chrome on Windows', sha256('token') from session`,
    `insert into appended_items (user_id, key, items_hash, date, revision)
     values ($1, 'api:1', repeat('x', 43), '2026-01-05', 1)`,
    `insert into connect_requests (code_hash, user_code, client_name, scopes, expires_at, approved_by)
     values (sha256(convert_to($1::uuid::text, 'UTF8')), left(md5($1::uuid::text), 8), 'hustle', '{append}', now() + interval '10 minutes', $1)`,
    `insert into slack_links (team_id, slack_user, user_id, name) values ('T1', left(md5($1::uuid::text), 10), $1, 'ana in team')`,
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
