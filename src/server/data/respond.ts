/** Builds the responses of the data API: status, `Content-Range` and body (docs/specification/api.md 20 and 21). */
import { dataError, type DataError } from './errors.ts';
import type { ExposedTable } from './exposed-tables.ts';
import type { Accepted } from './parse-headers.ts';
import type { Preferences, Range } from './query.ts';
import type { QueryResult } from './to-sql.ts';

/** `single`: a result without rows or with several rows is an error. */
export type ResponseOptions = Pick<Accepted, 'single' | 'contentType'> & {
  method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  range: Range;
  preferences: Preferences;
  table: ExposedTable;
};

/** No proxy and no browser cache may store a user's journal. */
const NO_STORE = 'no-store';

export const ALLOWED_METHODS = 'OPTIONS, GET, HEAD, POST, PATCH, DELETE';
/** Sent with every 503; postgrest-js waits this long before it retries a read. */
export const RETRY_AFTER_SECONDS = '1';

/** Throws PGRST116 if a `single` request does not have exactly one row. The error rolls back a write. */
export function checkSingle(single: boolean, rowCount: number): void {
  if (single && rowCount !== 1) throw dataError('PGRST116', { details: `The result contains ${rowCount} rows` });
}

export function toResponse(options: ResponseOptions, result: QueryResult): Response {
  const { preferences, single, contentType } = options;
  const headers: Record<string, string> = { 'content-range': contentRange(options, result), 'cache-control': NO_STORE };
  if (result.firstKey) headers['location'] = locationOf(options.table, result.firstKey);
  if (preferences.applied.length > 0) headers['preference-applied'] = preferences.applied.join(', ');
  const body = options.method === 'HEAD' ? undefined : result.body;
  if (body !== undefined || options.method === 'HEAD') {
    headers['content-type'] = `${contentType}; charset=utf-8`;
  }
  const status = statusOf(options, result);
  // A `single` body is an array of one row; the brackets are removed.
  return new Response(body === undefined ? null : single ? body.slice(1, -1) : body, { status, headers });
}

/** Relative to /rest/v1, as PostgREST answers behind a gateway. */
function locationOf({ name, key }: ExposedTable, row: Readonly<Record<string, unknown>>): string {
  const filters = key.map((column) => `${column.name}=eq.${encodeURIComponent(String(row[column.name]))}`);
  return `/${name}?${filters.join('&')}`;
}

function statusOf({ method, range, preferences }: ResponseOptions, { amount, total, inserted }: QueryResult): number {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (total === undefined) return 200;
      if (range.offset > 0 && range.offset > total) {
        const details = `An offset of ${range.offset} was requested, but there are only ${total} rows.`;
        throw dataError('PGRST103', { details });
      }
      return amount < total ? 206 : 200;
    case 'POST':
      return preferences.resolution === 'merge' && inserted === 0 && amount > 0 ? 200 : 201;
    case 'PATCH':
    case 'DELETE':
      return preferences.representation ? 200 : 204;
  }
}

function contentRange({ method, range, preferences }: ResponseOptions, { amount, total }: QueryResult): string {
  const isRead = method === 'GET' || method === 'HEAD';
  const all = preferences.count ? String(isRead ? (total ?? '*') : amount) : '*';
  const first = isRead ? range.offset : 0;
  const hasRange = isRead || method === 'PATCH';
  return `${hasRange && amount > 0 ? `${first}-${first + amount - 1}` : '*'}/${all}`;
}

/** Always sends all four keys, because clients read `details` and `hint` unconditionally. */
export function toErrorResponse(error: DataError): Response {
  const { status, code, message, details, hint, retryAfterSeconds } = error;
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': NO_STORE,
  };
  if (status === 401) headers['www-authenticate'] = challengeFor(error);
  if (status === 405) headers['allow'] = ALLOWED_METHODS;
  if (status === 503) headers['retry-after'] = RETRY_AFTER_SECONDS;
  if (retryAfterSeconds !== null) headers['retry-after'] = String(retryAfterSeconds);
  return new Response(JSON.stringify({ code, details, hint, message }), { status, headers });
}

/** RFC 6750: the reason for a rejected token, or only the scheme without a token. */
function challengeFor({ code, message }: DataError): string {
  return code.startsWith('PGRST3') ? `Bearer error="invalid_token", error_description="${message}"` : 'Bearer';
}
