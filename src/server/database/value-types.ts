/** How values of PostgreSQL arrive in JavaScript, where the driver's own choice would be wrong for us. */
import pg from 'pg';

/**
 * `date` stays the text `YYYY-MM-DD`: the driver would make an instant of it, in the zone of the server's machine.
 * `bigint` becomes a number: ours are counts and row numbers, far below 2^53.
 * `timestamptz` is a Date, as the driver has it.
 */
export function valueTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}
