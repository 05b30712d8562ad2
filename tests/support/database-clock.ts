/**
 * Moves the clock by which a test's own database judges days. Every rule about days asks `earliest_today` and
 * `latest_today`, whose argument is `now()` unless given: only that default is replaced, in this one database. The rules
 * themselves run as they are shipped.
 */
import type { Pool } from 'pg';

const CLOCKS = ['earliest_today', 'latest_today'] as const;
const SHIPPED = 'DEFAULT now()';

export type DatabaseClock = { set(instant: string): Promise<void>; release(): Promise<void> };

export async function createDatabaseClock(admin: Pool): Promise<DatabaseClock> {
  const definitions = await Promise.all(
    CLOCKS.map(async (name) => {
      const text = `select pg_get_functiondef('public.${name}'::regproc) as definition`;
      const definition = (await admin.query<{ definition: string }>(text)).rows[0]!.definition;
      if (definition.split(SHIPPED).length !== 2) throw new Error(`${name} no longer asks now(): ${definition}`);
      return definition;
    }),
  );
  return {
    async set(instant) {
      const at = `DEFAULT '${new Date(instant).toISOString()}'::timestamptz`;
      await admin.query(definitions.map((definition) => definition.replace(SHIPPED, at)).join(';'));
    },
    async release() {
      await admin.query(definitions.join(';'));
    },
  };
}
