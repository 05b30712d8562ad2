/**
 * An answer 2xx to a save means that the save is committed and on disk. Only the settings of the database keep this
 * promise (docs/operations.md, "The database").
 */
import type pg from 'pg';
import type { Logger } from '#server/log.ts';

/** The settings that are off, although an acknowledged save needs them. */
export async function readUnsafeSettings(connection: Pick<pg.Pool | pg.Client, 'query'>): Promise<string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `select name from pg_catalog.pg_settings
      where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting = 'off' order by name`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Warns instead of refusing: some managed databases store each commit on several machines and report `fsync` as off.
 * The settings are read as the login of the requests, for which a role or database may override them.
 */
export async function warnUnlessDurable(pool: Pick<pg.Pool, 'query'>, log: Logger): Promise<void> {
  const settings = await readUnsafeSettings(pool);
  if (settings.length === 0) return;
  log.warn({ settings }, 'acknowledged saves can be lost when the database crashes: turn these settings on');
}
