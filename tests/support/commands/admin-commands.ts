/** Runs operator commands (`npm run admin`) on a database with one user. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { runAdminCommand } from '#server/admin.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

export const EMAIL = 'ada@example.com';

export type CommandResult = { code: number; stdout: string; stderr: string };

/** Call once per file. `database` and `dataDir` are set before the first test. */
export function setUpAdmin() {
  const world = {
    database: undefined as unknown as TestDatabase,
    dataDir: '',
    environment: () => ({ PATH: process.env['PATH'], DATABASE_URL: world.database.url, DATA_DIR: world.dataDir }),
    /** Runs a command in this process, because starting a process takes longer than most commands. */
    admin: (...args: string[]): Promise<CommandResult> => world.adminWith({}, ...args),
    adminWith: (settings: Record<string, string>, ...args: string[]): Promise<CommandResult> =>
      runAdminCommand(args, { ...world.environment(), ...settings }).then(
        (text) => ({ code: 0, stdout: `${text}\n`, stderr: '' }),
        (error: Error) => ({ code: 1, stdout: '', stderr: `${error.message}\n` }),
      ),
  };
  beforeAll(async () => {
    world.database = await createTestDatabase();
    world.dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-admin-'));
    await world.database.admin.query(
      `insert into auth.users (email, created_at, updated_at) values ($1, now(), now())`,
      [EMAIL],
    );
  });
  afterAll(async () => {
    await world.database.drop();
    await rm(world.dataDir, { recursive: true });
  });
  return world;
}
