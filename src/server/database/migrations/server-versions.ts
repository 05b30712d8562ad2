/** Which versions of the program are connected: each server's connection for changes names its last migrations. */
import type pg from 'pg';

import { LISTENER_NAME } from '../changes/change-listener.ts';
import type { MigrationId } from './ledger.ts';

const READ_SERVERS = `
  select application_name as name from pg_catalog.pg_stat_activity
   where datname = current_database() and starts_with(application_name, $1)`;

/** The `application_name` of a server, such as `hustle-forge-changes auth/3 app/22`. */
export function serverName(migrations: readonly MigrationId[]): string {
  const last = new Map(migrations.map(({ set, number }) => [set, number]));
  return [LISTENER_NAME, ...[...last].map(([set, number]) => `${set}/${number}`)].join(' ');
}

/**
 * The names of the connected servers that do not know a migration. Best effort: a server that has lost its connection at
 * this moment is missed. It notices the contracted database by itself and stops being ready.
 */
export async function findOlderServers(owner: pg.Client, { set, number }: MigrationId): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(READ_SERVERS, [LISTENER_NAME]);
  const lastOf = (name: string): number => Number(new RegExp(` ${set}/(\\d+)`).exec(name)?.[1] ?? 0);
  return rows.map(({ name }) => name).filter((name) => lastOf(name) < number);
}
