/** A database with users, and the commands of backup and restore on it. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { runBackup } from '#server/backup/backup-command.ts';
import type { CommandDeps } from '#server/backup/command-line.ts';
import { createLog } from '#server/log.ts';
import { withOrdinaryOwner, createTestDatabase, type TestDatabase } from '../test-database.ts';

export const log = createLog('silent');
export const USERS = 40;

/** Call once per file. `source` and `folder` are set before the first test. */
export function setUpBackups() {
  const world = {
    source: undefined as unknown as TestDatabase,
    /** For archives and data directories. */
    folder: '',
    warnings: [] as string[],
    deps: (env: Record<string, string>, signal = new AbortController().signal): CommandDeps => ({
      env: { NODE_ENV: 'test', ...env },
      now: () => new Date('2026-11-23T06:30:00Z'),
      signal,
      onProgress: () => undefined,
      warn: (line) => world.warnings.push(line),
      log,
    }),
    newDataDir: () => mkdtemp(join(world.folder, 'data-')),
    newFile: (): string => join(world.folder, `${randomBytes(6).toString('hex')}.tar.zst`),
    /** Returns the path of the new archive. */
    async backUp(env: Record<string, string>, ...args: string[]): Promise<string> {
      const file = world.newFile();
      await runBackup([file, ...args], world.deps(env));
      return file;
    },
    withOrdinaryOwner: <T>(work: (url: string, owner: string) => Promise<T>): Promise<T> =>
      withOrdinaryOwner(world.source, work),
  };

  beforeAll(async () => {
    world.source = await createTestDatabase();
    world.folder = await mkdtemp(join(tmpdir(), 'hustle-forge-backup-'));
    await world.source.admin.query(
      "insert into auth.users (email) select n || '@example.com' from generate_series(1, $1::int) n",
      [USERS],
    );
    // A restore might damage bytes that COPY escapes, values that triggers would change, or the state of a sequence.
    await world.source.admin.query(
      `insert into entries (user_id, date, content)
         select id, '2026-11-11', E'<p>tab\\t back\\\\slash\\r\\n end \\\\. ü 💪 ' || email || '</p>' from auth.users`,
    );
    // Two updates raise `revision` to 3, so that a restore which resets it to the default of 1 is noticed.
    await world.source.admin.query("update entries set content = content || '<p>again</p>'");
    await world.source.admin.query('update entries set updated_at = $1', ['2026-01-01T00:00:00.123456Z']);
    await world.source.admin.query(
      "insert into auth.audit_log (actor, event) values ('operator', 'one'), ('operator', 'two')",
    );
    await world.source.admin.query(
      "insert into payments (user_id, amount_minor, currency) select id, 2400, 'USD' from auth.users",
    );
  });
  afterAll(async () => {
    await world.source.drop();
    await rm(world.folder, { recursive: true });
  });
  beforeEach(() => {
    world.warnings = [];
  });
  return world;
}

export async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
