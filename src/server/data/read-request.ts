/**
 * Translates a request of the data API into a statement, without touching the database.
 *
 * Two steps: `parseRequest` reads only method, headers and query, so that a request can be rejected before its body is
 * read; `buildWrite` then parses the body.
 */
import type { HonoRequest } from 'hono';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import { checkDates, sanitizeRows, type SanitizeLog } from './sanitize-log.ts';
import {
  isCostlyRead,
  isQuickRead,
  limitedTexts,
  limitRange,
  rejectCostlyQuery,
  writesManyLongTexts,
} from './query-cost.ts';
import { dataError } from './errors.ts';
import type { ExposedTable } from './exposed-tables.ts';
import { parseAccept, parsePreferences, applyRangeHeader } from './parse-headers.ts';
import { parseQuery } from './parse-query.ts';
import { parseChanges, checkContentType, parseBody, parseInsertRows } from './parse-rows.ts';
import type { Condition, Query, Rows } from './query.ts';
import type { ResponseOptions } from './respond.ts';
import { deleteSql, insertSql, selectSql, updateSql, type Sql } from './to-sql.ts';

type ParsedRequest = ResponseOptions & {
  /** Whether the result is read from the rows that the statement returns; otherwise only its row count is used. */
  returnsRow: boolean;
  /** Whether the statement must run through a limiter for costly work (`load/concurrency-limiter.ts`). */
  costly: boolean;
};
export type ReadRequest = ParsedRequest & {
  method: 'GET' | 'HEAD';
  sql: Sql;
  /** Whether the statement may share a connection with other reads. */
  quick: boolean;
};
export type WriteRequest = ParsedRequest & { method: 'POST' | 'PATCH' | 'DELETE'; query: Query };

export const isReadRequest = (request: ReadRequest | WriteRequest): request is ReadRequest =>
  request.method === 'GET' || request.method === 'HEAD';

/** Throws a DataError for a request that is invalid whatever its body and the database contain. */
export function parseRequest(
  request: HonoRequest,
  table: ExposedTable,
  userId: string | null,
): ReadRequest | WriteRequest | 'options' {
  const { method } = request;
  if (method === 'OPTIONS') return 'options';
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead && method !== 'POST' && method !== 'PATCH' && method !== 'DELETE') {
    throw dataError('PGRST117', { message: `Unsupported HTTP method: ${method}` });
  }
  const { omitsNulls, ...answer } = parseAccept(request.header('accept'));
  const preferences = { ...parsePreferences(request.header('prefer')), omitsNulls };
  const query = parseQuery(table, queryString(request.url));
  checkDates(query.where);
  rejectCostlyQuery(table, query);
  if (isRead) {
    // RFC 9110 14.2: the header counts for GET alone.
    if (method === 'GET') query.range = applyRangeHeader(query.range, request.header('range'));
    query.range = limitRange(table, query);
    const named = { ...query, where: nameUser(table, query.where, userId) };
    const sql = selectSql(table, named, {
      body: method === 'GET',
      total: preferences.count,
      omitsNulls,
      limitedTexts: limitedTexts(table, query),
    });
    const costly = isCostlyRead(table, query, preferences.count);
    const quick = isQuickRead(table, query, preferences.count);
    return { ...answer, method, preferences, range: query.range, table, sql, returnsRow: true, costly, quick };
  }
  if (method !== 'POST') requireFilter(method, query);
  if (method !== 'DELETE') checkContentType(request.header('content-type'));
  const applied = method === 'POST' ? preferences : { ...preferences, resolution: null, location: false };
  const returnsRow = applied.representation || applied.location || applied.resolution === 'merge';
  const costly = method !== 'POST' && writesManyLongTexts(table, query);
  return { ...answer, method, preferences: applied, range: query.range, table, query, returnsRow, costly };
}

export type Write = {
  readonly sql: Sql;
  /** The bytes that count for the write quota; for a PATCH, those of each row. 0 is never refused. */
  readonly bytes: number;
};

/** Builds the statement of a write; null for a no-op, which is answered like zero rows. Throws a DataError. */
export async function buildWrite(
  { method, table, query: parsed, preferences }: WriteRequest,
  body: string,
  sanitize: SanitizeLog,
  userId: string,
): Promise<Write | null> {
  const query = { ...parsed, where: nameUser(table, parsed.where, userId) };
  const limited = limitedTexts(table, parsed);
  // Deletions make room, so the quota does not count them.
  if (method === 'DELETE') return { sql: deleteSql(table, query, preferences, limited), bytes: 0 };
  const value = parseBody(table, body);
  const bytes = Buffer.byteLength(body);
  if (method === 'POST') {
    const rows = await sanitizeRows(
      table,
      parseInsertRows(table, value, query.columns, preferences.missingIsDefault),
      sanitize,
    );
    return rows.rows.length === 0 ? null : { sql: insertSql(table, query, rows, preferences, userId), bytes };
  }
  const changes = await sanitizeRows(
    table,
    parseChanges(table, value, query.columns, preferences.missingIsDefault),
    sanitize,
  );
  if (changes.columns.length === 0) return null;
  const isOneRow = table.log !== null && !writesManyLongTexts(table, parsed);
  const sql = updateSql(table, query, changes, preferences, { limitedTexts: limited, isOneRow });
  return { sql, bytes: rewritesLog(table, changes) ? ENTRY_MAX_BYTES : bytes };
}

/** Threat: a request of a few bytes that moves a log to another day rewrites its date header, and so the whole log. */
const rewritesLog = ({ log }: ExposedTable, { columns }: Rows): boolean =>
  log !== null && columns.includes(log.day) && !columns.includes(log.content);

/** Builds the statement that counts the rows that a write matches. */
export function countSql({ table, query }: WriteRequest, userId: string): Sql {
  const where = nameUser(table, query.where, userId);
  return selectSql(table, { ...query, where }, { body: false, total: false });
}

/** The user id in the statement of a guest. No row has this id. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Adds the caller to the conditions unless a condition already names the caller. Row-level security decides about
 * access without it; the condition lets PostgreSQL skip the other partitions or shards of a table
 * (docs/decisions/0041).
 */
function nameUser({ user }: ExposedTable, where: readonly Condition[], userId: string | null): readonly Condition[] {
  const caller = userId ?? NOBODY;
  const isNamed = where.some(
    (condition) =>
      condition.kind === 'compare' &&
      condition.column === user &&
      condition.operator === 'eq' &&
      !condition.negated &&
      condition.value === caller,
  );
  if (isNamed) return where;
  return [...where, { kind: 'compare', column: user, operator: 'eq', negated: false, value: caller }];
}

/**
 * Threat: a client bug that forgets a filter would delete or overwrite all logs of its user. As with the extension
 * `safeupdate` of PostgreSQL, a write to existing rows needs a filter. `limit` is rejected as ambiguous: it could bound
 * the write or the response.
 */
function requireFilter(method: 'PATCH' | 'DELETE', { where, range }: Query): void {
  const verb = method === 'PATCH' ? 'UPDATE' : 'DELETE';
  if (where.length === 0) throw dataError('21000', { message: `${verb} requires a WHERE clause` });
  if (range.limit !== null || range.offset > 0) {
    throw dataError('PGRST100', { message: `limit and offset cannot be used with ${method}` });
  }
}

/** Returns the query string; cheaper than constructing a URL from an address that Node has already validated. */
function queryString(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return '';
  const end = url.indexOf('#', at);
  return end === -1 ? url.slice(at + 1) : url.slice(at + 1, end);
}
