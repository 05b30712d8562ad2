/**
 * The body of a write, understood or refused: which columns it sets, and their values row by row. Pure.
 * Keys are looked up in a Map and never used as property names, so `__proto__` is only a column that does not exist.
 */
import { hasMoreValues, parseJson } from '../../parse-json.ts';
import { dataError, MAX_ROWS } from '../errors.ts';
import type { Column, ExposedTable } from '../exposed-tables.ts';
import { findWritableColumn } from './parse-query.ts';
import type { Rows, Scalar } from '../query.ts';

type JsonObject = { readonly [key: string]: unknown };

const JSON_TYPE = /^application\/(?:json|vnd\.pgrst\.(?:object|array)\+json)\s*(?:;|$)/i;

/** postgrest-js always says `application/json`; a request that says nothing is taken at its word too. */
export function checkContentType(header: string | undefined): void {
  if (header === undefined || JSON_TYPE.test(header)) return;
  throw dataError('PGRST102', { message: `Content-Type not acceptable: ${header.slice(0, 100)}` });
}

/** Throws before it parses anything when the text holds more values than `MAX_ROWS` rows of this table could have. */
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
 * The rows of an insert: an object, or an array of them. Without `columns=` all must have the same keys; with it, other
 * keys are left out and missing ones are null, or the column's default where `missing=default` asks for it.
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
  const own = keys.map((key) => findWritableColumn(table, key));
  for (const object of objects) {
    const same = Object.keys(object).length === keys.length && keys.every((key) => Object.hasOwn(object, key));
    if (!same) throw dataError('PGRST102', { message: 'All object keys must match' });
  }
  return { columns: own, rows: objects.map((object) => readValues(object, own, false)) };
}

/** The changes of an update: one object, or an array of one. */
export function parseChanges(table: ExposedTable, body: unknown, columns: readonly Column[] | null): Rows {
  if (Array.isArray(body) && body.length !== 1) throw dataError('PGRST102', { message: 'One object was expected' });
  return parseInsertRows(table, body, columns);
}

function toRowObject(value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw dataError('PGRST102', { message: 'A row must be a JSON object' });
}

const readValues = (object: JsonObject, columns: readonly Column[], missingIsDefault: boolean): Scalar[] =>
  columns.map((column) => {
    if (Object.hasOwn(object, column.name)) return toScalar(object[column.name], column);
    return missingIsDefault ? column.defaultValue : null;
  });

/** No column holds JSON, so a list or an object is a mistake; deep ones could not even be written out again. */
function toScalar(value: unknown, column: Column): Scalar {
  if (value === null || typeof value === 'boolean') return value;
  // `1e400` reads as infinity, which JSON would write out as null: let the database refuse it by its name.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  // PostgreSQL knows no lone surrogates: what another client sends broken becomes U+FFFD, as it does in UTF-8.
  if (typeof value === 'string') return value.toWellFormed();
  throw dataError('22P02', {
    message: `invalid input syntax for type ${column.type}: "${column.name}" must be a text, a number, true, false or null`,
  });
}
