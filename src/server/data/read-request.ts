/**
 * Reads a request of the data wire up to the statement it means; nothing has touched the database by then.
 *
 * In two steps. `readRequest` looks at method, headers and query alone, so that a caller can be refused before the body is
 * read; `writeSql` then takes the body.
 */
import type { HonoRequest } from 'hono';
import { checkDates } from './rows/check-dates.ts';
import type { SanitizeLog } from './rows/sanitize-log.ts';
import { sanitizeRows } from './rows/sanitize-rows.ts';
import { limitRange, readsManyLongTexts, rejectCostlyQuery, writesManyLongTexts } from './query-cost.ts';
import { dataError } from './errors.ts';
import type { ExposedTable } from './exposed-tables.ts';
import { checkSchema, JSON_OBJECT, parseAccept, parsePreferences, applyRangeHeader } from './parse/parse-headers.ts';
import { parseQuery } from './parse/parse-query.ts';
import { parseChanges, checkContentType, parseBody, parseInsertRows } from './parse/parse-rows.ts';
import type { Query } from './query.ts';
import type { ResponseOptions } from './respond.ts';
import type { Sql } from './sql/sql-text.ts';
import { deleteSql, insertSql, selectSql, updateSql } from './sql/to-sql.ts';

type ParsedRequest = ResponseOptions & {
  /** The statement answers one `QueryResult` row; otherwise only its row count tells what happened. */
  returnsRow: boolean;
  /** To be carried out in turn (`concurrency-limiter.ts`). */
  costly: boolean;
};
export type ReadRequest = ParsedRequest & { method: 'GET' | 'HEAD'; sql: Sql };
export type WriteRequest = ParsedRequest & { method: 'POST' | 'PATCH' | 'DELETE'; table: ExposedTable; query: Query };

export const isReadRequest = (request: ReadRequest | WriteRequest): request is ReadRequest =>
  request.method === 'GET' || request.method === 'HEAD';

/** Throws a DataError for everything that can be refused without the body and without asking the database. */
export function readRequest(request: HonoRequest, table: ExposedTable): ReadRequest | WriteRequest | 'options' {
  const { method } = request;
  if (method === 'OPTIONS') return 'options';
  const reading = method === 'GET' || method === 'HEAD';
  if (!reading && method !== 'POST' && method !== 'PATCH' && method !== 'DELETE') {
    throw dataError('PGRST117', { message: `Unsupported HTTP method: ${method}` });
  }
  checkSchema(request.header(reading ? 'accept-profile' : 'content-profile'));
  const single = parseAccept(request.header('accept')) === JSON_OBJECT;
  const preferences = parsePreferences(request.header('prefer'));
  const query = parseQuery(table, queryString(request.url));
  checkDates(query.where);
  rejectCostlyQuery(table, query);
  if (reading) {
    query.range = limitRange(table, applyRangeHeader(query.range, request.header('range')));
    const sql = selectSql(table, query, { body: method === 'GET', total: preferences.count });
    const costly = readsManyLongTexts(table, query);
    return { method, single, preferences, range: query.range, sql, returnsRow: true, costly };
  }
  if (method !== 'POST') requireFilter(method, query);
  if (method !== 'DELETE') checkContentType(request.header('content-type'));
  const wanted = method === 'POST' ? preferences : { ...preferences, resolution: null };
  const returnsRow = wanted.representation || wanted.resolution === 'merge';
  const costly = method !== 'POST' && writesManyLongTexts(table, query);
  return { method, single, preferences: wanted, range: query.range, table, query, returnsRow, costly };
}

/** The statement of a write; null when there is nothing to do, which is answered like no rows. Throws a DataError. */
export async function writeSql(
  { method, table, query, preferences }: WriteRequest,
  body: string,
  clean: SanitizeLog,
): Promise<Sql | null> {
  if (method === 'DELETE') return deleteSql(table, query, preferences);
  const value = parseBody(table, body);
  if (method === 'POST') {
    const rows = await sanitizeRows(
      table,
      parseInsertRows(table, value, query.columns, preferences.missingIsDefault),
      clean,
    );
    return rows.rows.length === 0 ? null : insertSql(table, query, rows, preferences);
  }
  const changes = await sanitizeRows(table, parseChanges(table, value, query.columns), clean);
  return changes.columns.length === 0 ? null : updateSql(table, query, changes, preferences);
}

/**
 * Threat: a filter forgotten in a client, and every log of its user is gone. As PostgreSQL's safeupdate has it, a write
 * to existing rows must say which. `limit` would be read as a bound of the write by some and of the answer by others.
 */
function requireFilter(method: 'PATCH' | 'DELETE', { where, range }: Query): void {
  const verb = method === 'PATCH' ? 'UPDATE' : 'DELETE';
  if (where.length === 0) throw dataError('21000', { message: `${verb} requires a WHERE clause` });
  if (range.limit !== null || range.offset > 0) {
    throw dataError('PGRST100', { message: `limit and offset cannot be used with ${method}` });
  }
}

/** What stands after the question mark; cheaper than making a URL of an address that Node has checked already. */
function queryString(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return '';
  const end = url.indexOf('#', at);
  return end === -1 ? url.slice(at + 1) : url.slice(at + 1, end);
}
