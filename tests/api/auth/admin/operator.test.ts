/** The operator's commands `user:*` and `mail:test`, run in this process against a server's database and mailbox. */
import { expect, test } from 'vitest';
import { runAdminCommand } from '#server/admin.ts';
import { EXPORTED_TABLES } from '#server/admin/user-commands.ts';
import { setUpAuthWorld, PASSWORD, tokenHashIn, newAddress } from '../fixture.ts';

const world = setUpAuthWorld();

const admin = (...args: string[]): Promise<string> =>
  runAdminCommand(args, {
    DATABASE_URL: world.databaseUrl,
    DATA_DIR: world.config.dataDir,
    PUBLIC_URL: world.config.publicUrl,
    SMTP_URL: world.mailbox.smtpUrl,
  });

const auditOf = async (userId: string): Promise<string[]> =>
  (
    await world.admin.query<{ event: string }>(
      "select event from auth.audit_log where user_id = $1 and actor = 'operator' order by id",
      [userId],
    )
  ).rows.map(({ event }) => event);

const signIn = async (email: string, password: string = PASSWORD) =>
  (await world.client().auth.signInWithPassword({ email, password })).error?.code;

test('user:show describes an account', async () => {
  const { email, id } = await world.signUpUser();
  const text = await admin('user:show', email.toUpperCase());
  expect(text).toMatch(new RegExp(`^id +${id}\\naddress +${email}, confirmed 2`));
  expect(text).toMatch(/plan +Dabbler\nlogs +0\npassword +yes\nidentities +email\nsecond factors +none/);
  expect(text).toMatch(/sessions +1\n {2}2.*Z {2}[\d.:a-f]+\nevents\n[^]*signed_in/);
  expect(await auditOf(id)).toEqual(['viewed_by_operator']);
});

test('user:reset-link prints a link that sets a new password once', async () => {
  const { email, id } = await world.signUpUser();
  const link = await admin('user:reset-link', email);
  expect(link).toContain(`${world.config.publicUrl}/reset-password?`);
  const body = { type: 'recovery', token_hash: tokenHashIn({ links: [link] }) };
  const verified = await world.request('POST', '/verify', { body });
  expect(verified.status).toBe(200);
  const token = verified.body.access_token;
  const changed = await world.request('PUT', '/user', { token, body: { password: 'another horse' } });
  expect(changed.status).toBe(200);
  expect(await signIn(email, 'another horse')).toBeUndefined();
  expect((await world.request('POST', '/verify', { body })).body.code).toBe('otp_expired');
  expect(await auditOf(id)).toEqual(['recovery_requested']);
});

test('user:ban refuses sign-in until user:unban', async () => {
  const { email, id } = await world.signUpUser();
  expect(await admin('user:ban', email, '--days', '3')).toMatch(`${email} is banned until 2`);
  expect(await signIn(email)).toBe('user_banned');
  expect(await admin('user:show', email)).toContain('banned until');
  expect(await admin('user:unban', email)).toBe(`${email} is not banned.`);
  expect(await signIn(email)).toBeUndefined();
  expect(await admin('user:ban', email)).toContain('is banned without end.');
  expect(await auditOf(id)).toEqual(['banned', 'viewed_by_operator', 'unbanned', 'banned']);
  await expect(admin('user:ban', email, '--days', '0')).rejects.toThrow('--days must be a whole number');
});

test('user:export prints the logs in the form of the JSON export, and no secret', async () => {
  const { email, id, access } = await world.signUpUser();
  const date = new Date().toISOString().slice(0, 10);
  await fetch(`${world.url}/rest/v1/entries`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${access}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user_id: id, date, content: '<p>Shipped</p>' }),
  });
  await world.admin.query(
    `with document as (
       insert into documents (user_id, title, first_day, last_day, content)
       values ($1, 'My year', '2026-01-01', '2026-12-31', '{}') returning user_id, id)
     insert into document_links (user_id, document_id, token_hash, expires_at)
     select user_id, id, sha256('token'), now() + interval '7 days' from document`,
    [id],
  );
  await world.admin.query(
    `insert into entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
     values ($1, '2026-01-02', gen_random_uuid(), '<p>Deleted</p>', now(), 'deletion')`,
    [id],
  );
  await world.admin.query(
    `with payment as (
       insert into payments (user_id, amount_minor, currency) values ($1, 2400, 'USD') returning id),
     booked as (
       insert into payment_ledger (payment_id, kind, amount_minor, currency, provider_ref)
       select id, 'capture', 2400, 'USD', 'CAPTURE-1' from payment),
     schedule as (
       insert into reminder_schedule (user_id, kind, due_at, on_since) values ($1, 'reminder', now(), now()))
     insert into mail_tokens (user_id, token_hash, purpose, day, expires_at)
     values ($1, sha256('token'), 'tap', '2026-01-02', now() + interval '1 day')`,
    [id],
  );
  const text = await admin('user:export', email);
  const exported = JSON.parse(text) as Record<string, Record<string, unknown>[]>;
  expect(exported['format']).toBe('hustle-forge/1');
  expect(exported['entries']).toEqual([
    { date, content: expect.stringContaining('<p>Shipped</p>'), hustleScore: null, feedback: null, analyzedAt: null },
  ]);
  expect(exported['account']).toMatchObject([{ id, email }]);
  expect(exported['sessions']).toHaveLength(1);
  expect(exported['profile']).toMatchObject([{ subscription_plan: 'free' }]);
  expect(exported['documents']).toMatchObject([{ title: 'My year' }]);
  expect(exported['document_links']).toHaveLength(1);
  expect(exported['earlier_versions']).toMatchObject([{ date: '2026-01-02', content: '<p>Deleted</p>' }]);
  expect(exported['mail_tokens']).toMatchObject([{ purpose: 'tap', day: '2026-01-02' }]);
  expect(exported['reminder_schedule']).toMatchObject([{ kind: 'reminder' }]);
  expect(exported['payment_ledger']).toMatchObject([{ amount_minor: 2400, provider_ref: 'CAPTURE-1' }]);
  expect(text).not.toContain('token_hash');
  expect(text).not.toContain('argon2id');
  expect(await auditOf(id)).toEqual(['exported_by_operator']);
});

const NOT_EXPORTED: Readonly<Record<string, string>> = {
  'auth.flows': 'the secrets of a sign-in under way, for minutes',
  'auth.passkey_challenges': 'a random value, for minutes',
  'auth.refresh_tokens': 'secrets of the sessions, which are exported',
  'auth.saml_requests': 'a random id, for minutes',
  'public.entries': 'exported as `entries`, in the form of the JSON export',
  'public.entry_words': 'the words of the logs, which are exported',
};

test('user:export reads every table that has rows of a user, unless a reason is named here', async () => {
  const { rows } = await world.admin.query<{ name: string }>(
    `with recursive owned as (
       select 'auth.users'::regclass::oid as id
       union select attrelid from pg_attribute where attname = 'user_id'
       union select conrelid from pg_constraint join owned on confrelid = owned.id where contype = 'f')
     select nspname || '.' || relname as name
       from owned join pg_class on pg_class.oid = owned.id join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('auth', 'public') and relkind in ('r', 'p') and not relispartition`,
  );
  const exported = EXPORTED_TABLES.map(([, table]) => table);
  expect([...exported, ...Object.keys(NOT_EXPORTED)].toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  const { email } = await world.signUpUser();
  expect(Object.keys(JSON.parse(await admin('user:export', email)) as object)).toEqual(
    expect.arrayContaining(EXPORTED_TABLES.map(([name]) => name)),
  );
});

test('user:export leaves out every binary column, because they hold secrets', async () => {
  const { rows } = await world.admin.query<{ table: string; column: string }>(
    `select table_schema || '.' || table_name as table, column_name as column
       from information_schema.columns where data_type = 'bytea'`,
  );
  for (const [, table, secrets = []] of EXPORTED_TABLES) {
    const binary = rows.filter((row) => row.table === table).map(({ column }) => column);
    expect(secrets, table).toEqual(expect.arrayContaining(binary));
  }
});

test('user:delete requires --yes, deletes everything and notifies the owner', async () => {
  const { email, id, refresh } = await world.signUpUser();
  await expect(admin('user:delete', email)).rejects.toThrow('Repeat the command with --yes.');
  expect(await admin('user:delete', email, '--yes')).toBe(`${email} is deleted.`);
  expect((await world.waitForMail(email)).subject).toBe('Your account was deleted');
  expect(await signIn(email)).toBe('invalid_credentials');
  const renewed = await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
  expect(renewed.body.code).toBe('refresh_token_not_found');
  expect((await world.admin.query('select 1 from auth.users where id = $1', [id])).rowCount).toBe(0);
  await expect(admin('user:show', email)).rejects.toThrow(`There is no account with the address ${email}.`);
});

test('mail:test says whether the mail server accepts mail', async () => {
  const address = newAddress();
  expect(await admin('mail:test', address)).toMatch(/^The mail server accepted a mail from .* to user-/);
  expect((await world.waitForMail(address)).subject).toBe('Mail works');
  const { rows } = await world.admin.query('select event, actor, details from auth.audit_log order by id desc limit 1');
  expect(rows).toEqual([{ event: 'test_mail_sent', actor: 'operator', details: { accepted: true } }]);
  const env = { DATABASE_URL: world.databaseUrl, DATA_DIR: world.config.dataDir };
  await expect(runAdminCommand(['mail:test', address], env)).rejects.toThrow('Mail is off: SMTP_URL is not set.');
  await expect(runAdminCommand(['mail:test', address], { ...env, SMTP_URL: 'smtp://127.0.0.1:1' })).rejects.toThrow(
    'The mail server did not accept the mail.',
  );
});
