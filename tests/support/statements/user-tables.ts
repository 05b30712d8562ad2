/** The tables whose rows belong to users, read from the catalogue, so that a new table is covered without a list. */
import type pg from 'pg';

export type UserTable = {
  /** Without the schema, which is `public`. */
  name: string;
  /** The column that names the user of a row. */
  userColumn: string;
};

/** Tables with a column `user_id` that stay on one node (docs/decisions/0041). */
const CENTRAL_TABLES: ReadonlyMap<string, string> = new Map([
  ['payments', "PayPal names orders and captures, whose ids are unique over all users, and never the product's users"],
]);

/** The only table of users without a column `user_id`: its column `id` is the user's. */
const TABLE_OF_USERS = 'profiles';

export async function readUserTables(admin: pg.Pool | pg.Client): Promise<UserTable[]> {
  const { rows } = await admin.query<UserTable>(
    `select relname as name, attname as "userColumn"
       from pg_class join pg_attribute on attrelid = pg_class.oid
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and (attname = 'user_id' or (relname = $1 and attname = 'id'))
      order by relname`,
    [TABLE_OF_USERS],
  );
  return rows.filter(({ name }) => !CENTRAL_TABLES.has(name));
}
