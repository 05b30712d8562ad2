/** Fills a migrated database with five million days of made-up users, so that the planner sees tables of that size. */
import pg from 'pg';

export const DAYS_EACH = 365;

/** `writer` has every kind of row that the statements read. `newcomer` has only an account. */
export type People = { writer: string; newcomer: string };

/** Runs in this order. `users` is a table of ids and numbers. Texts are short: plans depend on the number of rows. */
const FILL: readonly string[] = [
  `insert into auth.users (id, email) select id, 'user-' || n || '@example.com' from users`,
  `insert into auth.identities (user_id, provider, provider_id, identity_data)
     select id, 'email', id::text, '{}' from users`,
  `insert into auth.sessions (user_id) select id from users, generate_series(1, 2)`,
  `insert into auth.refresh_tokens (session_id, generation, token_hash, salt)
     select id, 1, sha256(id::text::bytea), '\\x00' from auth.sessions`,
  `insert into auth.audit_log (user_id, actor, event) select id, 'user', 'login' from users, generate_series(1, 10)`,
  `insert into profiles (id, subscription_plan, access_valid_until, ai_consent)
     select id, case when n % 5 = 1 then 'premium' else 'free' end,
            case when n % 5 = 1 then current_date + (n % 360) + 1 end, n % 3 = 1 from users`,
  `insert into entries (user_id, date, content, content_text)
     select id, current_date - day, '<p>Shipped part ' || day || '</p>', 'Shipped part ' || day
       from users, generate_series(${DAYS_EACH} - 1, 0, -1) as day where n > 1`,
  `insert into entry_words (user_id, date, revision, words) select user_id, date, 1, lower(content_text) from entries`,
  `insert into entry_versions (user_id, date, entry_id, content, written_at, kept_at, replaced_by)
     select user_id, date, id, content, now(), now() - interval '20 days' * random(), 'edit' from entries
      where date > current_date - 60`,
  `insert into analyses (user_id, kind, date, input_hash, provider, model, prompt_version, finish_reason, duration_ms, score, text)
     select user_id, 'feedback', date, md5(id::text), 'p', 'm', 1, 'stop', 1, 7, 'Good.' from entries
      where extract(day from date)::int % 7 = 0`,
  `insert into analyses (user_id, kind, period_from, period_to, input_hash, provider, model, prompt_version, finish_reason,
                         duration_ms, text)
     select id, 'trend', current_date - week * 7 - 6, current_date - week * 7, md5(week::text), 'p', 'm', 1, 'stop', 1, 'Good.'
       from users, generate_series(0, 20) as week`,
  `insert into analysis_runs (user_id, kind, key, run, lease_until, counted_on, tries)
     select id, 'feedback', (current_date - day)::text, gen_random_uuid(), '-infinity', current_date - day, 1
       from users, generate_series(0, 5) as day`,
  `insert into plan_changes (user_id, plan, reason) select id, 'premium', 'operator' from users, generate_series(1, 5)`,
  `insert into plan_uses (user_id, kind) select id, 'analysis' from users, generate_series(1, 10)`,
  `insert into plan_reminders (user_id, access_valid_until, days_before)
     select id, current_date - year, 30 from users, generate_series(1, 5) as year`,
  `insert into payments (user_id, order_id, amount_minor, currency, status)
     select id, 'ORDER' || n || '-' || year, 5900, 'EUR', 'completed' from users, generate_series(1, 3) as year`,
  `insert into payment_changes (payment_id, status) select id, 'completed' from payments`,
  `insert into payment_ledger (payment_id, kind, amount_minor, currency, provider_ref)
     select id, 'capture', 5900, 'EUR', order_id from payments`,
];

export async function fillDatabase(url: string, users: number): Promise<People> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // `replica` skips triggers and foreign keys, which would take most of the time. The rows are consistent anyway.
    await client.query("set session_replication_role = replica; set maintenance_work_mem = '256MB'; set jit = off");
    await client.query(
      `create temporary table users as
         select id, row_number() over (order by id)::int as n
           from (select gen_random_uuid() as id from generate_series(1, ${users})) as made order by id`,
    );
    for (const statement of FILL) await client.query(statement);
    await client.query('vacuum (analyze)');
    const { rows } = await client.query<{ id: string }>('select id from users where n in (1, 6) order by n');
    return { newcomer: rows[0]!.id, writer: rows[1]!.id };
  } finally {
    await client.end();
  }
}
