/** Checks of the database. They read as its owner, migrate nothing and start no new database. */
import pg from 'pg';
import type { Config } from '../../config/config.ts';
import { NoPrimaryError } from '../../database/connection/primary-finder.ts';
import { POOL_SIZE } from '../../database/connection/request-pool.ts';
import { readUnsafeSettings } from '../../database/durability.ts';
import { isLoginFailure } from '../../database/database-error.ts';
import { findIn, label, rejectOtherHistory } from '../../database/migrations/ledger.ts';
import type { Applied } from '../../database/migrations/ledger.ts';
import { MIN_SERVER_VERSION } from '../../database/migrations/migrate.ts';
import { readMigrations } from '../../database/migrations/migration-files.ts';
import { rejectPrivilegedLogin, requestConnection } from '../../database/roles.ts';
import { formatBytes } from '../../backup/command-line.ts';
import { fault, ok, reasonOf, warning } from '../check.ts';
import type { Check, Finding } from '../check.ts';
import { describeFailure } from '../request.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const LAG_WARNING_SECONDS = 30;
const RETAINED_WAL_WARNING_BYTES = 5_000_000_000;
/** The listener for changes of each process. */
const LISTENERS = 1;
/** Migrations, an operator's command, a backup. */
const OTHER_CONNECTIONS = 6;
/** A code of an authenticator app is accepted for 30 seconds before and after its time. */
const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAULT_MS = 25_000;

export type OwnerDatabase = {
  /** Null: the database cannot be opened. */
  url: string | null;
  /** Why it cannot. */
  problem: Finding | null;
};

type DatabaseConfig = Pick<Config, 'workers' | 'databaseUrl'>;

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
        // One line for the connection is enough.
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
    check('database', (owner) => checkServer(owner, config)),
    check('roles', checkRoles),
    check('durability', checkDurability),
    check('migrations', checkMigrations),
    check('replication', checkReplication),
    check('connections', (owner, ownerUrl) => checkConnections(owner, ownerUrl, config)),
    check('clock', (owner) => checkClock(owner, now)),
  ];
};

/** SQLSTATEs and codes of the system, in words. */
export function describeConnectFailure(error: unknown): Finding {
  const { code } = error as { code?: string };
  const reason = reasonOf(error);
  if (error instanceof NoPrimaryError)
    return fault(reason, 'Promote a standby, or wait for the failover; check the hosts in DATABASE_URL.');
  if (isLoginFailure(code)) {
    return fault(
      `the database refuses the login: ${reason}`,
      'Check user and password in DATABASE_URL, and pg_hba.conf on the database.',
    );
  }
  if (code === '3D000')
    return fault(reason, 'Create it: create database NAME owner USER (docs/operations.md, "The database").');
  if (code === '53300')
    return fault('the database has no connection left', 'Raise max_connections, or lower WEB_CONCURRENCY.');
  if (code === '57P03') return fault(reason, 'It starts or stops at this moment: try again in a minute.');
  const { problem } = describeFailure(error);
  return fault(
    `the database cannot be reached: ${problem}`,
    'Check host and port in DATABASE_URL, and whether PostgreSQL runs.',
  );
}

async function checkServer(owner: pg.Client, { databaseUrl }: DatabaseConfig): Promise<Finding[]> {
  const startedAt = performance.now();
  const { rows } = await owner.query<{
    version: string;
    number: number;
    standby: boolean;
    size: number;
    readonly: boolean;
  }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            pg_is_in_recovery() as standby, pg_database_size(current_database())::float8 as size,
            current_setting('default_transaction_read_only') = 'on' as readonly`,
  );
  const ms = Math.round(performance.now() - startedAt);
  const { version, number, standby, size, readonly } = rows[0]!;
  const kind = databaseUrl === null ? 'embedded PostgreSQL' : 'PostgreSQL';
  if (number < MIN_SERVER_VERSION)
    return [fault(`PostgreSQL ${version} is too old`, 'Upgrade the database server to 15 or newer.')];
  if (standby || readonly) {
    const why = standby ? 'a standby that only reads' : 'set to read only (default_transaction_read_only)';
    return [fault(`${kind} ${version} is ${why}`, 'Name the primary in DATABASE_URL, or promote this one.')];
  }
  return [ok(`${kind} ${version} answers in ${ms} ms and holds ${formatBytes(size)}`)];
}

async function checkRoles(_owner: pg.Client, ownerUrl: string): Promise<Finding[]> {
  const pool = new pg.Pool({ ...requestConnection(ownerUrl), max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await rejectPrivilegedLogin(pool);
    const { rows } = await pool.query<{ missing: string | null }>(
      `select string_agg(wanted, ', ') as missing from unnest(array['anon', 'authenticated', 'service_role']) wanted
        where not coalesce((select pg_has_role(session_user, oid, 'member') from pg_catalog.pg_roles where rolname = wanted), false)`,
    );
    const { rows: bypasses } = await pool.query<{ bypasses: boolean }>(
      "select coalesce(bool_and(rolbypassrls), false) as bypasses from pg_catalog.pg_roles where rolname = 'service_role'",
    );
    const { missing } = rows[0]!;
    if (missing !== null) {
      return [
        fault(
          `the login for requests may not act as ${missing}`,
          'Start the server, which grants it, or grant it as a superuser.',
        ),
      ];
    }
    if (!bypasses[0]!.bypasses) {
      return [
        fault('service_role is subject to row-level security', 'As a superuser: alter role service_role bypassrls'),
      ];
    }
    return [ok('the login for requests has no rights of its own, and row-level security applies to it')];
  } catch (error) {
    const { code } = error as { code?: string };
    if (isLoginFailure(code)) {
      return [
        fault(
          'the login for requests does not work',
          'Start the server once: it makes the login anew from the password in DATABASE_URL.',
        ),
      ];
    }
    return [
      fault(
        reasonOf(error),
        'Take the rights from this role (alter role ... nosuperuser nobypassrls) or let the server make another.',
      ),
    ];
  } finally {
    await pool.end();
  }
}

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

async function checkMigrations(owner: pg.Client): Promise<Finding[]> {
  const known = await readMigrations();
  const { rows: found } = await owner.query<{ exists: boolean }>(
    "select to_regclass('migrations.applied') is not null as exists",
  );
  if (!found[0]!.exists) return [warning('the database is empty', 'The first start of the server makes the tables.')];
  // An older ledger has no column `phase`.
  const { rows: applied } = await owner.query<Applied>(
    `select set, number, name, checksum, coalesce(to_jsonb(applied) ->> 'phase', 'expand') as phase from migrations.applied`,
  );
  try {
    rejectOtherHistory(applied, known);
  } catch (error) {
    return [fault(reasonOf(error), 'Start the version of the program that fits the database, or restore a backup.')];
  }
  const newer = applied.filter((row) => !findIn(known, row));
  if (newer.length > 0) {
    return [
      warning(
        `a newer program has been here: ${newer.map(label).join(', ')}`,
        'Finish the upgrade: replace this version on every machine.',
      ),
    ];
  }
  const pending = known.filter((migration) => !findIn(applied, migration));
  const expanding = pending.filter(({ phase }) => phase === 'expand');
  if (expanding.length > 0) {
    return [
      warning(
        `pending migrations: ${expanding.map(label).join(', ')}`,
        'Back up, then start this version: it applies them.',
      ),
    ];
  }
  return [
    pending.length === 0
      ? ok(`all ${known.length} migrations are applied`)
      : ok(`all migrations for this version are applied; ${pending.map(label).join(', ')} follow in the background`),
  ];
}

type Standby = { name: string | null; state: string | null; sync: string | null; lag: number | null };

async function checkReplication(owner: pg.Client): Promise<Finding[]> {
  const { rows } = await owner.query<{ names: string; standbys: Standby[] }>(
    `select current_setting('synchronous_standby_names') as names,
            (select coalesce(json_agg(json_build_object('name', application_name, 'state', state, 'sync', sync_state,
                     'lag', extract(epoch from replay_lag))), '[]') from pg_catalog.pg_stat_replication) as standbys`,
  );
  const { names, standbys } = rows[0]!;
  const findings: Finding[] = [];
  const isHidden = standbys.some(({ state }) => state === null);
  const isSynchronous = standbys.some(({ sync }) => sync === 'sync' || sync === 'quorum');
  if (names !== '' && !isSynchronous && !isHidden) {
    findings.push(
      fault(
        `no synchronous standby is connected (synchronous_standby_names = ${names}), so every save waits`,
        "Start the standby, or for the time being: alter system set synchronous_standby_names = ''; select pg_reload_conf()",
      ),
    );
  }
  if (isHidden)
    findings.push(
      warning(
        'this user cannot see the lag of the standbys',
        'As a superuser: grant pg_monitor to the user of DATABASE_URL.',
      ),
    );
  for (const { name, lag } of standbys) {
    if (lag === null || lag <= LAG_WARNING_SECONDS) continue;
    findings.push(
      warning(
        `the standby ${name ?? ''} lags ${Math.round(lag)} s behind`,
        'Check its disk, its network and long queries on it.',
      ),
    );
  }
  findings.push(...(await checkSlots(owner)));
  if (findings.length > 0) return findings;
  if (standbys.length === 0) return [ok('there is no standby; backups are the only second copy')];
  const synchronous = standbys.filter(({ sync }) => sync === 'sync' || sync === 'quorum').length;
  return [ok(`${standbys.length} standbys follow, ${synchronous} of them synchronous`)];
}

async function checkSlots(owner: pg.Client): Promise<Finding[]> {
  const { rows } = await owner.query<{ name: string; bytes: number }>(
    `select slot_name as name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 as bytes
       from pg_catalog.pg_replication_slots where not active and restart_lsn is not null`,
  );
  return rows
    .filter(({ bytes }) => bytes > RETAINED_WAL_WARNING_BYTES)
    .map(({ name, bytes }) =>
      warning(
        `the replication slot ${name} is not used and keeps ${formatBytes(bytes)} of WAL on the disk`,
        `Start its standby, or drop it: select pg_drop_replication_slot('${name}')`,
      ),
    );
}

async function checkConnections(owner: pg.Client, ownerUrl: string, { workers }: DatabaseConfig): Promise<Finding[]> {
  const { rows } = await owner.query<{ max: number; others: number; role: number; database: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              - coalesce(current_setting('reserved_connections', true), '0')::int as max,
            (select count(*)::int from pg_catalog.pg_stat_activity
              where backend_type = 'client backend' and datname is distinct from current_database()) as others,
            (select rolconnlimit from pg_catalog.pg_roles where rolname = $1) as role,
            (select datconnlimit from pg_catalog.pg_database where datname = current_database()) as database`,
    [requestConnection(ownerUrl).user],
  );
  const { max, others, role, database } = rows[0]!;
  const requests = workers * POOL_SIZE + workers * LISTENERS;
  const needed = requests + OTHER_CONNECTIONS;
  const limits = [
    { what: `max_connections leaves ${max - others} to this database`, limit: max - others },
    ...(role >= 0 ? [{ what: `the role for requests may have ${role} connections`, limit: role }] : []),
    ...(database >= 0 ? [{ what: `the database allows ${database} connections`, limit: database }] : []),
  ];
  const tight = limits.filter(({ limit }) => limit < needed);
  const sum = `${workers === 1 ? 'one process takes' : `${workers} processes take`} up to ${needed} connections`;
  if (tight.length === 0) return [ok(`${sum}, and ${limits[0]!.what}`)];
  return tight.map(({ what }) =>
    warning(
      `${sum}, but ${what}`,
      'Raise the limit, lower WEB_CONCURRENCY, or put a pooler in front (DATABASE_POOL_URL). Count every machine.',
    ),
  );
}

async function checkClock(owner: pg.Client, now: () => Date): Promise<Finding[]> {
  const before = now().getTime();
  const { rows } = await owner.query<{ at: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as at',
  );
  const after = now().getTime();
  return [describeOffset('the database', rows[0]!.at - (before + after) / 2, (after - before) / 2)];
}

/** @param errorMs how far the measured offset may be from the real one */
export function describeOffset(whose: string, offsetMs: number, errorMs: number): Finding {
  const sureMs = Math.max(0, Math.abs(offsetMs) - errorMs);
  const seconds = `${(Math.abs(offsetMs) / 1000).toFixed(1)} s`;
  const text = `the clock of ${whose} is ${seconds} ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine`;
  const mend = 'Run a time service (chrony or systemd-timesyncd) on both machines.';
  if (sureMs > CLOCK_FAULT_MS) {
    return fault(
      `${text}: codes of authenticator apps are refused from 30 s on, and tokens seem expired or not yet valid`,
      mend,
    );
  }
  if (sureMs > CLOCK_WARNING_MS) return warning(`${text}; from 30 s on, codes of authenticator apps are refused`, mend);
  return ok(`the clock of ${whose} agrees with this machine`);
}
