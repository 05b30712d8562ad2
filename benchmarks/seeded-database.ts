/** A temporary embedded PostgreSQL with production settings (fsync on), and the benchmarks' sample logs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { clusterPaths } from '#server/database/embedded/cluster.ts';
import { readLockFile } from '#server/database/embedded/postmaster.ts';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';

export const DAYS_EACH = 365;
export const LOG_BYTES = 2_000;

/** `pid`: the process id of PostgreSQL. */
export type SeededDatabase = { url: string; dataDir: string; pid: number; close(): Promise<void> };

/** @param settings override those of the embedded server */
export async function openSeededDatabase(settings: Record<string, string> = {}): Promise<SeededDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-benchmark-'));
  const log = createLog('error');
  const server = await openEmbeddedServer({ dataDir, log, settings });
  await migrate(server.url, log);
  const lockFile = await readLockFile(clusterPaths(dataDir).cluster);
  return {
    pid: lockFile!.pid,
    url: server.url,
    dataDir,
    async close() {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Creates a log of about 2 KB in the editor's HTML. Its last item contains `variant`, as an edit changes one item. */
export function createLogHtml(variant: number): string {
  const item = (part: number): string =>
    `<li><p>Moved the needle on part ${part}, wrote the test first &amp; shipped it before lunch</p></li>`;
  return `<ol>${item(0).repeat(Math.floor(LOG_BYTES / item(0).length) - 1)}${item(variant)}</ol>`;
}

/**
 * Writes a year of logs for every user, each as if an item was appended by a key, and grants all users the premium
 * plan, so that no day is locked.
 */
export async function writeYears(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("update profiles set subscription_plan = 'premium'");
    await client.query(
      `insert into entries (user_id, date, content)
       select users.id, current_date - days, '<h2 class="date-header">A day</h2>' || $1
         from auth.users, generate_series(0, $2::int - 1) days`,
      [createLogHtml(0), DAYS_EACH],
    );
    // An empty table would be planned to be scanned, and the plan kept while appends fill it.
    await client.query(
      `insert into appended_items (user_id, key, items_hash, date, revision)
       select user_id, 'api:' || gen_random_uuid(), repeat('x', 43), date, revision from entries`,
    );
    await client.query('vacuum analyze');
    // Otherwise the disk would still be writing these rows while a benchmark measures.
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}
