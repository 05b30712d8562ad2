/**
 * Saves logs as the product does, each save a transaction of its own under row-level security with all triggers, on several
 * connections: every simulated day each user begins a log and saves it again and again, interleaved with all others.
 * Reports how much the tables grew beyond what a rewritten table needs, and how many updates were HOT.
 *
 * The loop runs inside PostgreSQL, so that millions of saves take minutes. Options: --users=N --days=N --saves=N (of one
 * log) --connections=N, --plain to run without the migrations' storage settings, --set='fillfactor = 80' to try others for
 * `entries`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';
import { printFigures } from '../figures.ts';

const { values: options } = parseArgs({
  options: {
    users: { type: 'string', default: '10000' },
    days: { type: 'string', default: '10' },
    saves: { type: 'string', default: '20' },
    connections: { type: 'string', default: '4' },
    plain: { type: 'boolean', default: false },
    set: { type: 'string', default: '' },
  },
});
const [users, days, saves, connections] = [options.users, options.days, options.saves, options.connections].map(
  Number,
) as [number, number, number, number];

/** Saves one day of one worker's users. As in the data API, each save is a transaction with the role `authenticated`. */
const PROCEDURE = `
  create procedure public.save_day(worker int, workers int, day date, saves int) language plpgsql as $$
  declare
    logs text[] := array(
      select '<h2 class="date-header">' || to_char(day, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2><ol>'
             || string_agg('<li><p>Moved the needle on part ' || item || ' before lunch</p></li>', '' order by item) || '</ol>'
        from generate_series(1, saves + 1) length, generate_series(1, length) item group by length order by length);
    people uuid[] := array(select id from profiles where abs(hashtext(id::text)) % workers = worker);
    person uuid;
  begin
    for round in 0..saves loop
      for person in select p from unnest(people) p order by hashtext(p::text || round) loop
        perform set_config('role', 'authenticated', true),
                set_config('request.jwt.claims', '{"sub":"' || person || '","role":"authenticated"}', true);
        if round = 0 then
          insert into entries (user_id, date, content) values (person, day, logs[1]);
        else
          update entries set content = logs[round + 1] where user_id = person and date = day and revision = round;
          if not found then raise exception 'a save was lost'; end if;
        end if;
        commit;
      end loop;
    end loop;
  end $$`;

const TABLES = ['entries', 'entry_versions'];
const SIZES = `
  select c.relname as table, pg_relation_size(c.oid) as heap, pg_indexes_size(c.oid) as indexes,
         coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0) as toast,
         n_tup_upd as updates, n_tup_hot_upd as hot, n_dead_tup as dead, autovacuum_count as vacuums
    from pg_class c join pg_stat_all_tables s on s.relid = c.oid
   where c.oid = any($1::regclass[]) order by c.relname`;
type Size = { table: string } & Record<'heap' | 'indexes' | 'toast' | 'updates' | 'hot' | 'dead' | 'vacuums', string>;

const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-bloat-'));
const log = createLog('error');
const server = await openEmbeddedServer({ dataDir, log });
const clients: pg.Client[] = [];
try {
  await migrate(server.url, log);
  for (let index = 0; index <= connections; index += 1) {
    // With the name of the server's connections, `report_entry_change` sends a notice to this connection. For other
    // names it calls `pg_notify`, which serialises commits.
    const client = new pg.Client({ connectionString: server.url, application_name: 'hustle-forge' });
    await client.connect();
    // The benchmark measures pages, not the flushes of the disk.
    await client.query('set synchronous_commit = off; set client_min_messages = warning');
    clients.push(client);
  }
  const admin = clients.at(-1)!;
  if (options.plain) {
    const { rows } = await admin.query<{ statement: string }>(
      `select format('alter table %s reset (%s)', oid::regclass,
                (select string_agg(split_part(option, '=', 1), ', ') from unnest(reloptions) option)) as statement
         from pg_class where relkind = 'r' and reloptions is not null and relnamespace in ('public'::regnamespace, 'auth'::regnamespace)`,
    );
    for (const { statement } of rows) await admin.query(statement);
  }
  if (options.set !== '') await admin.query(`alter table entries set (${options.set})`);
  await admin.query(PROCEDURE);
  await admin.query('insert into auth.users (id) select gen_random_uuid() from generate_series(1, $1)', [users]);
  const startedAt = performance.now();
  for (let day = days - 1; day >= 0; day -= 1) {
    await Promise.all(
      clients
        .slice(0, connections)
        .map((client, worker) =>
          client.query(`call public.save_day(${worker}, ${connections}, current_date - ${day}, ${saves})`),
        ),
    );
    const done = (days - day) * users * saves;
    const [entries] = (await admin.query<Size>(SIZES, [['entries']])).rows;
    process.stdout.write(
      `${done.toLocaleString('en')} saves, ${Math.round((done / (performance.now() - startedAt)) * 1000)} a second, ` +
        `entries ${describe(entries!)}\n`,
    );
  }
  const used = (await admin.query<Size>(SIZES, [TABLES])).rows;
  // Without a fillfactor, `vacuum full` writes full pages: the smallest size of the table.
  await admin.query('alter table entries reset (fillfactor)');
  await admin.query('vacuum full entries');
  const compact = (await admin.query<Size>(SIZES, [TABLES])).rows;
  const [before, after] = [used, compact].map((rows) => rows.find(({ table }) => table === 'entries')!) as [Size, Size];
  const heap = Number(before.heap) / Number(after.heap);
  const indexes = Number(before.indexes) / Number(after.indexes);
  const hot = Number(before.hot) / Number(before.updates);
  printFigures(
    `${(users * days * saves).toLocaleString('en')} saves of ${(users * days).toLocaleString('en')} logs on ${connections} connections` +
      (options.plain ? ', without storage settings' : ''),
    [
      { what: 'heap against a rewritten one', measured: `${heap.toFixed(2)}x`, target: 'at most 2x', isMet: heap <= 2 },
      {
        what: 'indexes against rebuilt ones',
        measured: `${indexes.toFixed(2)}x`,
        target: 'at most 1.6x',
        isMet: indexes <= 1.6,
      },
      { what: 'HOT updates', measured: `${(hot * 100).toFixed(1)} %`, target: 'at least 90 %', isMet: hot >= 0.9 },
    ],
  );
  for (const [what, rows] of [
    ['used', used],
    ['rewritten', compact],
  ] as const)
    for (const size of rows) process.stdout.write(`  ${what.padEnd(9)} ${size.table}: ${describe(size)}\n`);
} finally {
  for (const client of clients) await client.end();
  await server.close().catch(() => undefined);
  await rm(dataDir, { recursive: true, force: true });
}

function describe({ heap, indexes, toast, updates, hot, dead, vacuums }: Size): string {
  const mb = (bytes: string): string => `${(Number(bytes) / 2 ** 20).toFixed(1)} MB`;
  return `heap ${mb(heap)}, indexes ${mb(indexes)}, toast ${mb(toast)}, ${updates} updates, ${hot} HOT, ${dead} dead, ${vacuums} autovacuums`;
}
