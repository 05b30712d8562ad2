/**
 * Backup and restore of 365 days of 500 users against a bare COPY of the same rows, in one run: rate, ratio and the
 * highest memory of the command's process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { listTables, streamRows } from '#server/backup/read-tables.ts';
import { openSeededDatabase } from './seeded-database.ts';

const { values: options } = parseArgs({ options: { users: { type: 'string', default: '500' } } });
const USERS = Number(options.users);
const DAYS = 365;
const SAMPLE_MS = 50;
const BACKUP = join(import.meta.dirname, '..', '..', 'src', 'server', 'backup');

type Measured = { seconds: number; peakMb: number };

async function run(
  command: 'backup' | 'restore',
  args: readonly string[],
  env: Record<string, string>,
): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(BACKUP, `${command}-command.ts`), ...args, '--quiet'], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  let peakMb = 0;
  const sampling = setInterval(() => {
    readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (text) => (peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024)),
      () => undefined,
    );
  }, SAMPLE_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(sampling);
  if (code !== 0) throw new Error(`${command} exited with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1000, peakMb };
}

/** Reads all tables and drops the rows. Returns their bytes. */
async function drain(client: pg.Client): Promise<number> {
  let bytes = 0;
  for (const table of await listTables(client)) {
    for await (const chunk of streamRows(client, table)) bytes += chunk.length;
  }
  return bytes;
}

const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-backup-benchmark-'));
const database = await openSeededDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
try {
  await client.query("insert into auth.users (email) select n || '@example.com' from generate_series(1, $1::int) n", [
    USERS,
  ]);
  await client.query(
    `insert into entries (user_id, date, content)
       select id, current_date - day,
              (select '<ol>' || string_agg('<li><p>' || md5(id::text || day || item) || ' and shipped it</p></li>', '') || '</ol>'
                 from generate_series(1, 8) item)
         from auth.users, generate_series(0, ${DAYS - 1}) day`,
  );
  await client.query('vacuum analyze');
  await drain(client);
  const startedAt = performance.now();
  const megabytes = (await drain(client)) / 1e6;
  const bareSeconds = (performance.now() - startedAt) / 1000;

  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  await writeFile(join(folder, 'identity.txt'), identity);
  const env = { DATABASE_URL: database.url, DATA_DIR: database.dataDir };
  const [plain, encrypted] = [join(folder, 'plain.tar.zst'), join(folder, 'encrypted.tar.zst.age')];
  const backup = await run('backup', [plain], env);
  const sealed = await run('backup', [encrypted, '--recipient', recipient], env);
  const check = await run('restore', [encrypted, '--identity', join(folder, 'identity.txt'), '--check'], env);
  const restore = await run('restore', [plain], { DATA_DIR: join(folder, 'restored') });
  const { size } = await stat(plain);
  const line = (what: string, { seconds, peakMb }: Measured): string =>
    `  ${what.padEnd(22)}${(megabytes / seconds).toFixed(1).padStart(7)} MB/s  ${(seconds / bareSeconds).toFixed(1)}x a bare COPY  peak ${Math.round(peakMb)} MB\n`;
  process.stdout.write(
    `\nBackup of ${USERS * DAYS} logs, ${Math.round(megabytes)} MB of rows in ${Math.round(size / 1e6)} MB\n` +
      `  ${'bare COPY'.padEnd(22)}${(megabytes / bareSeconds).toFixed(1).padStart(7)} MB/s\n` +
      line('backup', backup) +
      line('backup with age', sealed) +
      line('check with age', check) +
      line('restore', restore),
  );
} finally {
  await client.end();
  await database.close();
  await rm(folder, { recursive: true, force: true });
}
