/** The findings about standbys and slots that a test server does not have. doctor.test.ts runs the statements. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { lines } from '../../../../../tests/support/commands/doctor-checks.ts';
import { checkReplication } from './check-replication.ts';

const GIGABYTE = 1_000_000_000;

type Server = {
  names?: string;
  standbys?: { name: string; state: string | null; sync: string | null; lag: number | null }[];
  slots?: { name: string; bytes: number }[];
};

async function findingsOf({ names = '', standbys = [], slots = [] }: Server): Promise<string[]> {
  const query = async (text: string) => ({
    rows: text.includes('pg_replication_slots') ? slots : [{ names, standbys }],
  });
  return lines(await checkReplication({ query } as unknown as pg.Client));
}

const standby = (sync: string, lag: number | null) => ({ name: 'pg2', state: 'streaming', sync, lag });

test.each<[string, Server, string[]]>([
  ['no standby', {}, ['ok there is no standby; backups are the only second copy']],
  [
    'standbys that follow',
    { names: 'pg2', standbys: [standby('sync', 0.1), standby('async', null)] },
    ['ok 2 standbys follow, 1 of them synchronous'],
  ],
  [
    'no synchronous standby where one is required',
    { names: 'pg2', standbys: [standby('async', 0.1)] },
    ['fault no synchronous standby is connected (synchronous_standby_names = pg2), so every save waits'],
  ],
  [
    'a quorum',
    { names: 'any 1 (pg2)', standbys: [standby('quorum', 30)] },
    ['ok 1 standbys follow, 1 of them synchronous'],
  ],
  ['a standby that lags', { standbys: [standby('async', 31.4)] }, ['warning the standby pg2 lags 31 s behind']],
  [
    'standbys that the user may not see',
    { names: 'pg2', standbys: [{ name: 'pg2', state: null, sync: null, lag: null }] },
    ['warning this user cannot see the lag of the standbys'],
  ],
  [
    'an unused slot that keeps little',
    { slots: [{ name: 'old', bytes: 5 * GIGABYTE }] },
    ['ok there is no standby; backups are the only second copy'],
  ],
  [
    'an unused slot that fills the disk',
    { slots: [{ name: 'old', bytes: 6 * GIGABYTE }] },
    ['warning the replication slot old is not used and keeps 6.0 GB of WAL on the disk'],
  ],
])('names %s', async (_what, server, expected) => {
  expect(await findingsOf(server)).toEqual(expected);
});
