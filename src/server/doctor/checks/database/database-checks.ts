/** Checks of the database. They read as its owner, migrate nothing and start no new database. */
import pg from 'pg';
import type { Config } from '#server/config/config.ts';
import { readUnsafeSettings } from '#server/database/durability.ts';
import { ok, warning, type Check, type Finding } from '../../check.ts';
import { describeOffset } from '../clock-offset.ts';
import { checkConnections } from './check-connections.ts';
import { checkMigrations } from './check-migrations.ts';
import { checkReplication } from './check-replication.ts';
import { checkRoles } from './check-roles.ts';
import { checkServer } from './check-server.ts';
import { describeConnectFailure } from './describe-connect-failure.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export type OwnerDatabase = {
  /** Null: the database cannot be opened. */
  url: string | null;
  /** Why it cannot. */
  problem: Finding | null;
};

type DatabaseConfig = Pick<Config, 'workers' | 'databaseUrl' | 'databasePoolUrl'>;

export const databaseChecks = (database: OwnerDatabase, config: DatabaseConfig, now: () => Date): Check[] => {
  const check = (name: string, run: (owner: pg.Client, ownerUrl: string) => Promise<Finding[]>): Check => ({
    name,
    async run() {
      if (database.url === null) return name === 'database' ? [database.problem!] : [];
      const owner = new pg.Client({ connectionString: database.url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
      owner.on('error', () => undefined);
      try {
        await owner.connect();
      } catch (error) {
        // All checks of the database fail here: only the first one, `database`, reports it.
        return name === 'database' ? [describeConnectFailure(error)] : [];
      }
      try {
        return await run(owner, database.url);
      } finally {
        await owner.end();
      }
    },
  });
  return [
    check('database', (owner) =>
      checkServer(owner, config.databaseUrl === null ? 'embedded PostgreSQL' : 'PostgreSQL'),
    ),
    check('roles', (owner, ownerUrl) => checkRoles(owner, ownerUrl, CONNECT_TIMEOUT_MS)),
    check('durability', checkDurability),
    check('migrations', checkMigrations),
    check('replication', checkReplication),
    check('connections', (owner, ownerUrl) => checkConnections(owner, ownerUrl, config)),
    check('clock', (owner) => checkClock(owner, now)),
  ];
};

async function checkDurability(owner: pg.Client): Promise<Finding[]> {
  const settings = await readUnsafeSettings(owner);
  if (settings.length === 0) return [ok('an acknowledged save is on disk')];
  return [
    warning(
      `${settings.join(', ')}: off, so a crash can lose acknowledged saves`,
      `alter system set ${settings[0]!} = on, unless your service stores each commit elsewhere.`,
    ),
  ];
}

async function checkClock(owner: pg.Client, now: () => Date): Promise<Finding[]> {
  const before = now().getTime();
  const { rows } = await owner.query<{ at: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as at',
  );
  const after = now().getTime();
  return [describeOffset('the database', rows[0]!.at - (before + after) / 2, (after - before) / 2)];
}
