/** Checks of the database. They migrate nothing and start no new database. */
import pg from 'pg';
import { formatBytes } from '#server/backup/command-line.ts';
import type { Config } from '#server/config/config.ts';
import { checkPooler, readUnsafeSettings } from '#server/database/connect.ts';
import { NoPrimaryError } from '#server/database/connection/primary-finder.ts';
import { POOL_SIZE } from '#server/database/connection/request-pool.ts';
import { isLoginFailure } from '#server/database/database-error.ts';
import {
  findMigration,
  hasLedger,
  migrationLabel,
  rejectOtherHistory,
  type AppliedMigration,
} from '#server/database/migrations/ledger.ts';
import { MIN_SERVER_VERSION } from '#server/database/migrations/migrate.ts';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { PrivilegedLoginError, rejectPrivilegedLogin, requestConnection } from '#server/database/roles.ts';
import {
  describeOffset,
  fault,
  off,
  ok,
  reasonOf,
  warning,
  describeFailure,
  type Check,
  type Finding,
} from './check.ts';
import { createLog } from '#server/log.ts';
import { parseJson } from '#server/parse-json.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export type OwnerDatabase = {
  /** Null: the database cannot be opened. */
  url: string | null;
  /** Why the database cannot be opened. */
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
      config.databaseUrl === null
        ? checkServer(owner, 'embedded PostgreSQL', now())
        : checkServer(owner, 'PostgreSQL', null),
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

/** `number`: as in `server_version_num`. `size` in bytes. */
type Server = { version: string; number: number; isStandby: boolean; isReadOnly: boolean; size: number };

/**
 * Checks that the database server is recent enough and accepts writes.
 * @param name how the findings name the server
 * @param today the date to look up minor releases by; null skips this, for a server that is not part of this program
 */
export async function checkServer(owner: pg.Client, name: string, today: Date | null): Promise<Finding[]> {
  const startedAt = performance.now();
  const { rows } = await owner.query<Server>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            pg_is_in_recovery() as "isStandby", pg_database_size(current_database())::float8 as size,
            current_setting('default_transaction_read_only') = 'on' as "isReadOnly"`,
  );
  const ms = Math.round(performance.now() - startedAt);
  const { version, number, isStandby, isReadOnly, size } = rows[0]!;
  const server = `${name} ${version}`;
  if (number < MIN_SERVER_VERSION) {
    return [fault(`${server} is too old`, 'Upgrade the database server to 15 or newer.')];
  }
  if (isStandby) {
    return [
      fault(`${server} is a standby that only reads`, 'Name the primary in DATABASE_URL, or promote this server.'),
    ];
  }
  if (isReadOnly) {
    return [
      fault(
        `${server} only reads (default_transaction_read_only)`,
        'Reset default_transaction_read_only where it is set: postgresql.conf, the database or its user.',
      ),
    ];
  }
  const findings = [ok(`${server} answers in ${ms} ms and holds ${formatBytes(size)}`)];
  const missed = today === null ? [] : missedReleases(number, today);
  if (missed.length > MAX_MISSED_RELEASES) {
    const major = Math.floor(number / VERSION_DIGITS);
    findings.push(
      warning(
        `${server} is at least ${missed.length} minor releases behind: the newest is of ${missed.at(-1)!} or later`,
        `Update this program, or install PostgreSQL ${major} on this machine: a restart takes the newer of the two.`,
      ),
    );
  }
  return findings;
}

/** `server_version_num` is the major version times this number, plus the minor one. */
const VERSION_DIGITS = 10_000;
/** A server that lacks one may be about to be updated. */
const MAX_MISSED_RELEASES = 1;
/** Minor releases of all major versions outside the schedule. */
const UNSCHEDULED_RELEASES = ['2024-11-21', '2025-02-20', '2026-02-26'];
const RELEASE_MONTHS = [2, 5, 8, 11];

/**
 * The dates of the minor releases that a version lacks, without asking anyone: a major version comes out in September
 * or October, and its minor releases on the second Thursdays of February, May, August and November
 * (https://www.postgresql.org/developer/roadmap/). The result is one too short for each unscheduled release that
 * `UNSCHEDULED_RELEASES` does not name.
 */
export function missedReleases(versionNumber: number, today: Date): string[] {
  const [major, minor] = [Math.floor(versionNumber / VERSION_DIGITS), versionNumber % VERSION_DIGITS];
  const firstYear = 2007 + major;
  const releases = UNSCHEDULED_RELEASES.filter((date) => date > `${firstYear}-10`);
  for (let year = firstYear; year <= today.getUTCFullYear(); year++)
    for (const month of RELEASE_MONTHS)
      if (year > firstYear || month === 11) releases.push(secondThursday(year, month));
  const day = today.toISOString().slice(0, 10);
  return releases
    .filter((date) => date <= day)
    .toSorted()
    .slice(minor);
}

function secondThursday(year: number, month: number): string {
  const firstWeekday = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  const day = 8 + ((4 - firstWeekday + 7) % 7);
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

/** Checks that the login for requests works, has no rights of its own and may act as the three roles. */
async function checkRoles(owner: pg.Client, ownerUrl: string, connectionTimeoutMillis: number): Promise<Finding[]> {
  const pool = new pg.Pool({ ...requestConnection(ownerUrl), max: 1, connectionTimeoutMillis });
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
    if (isLoginFailure(code)) return [await describeLogin(owner, ownerUrl)];
    if (!(error instanceof PrivilegedLoginError)) return [describeConnectFailure(error)];
    return [
      fault(
        error.message,
        'Take the rights from this role (alter role ... nosuperuser nobypassrls) or let the server make another.',
      ),
    ];
  } finally {
    await pool.end();
  }
}

/** Describes why the login for requests is refused. */
export async function describeLogin(owner: pg.Client, ownerUrl: string): Promise<Finding> {
  const { rows } = await owner.query<{ exists: boolean; mayCreate: boolean }>(
    `select exists (select from pg_catalog.pg_roles where rolname = $1) as exists,
            current_setting('server_version_num')::int >= 160000
              or exists (select from pg_catalog.pg_roles where rolname = 'service_role')
              or (select rolsuper from pg_catalog.pg_roles where rolname = current_user) as "mayCreate"`,
    [requestConnection(ownerUrl).user],
  );
  const { exists, mayCreate } = rows[0]!;
  if (!mayCreate) {
    return fault(
      'service_role does not exist, and on PostgreSQL 15 only a superuser can create it',
      'As a superuser: create role service_role nologin noinherit bypassrls; then grant it to the user of DATABASE_URL with admin option.',
    );
  }
  if (!exists) return warning('the login for requests does not exist yet', 'The first start of the server makes it.');
  return fault(
    'the login for requests does not work',
    'Start the server once: it creates the login again from the password in DATABASE_URL.',
  );
}

/** Checks that the database has the migrations of this program, and no others. */
async function checkMigrations(owner: pg.Client): Promise<Finding[]> {
  const known = await readMigrations();
  if (!(await hasLedger(owner)))
    return [warning('the database is empty', 'The first start of the server makes the tables.')];
  // An older ledger has no column `phase`.
  const { rows: ledger } = await owner.query<AppliedMigration>(
    `select set, number, name, checksum, coalesce(to_jsonb(applied) ->> 'phase', 'expand') as phase from migrations.applied`,
  );
  let applied: AppliedMigration[];
  try {
    applied = rejectOtherHistory(ledger, known);
  } catch (error) {
    return [fault(reasonOf(error), 'Start the version of the program that fits the database, or restore a backup.')];
  }
  const newer = applied.filter((row) => !findMigration(known, row));
  if (newer.length > 0) {
    return [
      warning(
        `a newer version of this program has applied ${newer.map(migrationLabel).join(', ')}`,
        'Finish the upgrade: replace this version on every machine.',
      ),
    ];
  }
  const pending = known.filter((migration) => !findMigration(applied, migration));
  const expanding = pending.filter(({ phase }) => phase === 'expand');
  if (expanding.length > 0) {
    return [
      warning(
        `pending migrations: ${expanding.map(migrationLabel).join(', ')}`,
        'Back up, then start this version: it applies them.',
      ),
    ];
  }
  return [
    pending.length === 0
      ? ok(`all ${known.length} migrations are applied`)
      : ok(
          `all migrations for this version are applied; ${pending.map(migrationLabel).join(', ')} follow in the background`,
        ),
  ];
}

const LAG_WARNING_SECONDS = 30;
const RETAINED_WAL_WARNING_BYTES = 5_000_000_000;

type Standby = { name: string | null; state: string | null; sync: string | null; lag: number | null };

/** Checks that standbys follow without lag, and that no unused replication slot fills the disk. */
export async function checkReplication(owner: pg.Client): Promise<Finding[]> {
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

/** The listener for changes of each process. */
const LISTENERS = 1;
/** Migrations, an operator's command, a backup. */
const OTHER_CONNECTIONS = 6;

/** Checks that the limits of the database, its user and the server leave enough connections to all processes. */
async function checkConnections(
  owner: pg.Client,
  ownerUrl: string,
  { workers, databasePoolUrl }: Pick<Config, 'workers' | 'databasePoolUrl'>,
): Promise<Finding[]> {
  const { rows } = await owner.query<{ max: number; others: number; role: number; database: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              - coalesce(current_setting('reserved_connections', true), '0')::int as max,
            (select count(*)::int from pg_catalog.pg_stat_activity
              where backend_type = 'client backend' and datname is distinct from current_database()) as others,
            coalesce((select rolconnlimit from pg_catalog.pg_roles where rolname = $1), -1) as role,
            (select datconnlimit from pg_catalog.pg_database where datname = current_database()) as database`,
    [requestConnection(ownerUrl).user],
  );
  const { max, others, role, database } = rows[0]!;
  const isPooled = databasePoolUrl !== null;
  // A rolling restart starts each new worker before it stops the old one.
  const processes = workers === 1 ? 1 : workers + 1;
  const needed = processes * ((isPooled ? 0 : POOL_SIZE) + LISTENERS) + OTHER_CONNECTIONS;
  const limits = [
    { what: `max_connections leaves ${max - others} to this database`, limit: max - others },
    ...(role >= 0 ? [{ what: `the role for requests may have ${role} connections`, limit: role }] : []),
    ...(database >= 0 ? [{ what: `the database allows ${database} connections`, limit: database }] : []),
  ];
  const tight = limits.filter(({ limit }) => limit < needed);
  const subject = workers === 1 ? 'one process takes' : `${workers} processes take`;
  const sum = `${subject} up to ${needed} connections${isPooled ? ' beside those of the pooler' : ''}`;
  if (tight.length === 0) return [ok(`${sum}, and ${limits[0]!.what}`)];
  const fix = isPooled
    ? 'Raise the limit, or lower WEB_CONCURRENCY or the size of the pool in the pooler. Count every machine.'
    : 'Raise the limit, lower WEB_CONCURRENCY, or put a pooler in front (DATABASE_POOL_URL). Count every machine.';
  return tight.map(({ what }) => warning(`${sum}, but ${what}`, fix));
}

/** Longer than the search for the primary server, which gives up after 10 s. */
const TIMEOUT_MS = 20_000;
const SEE = 'docs/operations/scaling.md has the settings of PgBouncer.';

/** Checks the pooler of DATABASE_POOL_URL as a start of the server does. */
export const poolerCheck = ({ url }: OwnerDatabase, { databasePoolUrl }: Pick<Config, 'databasePoolUrl'>): Check => ({
  name: 'pooler',
  timeoutMs: TIMEOUT_MS,
  async run() {
    if (databasePoolUrl === null) return [off('requests reach the database without a pooler')];
    // The check "database" reports why there is no connection.
    if (url === null) return [];
    const warnings: string[] = [];
    const log = createLog('warn', {
      write: (line) => void warnings.push(String((parseJson(line) as { msg?: unknown } | undefined)?.msg)),
    });
    try {
      const { names } = await checkPooler({ ownerUrl: url, poolUrl: databasePoolUrl.reveal(), log });
      if (warnings.length > 0) return warnings.map((text) => warning(text, SEE));
      return [ok(`the pooler keeps requests apart and takes ${names} statements`)];
    } catch (error) {
      return [fault(reasonOf(error), SEE)];
    }
  },
});

/** Describes why no connection to the database opens, by an SQLSTATE or an error code of the system, with its fix. */
export function describeConnectFailure(error: unknown): Finding {
  const { code } = error as { code?: string };
  const reason = reasonOf(error);
  if (error instanceof NoPrimaryError)
    return fault(
      reason,
      'Promote a standby, or wait for the failover; check the hosts, the user and the password in DATABASE_URL.',
    );
  if (isLoginFailure(code)) {
    return fault(
      `the database refuses the login: ${reason}`,
      'Check user and password in DATABASE_URL, and pg_hba.conf on the database.',
    );
  }
  if (code === '3D000')
    return fault(reason, 'Create it: create database NAME owner USER (docs/operations.md, "The database").');
  if (code === '53300')
    return fault(
      'the database has no connection left',
      'Raise max_connections or the connection limit of the role, or lower WEB_CONCURRENCY.',
    );
  if (code === '57P03') return fault(reason, 'It starts or stops at this moment: try again in a minute.');
  if (reason.includes('does not support SSL')) {
    return fault(reason, 'Turn ssl on at the database server, or take sslmode out of DATABASE_URL.');
  }
  const { problem } = describeFailure(error);
  return fault(
    `the database cannot be reached: ${problem}`,
    'Check host and port in DATABASE_URL, and whether PostgreSQL runs.',
  );
}
