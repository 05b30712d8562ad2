/** Type parsers for PostgreSQL values, where the driver's default is wrong for us. */
import pg from 'pg';

/**
 * `date` stays the text `YYYY-MM-DD`: the driver would parse it as an instant in the machine's time zone.
 * `bigint` becomes a number: ours are counts and row ids, far below 2^53.
 * `timestamptz` keeps the driver's default, a Date.
 */
export function valueTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}
