/**
 * Sets the clock of the day rules in a test database. All rules call the functions below, whose parameter
 * defaults to `now()`. Only that default is replaced; the rules themselves run unchanged.
 */
import type { Pool } from 'pg';

const CLOCK_FUNCTIONS = ['earliest_today', 'earliest_current_day', 'latest_today'] as const;
const ORIGINAL_DEFAULT = 'DEFAULT now()';

export type DatabaseClock = { set(instant: string): Promise<void>; release(): Promise<void> };

export async function createDatabaseClock(admin: Pool): Promise<DatabaseClock> {
  const definitions = await Promise.all(
    CLOCK_FUNCTIONS.map(async (name) => {
      const text = `select pg_get_functiondef('public.${name}'::regproc) as definition`;
      const definition = (await admin.query<{ definition: string }>(text)).rows[0]!.definition;
      if (definition.split(ORIGINAL_DEFAULT).length !== 2)
        throw new Error(`${name} has no parameter with DEFAULT now(): ${definition}`);
      return definition;
    }),
  );
  return {
    async set(instant) {
      const at = `DEFAULT '${new Date(instant).toISOString()}'::timestamptz`;
      await admin.query(definitions.map((definition) => definition.replace(ORIGINAL_DEFAULT, at)).join(';'));
    },
    async release() {
      await admin.query(definitions.join(';'));
    },
  };
}
