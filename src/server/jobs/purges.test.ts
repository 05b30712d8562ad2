/** Tests which rows the purging jobs delete, and that rows in use stay. */
import { randomUUID } from 'node:crypto';

import { beforeAll, beforeEach, expect, test } from 'vitest';

import { setUpTestDatabase } from '../../../tests/support/set-up.ts';

import {
  purgeExpired,
  purgeUnconfirmedAccounts,
  purgeAuditLog,
  purgeUnusedSessions,
  purgeAnalysisRuns,
  purgeLinks,
  purgeVersions,
  BATCH_ROWS,
} from './purges.ts';
import type { AsService, Database } from '../database/database.ts';

const { signal } = new AbortController();
const now = new Date();

const db = setUpTestDatabase();
let service: AsService;
let user = '';
beforeAll(async () => {
  service = db.database.asService('test');
});
beforeEach(async () => {
  user = randomUUID();
  await db.admin.query('insert into auth.users (id) values ($1)', [user]);
});

const read = async (text: string): Promise<unknown[]> =>
  (await db.admin.query<{ kept: unknown }>(text)).rows.map(({ kept }) => kept);

test('a session ends after 400 days without a renewal, with its tokens', async () => {
  await db.admin.query(
    `insert into auth.sessions (user_id, ip, created_at, refreshed_at)
     select $1, ip, now() - created::interval, now() - refreshed::interval
       from (values ('never renewed', '401 days', null), ('renewed long ago', '500 days', '401 days'),
                    ('renewed lately', '500 days', '399 days'), ('new', '1 day', null)) v (ip, created, refreshed)`,
    [user],
  );
  await db.admin.query("insert into auth.refresh_tokens select id, 1, sha256(ip::bytea), '' from auth.sessions");
  expect(await purgeUnusedSessions(service, now, signal)).toBe(2);
  expect(await read('select ip as kept from auth.sessions order by ip')).toEqual(['new', 'renewed lately']);
  expect(await read('select count(*)::int as kept from auth.refresh_tokens')).toEqual([2]);
});

test('every page of sessions is read', async () => {
  await db.admin.query(
    "insert into auth.sessions (user_id, created_at) select $1, now() - interval '401 days' from generate_series(1, $2)",
    [user, BATCH_ROWS * 2 + 1],
  );
  expect(await purgeUnusedSessions(service, now, AbortSignal.abort())).toBe(0);
  expect(await purgeUnusedSessions(service, now, signal)).toBe(BATCH_ROWS * 2 + 1);
});

test('audit rows are deleted after 400 days, in batches', async () => {
  const add = `insert into auth.audit_log (at, actor, event)
    select now() - $1::interval, 'job', $2 from generate_series(1, $3::int)`;
  await db.admin.query(add, ['401 days', 'old', BATCH_ROWS + 1]);
  await db.admin.query(add, ['399 days', 'newer', 2]);
  expect(await purgeAuditLog(service, signal)).toBe(BATCH_ROWS + 1);
  expect(await read('select event as kept from auth.audit_log')).toEqual(['newer', 'newer']);
});

test('a counter of requests is deleted once its window has ended, whoever counted', async () => {
  await db.admin.query(
    `insert into auth.rate_limits (key, points, expire)
     select key, 1, (extract(epoch from now() - age::interval) * 1000)::bigint
       from (values ('stored:ended', '1 minute'), ('stored:open', '-1 minute')) v (key, age)`,
  );
  expect(await purgeExpired(service, now, signal)).toBe(1);
  expect(await read('select key as kept from auth.rate_limits')).toEqual(['stored:open']);
});

test('a token and a request to connect are deleted once they have expired', async () => {
  await db.admin.query(
    `insert into public.access_tokens (user_id, name, scopes, token_hash, expires_at)
     select $1, name, '{read}', sha256(name::bytea), now() - age::interval
       from (values ('ended', '1 minute'), ('alive', '-1 minute')) v (name, age)`,
    [user],
  );
  await db.admin.query(
    `insert into public.connect_requests (code_hash, user_code, client_name, scopes, expires_at)
     select sha256(name::bytea), name, name, '{read}', now() - age::interval
       from (values ('unanswered', '1 minute'), ('open', '-1 minute')) v (name, age)`,
  );
  expect(await purgeExpired(service, now, signal)).toBe(2);
  expect(await read('select name as kept from public.access_tokens')).toEqual(['alive']);
  expect(await read('select client_name as kept from public.connect_requests')).toEqual(['open']);
});

test('a link or code is deleted a day after its end, because its wrong guesses count for a day', async () => {
  await db.admin.query(
    `insert into auth.one_time_tokens (user_id, purpose, address, code_hash, expires_at)
     select $1, purpose, '', sha256('x'), now() - age::interval
       from (values ('signup', '25 hours'), ('recovery', '23 hours'), ('magiclink', '-1 hour')) v (purpose, age)`,
    [user],
  );
  expect(await purgeExpired(service, now, signal)).toBe(1);
  expect(await read('select purpose as kept from auth.one_time_tokens order by purpose')).toEqual([
    'magiclink',
    'recovery',
  ]);
});

test('a challenge of a factor is deleted a day after its end, so that a late code is answered as expired', async () => {
  await db.admin.query(
    `with factor as (
       insert into auth.mfa_factors (user_id, factor_type, friendly_name) values ($1, 'totp', 'phone') returning id)
     insert into auth.mfa_challenges (factor_id, ip, expires_at)
     select id, ip, now() - age::interval from factor, (values ('old', '25 hours'), ('late', '23 hours')) v (ip, age)`,
    [user],
  );
  expect(await purgeExpired(service, now, signal)).toBe(1);
  expect(await read('select ip as kept from auth.mfa_challenges')).toEqual(['late']);
});

test('an account that nobody has confirmed or used is deleted after 30 days, and its audit rows name no one', async () => {
  await db.admin.query(
    `insert into auth.users (email, created_at, email_confirmed_at, email_proven_at, last_sign_in_at, is_anonymous, invited_at, banned_until)
     select name || '@example.com', now() - age::interval, confirmed, confirmed, used, is_anonymous, invited, banned
       from (values ('old', '31 days', null::timestamptz, null::timestamptz, false, null::timestamptz, null::timestamptz),
                    ('ban-over', '31 days', null, null, false, null, now() - interval '1 day'),
                    ('young', '29 days', null, null, false, null, null),
                    ('confirmed', '31 days', now(), null, false, null, null),
                    ('used', '31 days', null, now(), false, null, null),
                    ('anonymous', '31 days', null, null, true, null, null),
                    ('invited', '31 days', null, null, false, now(), null),
                    ('banned', '31 days', null, null, false, null, now() + interval '1 day'),
                    ('linked', '31 days', null, null, false, null, null),
                    ('made', '31 days', null, null, false, null, null))
         v (name, age, confirmed, used, is_anonymous, invited, banned)`,
  );
  await db.admin.query(
    `insert into auth.one_time_tokens (user_id, purpose, address, code_hash, expires_at)
     select id, 'signup', email, sha256('x'), now() + interval '1 minute' from auth.users where email = 'linked@example.com'`,
  );
  await db.admin.query(
    `insert into auth.audit_log (user_id, actor, event, ip)
     select id, 'user', case when email = 'made@example.com' then 'created_by_admin' else 'signed_up' end, '192.0.2.1'
       from auth.users where email in ('old@example.com', 'made@example.com')`,
  );
  expect(await purgeUnconfirmedAccounts(service, now, signal)).toBe(2);
  expect(
    await read(`select split_part(email, '@', 1) as kept from auth.users where email is not null order by email`),
  ).toEqual(['anonymous', 'banned', 'confirmed', 'invited', 'linked', 'made', 'used', 'young']);
  expect(await read(`select user_id || ip as kept from auth.audit_log where event = 'signed_up'`)).toEqual([null]);
});

test('all unconfirmed accounts are deleted, in batches', async () => {
  await db.admin.query(
    `insert into auth.users (email, created_at)
     select n || '@example.net', now() - interval '31 days' from generate_series(1, $1) n`,
    [BATCH_ROWS + 1],
  );
  expect(await purgeUnconfirmedAccounts(service, now, signal)).toBe(BATCH_ROWS + 1);
});

test('all expired rows are deleted, in batches', async () => {
  await db.admin.query(
    `insert into auth.passkey_challenges (challenge, expires_at)
     select 'x', now() - interval '1 minute' from generate_series(1, $1)`,
    [BATCH_ROWS * 2 + 1],
  );
  expect(await purgeExpired(service, now, signal)).toBe(BATCH_ROWS * 2 + 1);
});

test('the tries of earlier days are deleted, except those with a lease', async () => {
  await db.admin.query(
    `insert into analysis_runs (user_id, kind, key, run, lease_until, counted_on, tries)
     select $1, 'feedback', key, gen_random_uuid(), now() + lease::interval, (now() at time zone 'UTC')::date - age, 1
       from (values ('yesterday', '-1 hour', 1), ('leased', '1 hour', 1), ('today', '-1 hour', 0)) v (key, lease, age)`,
    [user],
  );
  expect(await purgeAnalysisRuns(service, now, signal)).toBe(1);
  expect(await read('select key as kept from analysis_runs order by key')).toEqual(['leased', 'today']);
});

test('a read-only link is deleted after its end', async () => {
  await db.admin.query(
    `insert into documents (user_id, title, first_day, last_day, content) values ($1, 'Q3', '2026-07-01', '2026-09-30', '')`,
    [user],
  );
  await db.admin.query(
    `insert into document_links (user_id, document_id, token_hash, expires_at)
     select user_id, id, sha256(name::bytea), now() + expiry::interval
       from documents, (values ('ended', '-1 minute'), ('live', '1 minute')) v (name, expiry) where user_id = $1`,
    [user],
  );
  expect(await purgeLinks(service, now, signal)).toBe(1);
  expect(await read("select token_hash = sha256('live') as kept from document_links")).toEqual([true]);
});

/** Their rows live for minutes, so most of the table is what the purge takes. */
const SHORT_LIVED = /^delete from auth\.(?:saml_requests|web3_nonces) /;

test('every purge that takes rows by their age finds them by an index', async () => {
  const statements: [string, unknown[]][] = [];
  const notes = {
    statement: async (text: string, values: unknown[]) => (statements.push([text, values]), { rows: [], rowCount: 0 }),
  } as unknown as AsService;
  await purgeExpired(notes, now, signal);
  await purgeUnconfirmedAccounts(notes, now, signal);
  await purgeLinks(notes, now, signal);
  await purgeVersions({ asService: () => notes } as unknown as Database, { now: () => now }, signal);
  const client = await db.admin.connect();
  const slow: string[] = [];
  try {
    await client.query('set enable_seqscan = off');
    for (const [text, values] of statements) {
      if (SHORT_LIVED.test(text)) continue;
      const { rows } = await client.query(`explain (costs off) ${text}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      if (/Seq Scan|Disabled: true/.test(plan)) slow.push(`${text}\n${plan}`);
    }
  } finally {
    await client.query('reset enable_seqscan');
    client.release();
  }
  expect(statements.length).toBeGreaterThan(15);
  expect(slow).toEqual([]);
});
