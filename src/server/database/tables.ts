/** Every table of the database as Kysely sees it. What values look like in JavaScript is set in `value-types.ts`. */
import type { AppTables } from './app-tables.ts';
import type { AuthTables } from './auth-tables.ts';

export type Tables = AppTables & AuthTables;
