/**
 * Fills an empty embedded database with a year of short logs for many users, as the product would have stored them, and
 * keeps it in a folder for reuse. Set-based and without indexes until the end: 36 million logs take minutes.
 */
import { readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';
import { toSearchForm } from '#domain/match-search.ts';
import { PASSWORD_HASH } from '../../tests/support/passwords.ts';

export type Size = { users: number; days: number };

/** For `checkDisk`. Measured: heap, search index and keys of a log of about 60 characters, and the keys' sort files. */
const BYTES_PER_LOG = 900;
const DAYS_PER_STATEMENT = 5;

/** Only for the bulk load: a crash during it destroys the data. The measured server has the product's own settings. */
const BULK_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  // The rows of a table that was emptied in the same transaction need no WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  autovacuum: 'off',
  shared_buffers: '512MB',
  maintenance_work_mem: '768MB',
  work_mem: '256MB',
};

/** `n` is the number of the user, `age` that of the day: today is 0. */
const VERB = `(array['Shipped','Fixed','Wrote','Sold','Called','Closed','Moved','Cut','Tested','Signed','Planned','Merged'])
  [1 + (n * 7 + age) % 12]`;
const NOUN = `(array['invoices','contracts','parsers','mails','tickets','reports','slides','orders','patches','drafts','leads',
  'budgets','audits','forms','queues','backups','charts','prices','routes','quotes','labels','hooks','schemas','menus'])
  [1 + (n * 13 + age * 5) % 24]`;
const COUNT = '(age * 31 + n) % 1000';
const TEXT = `${VERB} || ' ' || ${NOUN} || ' for team' || n % 97 || ', ' || ${COUNT} || ' lines after lunch.'`;
const WORDS = `' ' || lower(${VERB}) || ' ' || ${NOUN} || ' for team' || n % 97 || ' ' || ${COUNT} || ' lines after lunch '`;
/** A word of every 24th log. */
export const SEARCHED_WORD = 'invoices';

const FILLED = ['entries', 'entry_words', 'entry_versions'];

/** Starts the server of the folder, fills it unless it is filled, and stops it. */
export async function ensureSeeded(folder: string, size: Size): Promise<void> {
  const marker = join(folder, 'seeded.json');
  const wanted = JSON.stringify(size);
  const found = await readFile(marker, 'utf8').catch(() => null);
  if (found === wanted) return printProgress(folder, `has ${describe(size)} already`);
  if (found !== null) throw new Error(`${folder} has other data (${found}): give another folder, or delete it`);
  await checkDisk(folder, size);
  const log = createLog('error');
  const server = await openEmbeddedServer({ dataDir: folder, log, settings: BULK_SETTINGS });
  try {
    await migrate(server.url, log);
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await fill(client, folder, size);
      await verify(client, size);
    } finally {
      await client.end();
    }
  } finally {
    await server.close();
  }
  await writeFile(marker, wanted);
}

const logsOf = ({ users, days }: Size): number => users * days;
const describe = (size: Size): string => `${logsOf(size).toLocaleString('en')} logs of ${size.users} users`;

async function checkDisk(folder: string, size: Size): Promise<void> {
  const { bavail, bsize } = await statfs(join(folder, '..'));
  const [needed, free] = [logsOf(size) * BYTES_PER_LOG, bavail * bsize].map((bytes) => bytes / 2 ** 30);
  printProgress(folder, `${describe(size)} need about ${needed!.toFixed(1)} GB, ${free!.toFixed(1)} GB are free`);
  if (needed! > free!) throw new Error('there is not enough room');
}

function printProgress(folder: string, text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${folder}: ${text}\n`);
}

async function fill(client: pg.Client, folder: string, { users, days }: Size): Promise<void> {
  const step = async (what: string, text: string, values: unknown[] = []): Promise<void> => {
    await client.query(text, values);
    printProgress(folder, what);
  };
  // Triggers and foreign keys do not run for these rows: `verify` checks what they would have done.
  await client.query('set session_replication_role = replica; set timezone = utc');
  await client.query(
    'create temporary table numbered as select n, gen_random_uuid() as id from generate_series(1, $1) n',
    [users],
  );
  await client.query('begin');
  await step(
    `${users} accounts`,
    `
    insert into auth.users (id, email, password_hash, email_confirmed_at, raw_app_meta_data, created_at)
    select id, 'writer-' || n || '@example.com', '${PASSWORD_HASH}', now() - interval '1 year',
           '{"provider": "email", "providers": ["email"]}', now() - interval '1 year' from numbered`,
  );
  await client.query(`
    insert into auth.identities (user_id, provider, provider_id, identity_data)
    select id, 'email', id::text, jsonb_build_object('sub', id, 'email', 'writer-' || n || '@example.com', 'email_verified', true)
      from numbered`);
  // Premium users may write every day. Free users may write only recent ones.
  await client.query("insert into profiles (id, subscription_plan) select id, 'premium' from numbered");
  await client.query(`
    with started as (
      insert into auth.sessions (user_id, amr) select id, '[{"method": "password", "timestamp": 1}]' from numbered returning id)
    insert into auth.refresh_tokens (session_id, generation, token_hash, salt)
    select id, 1, sha256(id::text::bytea), '\\x00' from started`);

  const restore = await dropKeys(client);
  await client.query(`truncate ${FILLED.join(', ')}`);
  for (let oldest = days; oldest > 0; oldest -= DAYS_PER_STATEMENT) {
    const newest = Math.max(oldest - DAYS_PER_STATEMENT, 0);
    await client.query(
      `insert into entries (user_id, date, id, content, content_text, created_at, updated_at)
       select id, date, gen_random_uuid(), header || text || '</p></li></ol>', text, at, at
         from (select age, current_date - age as date, '<h2 class="date-header">'
                      || to_char(current_date - age, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2><ol><li><p>' as header
                 from generate_series($1::int, $2::int, -1) age) d,
              lateral (select id, ${TEXT} as text, date + interval '19 hours' + n % 14400 * interval '1 second' as at
                         from numbered) u`,
      [oldest - 1, newest],
    );
    if (newest % 50 < DAYS_PER_STATEMENT || newest === 0) printProgress(folder, `${days - newest} of ${days} days`);
  }
  await step(
    'the search index',
    `
    insert into entry_words (user_id, date, revision, words)
    select id, current_date - age, 1, ${WORDS} from numbered, generate_series($1::int, 0, -1) age`,
    [days - 1],
  );
  await step(
    'the earlier versions of the last 30 days',
    `
    insert into entry_versions (user_id, date, entry_id, content, written_at, kept_at, replaced_by)
    select user_id, date, id, content, created_at, created_at + interval '20 minutes', 'edit'
      from entries where date > current_date - 30 and get_byte(uuid_send(id), 0) % 3 = 0`,
  );
  for (const [what, text] of restore) await step(what, text);
  await client.query('commit');
  await step('vacuumed', 'vacuum (freeze, analyze)');
}

/** Drops the keys and indexes of the filled tables. Returns the statements that make them again. */
async function dropKeys(client: pg.Client): Promise<[what: string, text: string][]> {
  const { rows: constraints } = await client.query<{ name: string; table: string; definition: string }>(
    `select quote_ident(conname) as name, conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition
       from pg_constraint
      where contype in ('p', 'u', 'f') and (conrelid = any($1::regclass[]) or confrelid = any($1::regclass[]))
      order by contype = 'f', contype desc`,
    [FILLED],
  );
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where indrelid = any($1::regclass[])
        and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))`,
    [FILLED],
  );
  for (const { name, table } of constraints.toReversed())
    await client.query(`alter table ${table} drop constraint ${name}`);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  return [
    ...constraints.map(({ name, table, definition }): [string, string] => [
      `${table}.${name}`,
      `alter table ${table} add constraint ${name} ${definition}`,
    ]),
    ...indexes.map(({ name, definition }): [string, string] => [name, definition]),
  ];
}

/** Throws unless the rows equal those that triggers and the product would write, and all constraints are valid. */
async function verify(client: pg.Client, { users, days }: Size): Promise<void> {
  const { rows } = await client.query<{ content: string; text: string; words: string; expected: string; day: string }>(
    `select content, content_text as text, words, entry_text(content) as expected, replace_date_header(content, date) as day
       from entries join entry_words using (user_id, date)
      where user_id in (select id from auth.users where email like 'writer-%7@example.com' limit 20)`,
  );
  if (rows.length === 0) throw new Error('no row was written');
  for (const { content, text, words, expected, day } of rows) {
    if (text !== expected || content !== day || words !== toSearchForm(text)) throw new Error(`wrong row: ${content}`);
  }
  const { rows: counts } = await client.query<{ entries: string; words: string; invalid: string; disabled: string }>(
    `select (select count(*) from entries) as entries, (select count(*) from entry_words) as words,
            (select count(*) from pg_constraint where not convalidated) as invalid,
            (select count(*) from pg_trigger where tgenabled <> 'O') as disabled`,
  );
  const { entries, words, invalid, disabled } = counts[0]!;
  const wanted = String(users * days);
  if (entries !== wanted || words !== wanted || invalid !== '0' || disabled !== '0') {
    throw new Error(`the data is not whole: ${JSON.stringify(counts[0])}`);
  }
}
