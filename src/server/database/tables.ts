/** All tables as Kysely sees them, from the generated rows, and how the driver parses their values. */
import type { ColumnType, Generated } from 'kysely';
import pg from 'pg';
import type { DefaultColumns, IdentityColumns, Rows } from '#domain/database-rows.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';

export type JsonObject = Record<string, unknown>;
/** An authentication method of a session (`amr`); `timestamp` in Unix seconds. */
export type AuthenticationMethod = { method: string; timestamp: number; provider?: string };
export type OneTimePurpose = Rows['auth.one_time_tokens']['purpose'];
export type FactorType = Rows['auth.mfa_factors']['factor_type'];

/** Read as an object; written as JSON text, because the driver would turn an array into a PostgreSQL array. */
type Json<T> = ColumnType<T, string | undefined, string>;
/** A column that the server reads and only the database writes. */
type ReadOnly<T> = ColumnType<T, never, never>;

/** Types that the schema does not tell, such as what a JSON column holds and which columns only triggers write. */
type KnownColumns = {
  'auth.audit_log': { details: Json<JsonObject> };
  /** The column allows only some of these purposes. A query for another one finds nothing. */
  'auth.earlier_links': { purpose: OneTimePurpose };
  'auth.identities': { identity_data: Json<JsonObject> };
  'auth.sessions': { amr: Json<AuthenticationMethod[]> };
  'auth.sso_providers': { attribute_mapping: Json<JsonObject> };
  'auth.users': { raw_app_meta_data: Json<JsonObject>; raw_user_meta_data: Json<JsonObject> };
  entries: { content_text: ReadOnly<string>; revision: ReadOnly<number> };
  payment_changes: { status: PaymentStatus; changed_at: ReadOnly<Date> };
  payments: { updated_at: ReadOnly<Date> };
};

type Column<T extends keyof Rows, C extends keyof Rows[T]> = T extends keyof KnownColumns
  ? C extends keyof KnownColumns[T]
    ? KnownColumns[T][C]
    : SchemaColumn<T, C>
  : SchemaColumn<T, C>;

type SchemaColumn<T extends keyof Rows, C extends keyof Rows[T]> =
  C extends ColumnOf<IdentityColumns, T>
    ? ReadOnly<DriverValue<Rows[T][C]>>
    : C extends ColumnOf<DefaultColumns, T>
      ? Generated<DriverValue<Rows[T][C]>>
      : DriverValue<Rows[T][C]>;

type ColumnOf<Lists, T> = T extends keyof Lists ? Lists[T] : never;
type DriverValue<V> = V extends Uint8Array ? Buffer : V;

export type Tables = { [T in keyof Rows]: { [C in keyof Rows[T]]: Column<T, C> } };

/**
 * Type parsers for PostgreSQL values, where the driver's default is wrong for us. `date` stays the text `YYYY-MM-DD`:
 * the driver would parse it as an instant in the machine's time zone. `bigint` becomes a number: ours are counts and
 * row ids, far below 2^53. `timestamptz` keeps the driver's default, a Date.
 */
export function valueTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}
