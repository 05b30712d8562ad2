/** All tables as Kysely sees them; `value-types.ts` sets how values are parsed. */
import type { AppTables } from './app-tables.ts';
import type { AuthTables } from './auth-tables.ts';

export type Tables = AppTables & AuthTables;
