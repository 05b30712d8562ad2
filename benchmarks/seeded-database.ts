/** A private PostgreSQL as shipped (fsync on), with a hundred people who each wrote for a year. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';

export const DAYS_EACH = 365;
export const LOG_BYTES = 2_000;

export type SeededDatabase = { url: string; dataDir: string; close(): Promise<void> };

export async function openSeededDatabase(): Promise<SeededDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-benchmark-'));
  const log = createLog('error');
  const server = await openEmbeddedServer({ dataDir, log });
  await migrate(server.url, log);
  return {
    url: server.url,
    dataDir,
    async close() {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A log of about 2 KB as the editor writes it: a numbered list. `variant` makes one log differ from another. */
export function logOf(variant: number): string {
  const item = `<li><p>Moved the needle on part ${variant}, wrote the test first &amp; shipped it before lunch</p></li>`;
  return `<ol>${item.repeat(Math.floor(LOG_BYTES / item.length))}</ol>`;
}

/** A year of logs up to today for everybody who has signed up, all of them Closers, so that no day is locked. */
export async function writeYears(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("update profiles set subscription_plan = 'premium'");
    await client.query(
      `insert into entries (user_id, date, content)
       select users.id, current_date - days, '<h2 class="date-header">A day</h2>' || $1
         from auth.users, generate_series(0, $2::int - 1) days`,
      [logOf(0), DAYS_EACH],
    );
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
