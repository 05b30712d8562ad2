/**
 * Parses and validates the body of a write: the columns it sets and their values per row. Pure.
 * Threat: prototype pollution. Keys are looked up in a Map and never used as property names, so `__proto__` is only an
 * unknown column.
 */
import { hasMoreValues, isObject, parseJson } from '../parse-json.ts';
import { dataError, MAX_ROWS } from './errors.ts';
import type { Column, ExposedTable } from './exposed-tables.ts';
import { findWritableColumn } from './parse-query.ts';
import type { Rows, Scalar, WrittenValue } from './query.ts';

type JsonObject = { readonly [key: string]: unknown };

const JSON_TYPE = /^application\/(?:json|vnd\.pgrst\.(?:object|array)\+json)\s*(?:;|$)/i;

/** postgrest-js always sends `application/json`; a missing header is accepted. */
export function checkContentType(header: string | undefined): void {
  if (header === undefined || JSON_TYPE.test(header)) return;
  throw dataError('PGRST102', { message: `Content-Type not acceptable: ${header.slice(0, 100)}` });
}

/** Throws before parsing if the text has more values than `MAX_ROWS` rows of this table can have. */
export function parseBody(table: ExposedTable, text: string): unknown {
  if (hasMoreValues(text, MAX_ROWS * (table.columns.size + 1) + 1)) {
    throw ARRAY_OF_OBJECTS.test(text) ? dataError('54023') : dataError('PGRST102', { details: 'too many values' });
  }
  const body = parseJson(text);
  if (body === undefined) throw dataError('PGRST102');
  if (Array.isArray(body) && body.length > MAX_ROWS) throw dataError('54023', { details: `${body.length} rows` });
  return body;
}

const ARRAY_OF_OBJECTS = /^\s*\[\s*\{/;

/**
 * Parses the rows of an insert: an object or an array of objects. Without `columns=` all objects must have the same
 * keys. With `columns=`, other keys are ignored and missing values become null, or the column's default with
 * `missing=default`.
 */
export function parseInsertRows(
  table: ExposedTable,
  body: unknown,
  columns: readonly Column[] | null,
  missingIsDefault = false,
): Rows {
  const objects = (Array.isArray(body) ? body : [body]).map(toRowObject);
  const first = objects[0];
  if (!first) return { columns: [], rows: [] };
  if (columns) return { columns, rows: objects.map((object) => readValues(object, columns, missingIsDefault)) };
  const keys = Object.keys(first);
  const keyColumns = keys.map((key) => findWritableColumn(table, key));
  for (const object of objects) {
    const hasSameKeys = Object.keys(object).length === keys.length && keys.every((key) => Object.hasOwn(object, key));
    if (!hasSameKeys) throw dataError('PGRST102', { message: 'All object keys must match' });
  }
  return { columns: keyColumns, rows: objects.map((object) => readValues(object, keyColumns, false)) };
}

/** Parses the changes of an update: one object, or an array of one. */
export function parseChanges(
  table: ExposedTable,
  body: unknown,
  columns: readonly Column[] | null,
  missingIsDefault = false,
): Rows {
  if (Array.isArray(body) && body.length !== 1) throw dataError('PGRST102', { message: 'One object was expected' });
  return parseInsertRows(table, body, columns, missingIsDefault);
}

function toRowObject(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw dataError('PGRST102', { message: 'A row must be a JSON object' });
}

const readValues = (object: JsonObject, columns: readonly Column[], missingIsDefault: boolean): WrittenValue[] =>
  columns.map((column) => {
    if (Object.hasOwn(object, column.name)) return toScalar(object[column.name], column);
    return missingIsDefault && column.defaultSql !== null ? undefined : null;
  });

/**
 * No column holds JSON, so arrays and objects are rejected; deeply nested ones would also overflow JSON.stringify. Only
 * for a `smallint[]` column, a list of integers becomes PostgreSQL's text form of an array.
 */
function toScalar(value: unknown, column: Column): Scalar {
  if (column.type === 'smallint[]' && Array.isArray(value) && value.every(Number.isInteger)) return `{${value.join()}}`;
  if (value === null || typeof value === 'boolean') return value;
  // `1e400` parses as Infinity, which JSON.stringify writes as null: send it as text, so the database rejects it.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  // PostgreSQL rejects lone surrogates; they become U+FFFD, as in UTF-8 encoding.
  if (typeof value === 'string') return value.toWellFormed();
  throw dataError('22P02', {
    message: `invalid input syntax for type ${column.type}: "${column.name}" must be a text, a number, true, false or null`,
  });
}
