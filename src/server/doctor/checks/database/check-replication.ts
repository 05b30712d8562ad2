/** Checks that standbys follow without lag, and that no unused replication slot fills the disk. */
import type pg from 'pg';
import { formatBytes } from '#server/backup/command-line.ts';
import { fault, ok, warning, type Finding } from '../../check.ts';

const LAG_WARNING_SECONDS = 30;
const RETAINED_WAL_WARNING_BYTES = 5_000_000_000;

type Standby = { name: string | null; state: string | null; sync: string | null; lag: number | null };

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
