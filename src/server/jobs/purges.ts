/** The purges: each deletes what is expired or old, in batches, and returns how many rows it deleted or emptied. */
import { VERSION_DAYS } from '#domain/log/entry.ts';
import type { Clock } from '../clock.ts';
import type { AsService, Database } from '../database/database.ts';

/** A statement of a purge changes at most this many rows of its table, so that it holds no lock for long. */
export const BATCH_ROWS = 1_000;

/**
 * Repeats a statement that changes at most `BATCH_ROWS` rows until it changes fewer, or `signal` aborts. Returns the
 * number of changed rows.
 */
async function runInBatches(
  service: AsService,
  text: string,
  values: readonly unknown[],
  signal: AbortSignal,
): Promise<number> {
  let changed = 0;
  for (;;) {
    const { rowCount } = await service.statement(text, values);
    changed += rowCount;
    if (rowCount < BATCH_ROWS || signal.aborted) return changed;
  }
}

/** Expired sign-in data, tokens and rate-limit counters: table, key, condition. `$1` is the time now. */
const EXPIRED: readonly (readonly [string, string, string])[] = [
  ['auth.flows', 'id', 'expires_at <= $1'],
  ['auth.rate_limits', 'key', 'expire <= (extract(epoch from $1::timestamptz) * 1000)::bigint'],
  // A day later, so that a code that is typed late is answered as expired, not as unknown.
  ['auth.mfa_challenges', 'id', "expires_at <= $1::timestamptz - interval '1 day'"],
  ['auth.passkey_challenges', 'id', 'expires_at <= $1'],
  ['auth.saml_requests', 'id', 'expires_at <= $1'],
  ['auth.web3_nonces', 'nonce', 'expires_at <= $1'],
  ['auth.used_id_tokens', 'token_hash', 'expires_at <= $1'],
  ['auth.mfa_factors', 'id', "status = 'unverified' and created_at <= $1::timestamptz - interval '1 day'"],
  // A day later, because the wrong guesses of a code count for a day (docs/specification/limits.md 2).
  ['auth.one_time_tokens', 'user_id, purpose', "expires_at <= $1::timestamptz - interval '1 day'"],
  ['public.mail_tokens', 'user_id, token_hash', 'expires_at <= $1'],
  ['public.access_tokens', 'user_id, id', 'expires_at <= $1'],
  ['public.connect_requests', 'code_hash', 'expires_at <= $1'],
];

/**
 * An account that a signed-out person has made, and that nobody has confirmed or used in 30 days. One whose link or
 * code is still valid stays, and so does one that an administrator has made or invited, or banned. The index
 * `users_unconfirmed` finds it.
 */
const UNCONFIRMED = `
  email_confirmed_at is null and phone_confirmed_at is null and created_at <= $1::timestamptz - interval '30 days'
  and last_sign_in_at is null and not is_anonymous and not is_sso_user and (email is not null or phone is not null)
  and invited_at is null and (banned_until is null or banned_until <= $1)
  and not exists (select from auth.one_time_tokens t where t.user_id = users.id and t.expires_at > $1)
  and not exists (select from auth.audit_log a where a.user_id = users.id and a.event = 'created_by_admin')`;

/** Returns the number of deleted accounts. They were never used, so no mail is sent and no audit row is added. */
export const purgeUnconfirmedAccounts = (service: AsService, now: Date, signal: AbortSignal): Promise<number> =>
  runInBatches(
    service,
    // The condition stands twice, because the account may have been confirmed since the inner select. The array makes
    // PostgreSQL evaluate that select once, also with old statistics.
    `with gone as (
       delete from auth.users where ${UNCONFIRMED}
          and id = any (array(select id from auth.users where ${UNCONFIRMED} limit ${BATCH_ROWS}))
       returning id)
     select auth.erase_audit_log(id) from gone`,
    [now],
    signal,
  );

export async function purgeExpired(service: AsService, now: Date, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (const [table, key, condition] of EXPIRED) {
    // The condition stands twice, because the row may have changed since the inner select: a factor may be verified by
    // now.
    const batch = `delete from ${table} where ${condition}
      and (${key}) in (select ${key} from ${table} where ${condition} limit ${BATCH_ROWS})`;
    deleted += await runInBatches(service, batch, [now], signal);
  }
  return deleted;
}

/**
 * The days after which audit rows and unused sessions are deleted (docs/operations/data-growth.md): the longest time
 * that browsers keep a cookie, and longer than security events are commonly kept. The SQL function
 * `auth.purge_audit_log` repeats the number, so that the server cannot delete newer audit rows.
 */
const RETENTION_DAYS = 400;

/**
 * Reads the sessions in the order of their ids, a page in each statement. An index on the time of the last renewal
 * would find the old ones faster, but each renewal would have to write it: no update of the table could be HOT any
 * more.
 */
const PURGE_PAGE = `
  with page as (select id from auth.sessions where id > $1 order by id limit ${BATCH_ROWS}),
  deleted as (
    delete from auth.sessions as session using page
     where session.id = page.id and coalesce(refreshed_at, created_at) <= $2
    returning session.id)
  select (select id from page order by id desc limit 1) as last, (select count(*)::int from deleted) as deleted`;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Returns the number of deleted sessions. A session that is renewed meanwhile stays. */
export async function purgeUnusedSessions(service: AsService, now: Date, signal: AbortSignal): Promise<number> {
  const limit = new Date(now.getTime() - RETENTION_DAYS * 24 * 3_600_000);
  let deleted = 0;
  for (let last: string | null = FIRST_ID; last !== null && !signal.aborted;) {
    const { rows }: { rows: { last: string | null; deleted: number }[] } = await service.statement(PURGE_PAGE, [
      last,
      limit,
    ]);
    deleted += rows[0]!.deleted;
    last = rows[0]!.last;
  }
  return deleted;
}

/** Returns the number of deleted rows. */
export async function purgeAuditLog(service: AsService, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rows } = await service.statement<{ count: number }>('select auth.purge_audit_log($1) as count', [
      BATCH_ROWS,
    ]);
    const { count } = rows[0]!;
    deleted += count;
    if (count < BATCH_ROWS || signal.aborted) return deleted;
  }
}

/** Excludes the tries of today, which count towards the daily limit, and claims whose lease has not expired. */
const IS_OVER = `counted_on < ($1::timestamptz at time zone 'UTC')::date and lease_until <= $1`;
/** The condition twice: another claim may have taken the row since the inner select. */
const DELETE_TRIES = `
  delete from public.analysis_runs
   where ${IS_OVER} and (user_id, kind, key) in (
     select user_id, kind, key from public.analysis_runs where ${IS_OVER} limit ${BATCH_ROWS})`;

/**
 * Deletes the counted tries of earlier days. The next analysis of a user does so too, but may never come. Returns the
 * number of deleted rows.
 */
export function purgeAnalysisRuns(service: AsService, now: Date, signal: AbortSignal): Promise<number> {
  return runInBatches(service, DELETE_TRIES, [now], signal);
}

const DELETE_LINKS = `
  delete from public.document_links
   where token_hash in (select token_hash from public.document_links where expires_at <= $1 limit ${BATCH_ROWS})`;

/** Deletes read-only links that have ended. Returns their number. */
export const purgeLinks = (service: AsService, now: Date, signal: AbortSignal): Promise<number> =>
  runInBatches(service, DELETE_LINKS, [now], signal);

/** 180 days, the period in which money may be returned: an operator may have to read the events of such a payment. */
const PAYLOAD_RETENTION_MS = 180 * 24 * 60 * 60_000;

const EMPTY_BATCH = `
  update public.payment_events set raw = ''
   where id in (select id from public.payment_events where received_at < $1 and raw <> '' limit ${BATCH_ROWS})`;

/**
 * Purges the payloads of old PayPal webhooks: they hold the payer's name and address. The rows stay, because a repeated
 * event is recognised by its id. Returns the number of purged payloads.
 */
export async function purgeWebhookPayloads(database: Database, clock: Clock, signal: AbortSignal): Promise<number> {
  const limit = new Date(clock.now().getTime() - PAYLOAD_RETENTION_MS);
  return runInBatches(database.asService('purge webhook payloads'), EMPTY_BATCH, [limit], signal);
}

const DELETE_VERSIONS = `
  delete from public.entry_versions
   where (user_id, date, id) in (select user_id, date, id from public.entry_versions where kept_at <= $1 limit ${BATCH_ROWS})`;

const DELETE_IMPORT_DAYS = `
  delete from public.import_days
   where (user_id, import_id, date) in (
     select user_id, import_id, date from public.import_days where written_at <= $1 limit ${BATCH_ROWS})`;

const DELETE_APPEND_KEYS = `
  delete from public.appended_items
   where (user_id, key) in (select user_id, key from public.appended_items where created_at <= $1 limit ${BATCH_ROWS})`;

/**
 * Deletes earlier versions of logs after 30 days, and with them the records that undo an import and the keys of
 * appended items. `follow_entry` (database/schema.sql) limits the number of versions. Returns the number of deleted
 * rows.
 */
export async function purgeVersions(database: Database, clock: Clock, signal: AbortSignal): Promise<number> {
  const limit = new Date(clock.now().getTime() - VERSION_DAYS * 24 * 3_600_000);
  const service = database.asService('purge versions');
  const versions = await runInBatches(service, DELETE_VERSIONS, [limit], signal);
  const importDays = await runInBatches(service, DELETE_IMPORT_DAYS, [limit], signal);
  return versions + importDays + (await runInBatches(service, DELETE_APPEND_KEYS, [limit], signal));
}
