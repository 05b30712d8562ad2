/** The answers of the data wire: status, `Content-Range` and body as docs/specification/wire.md 20 and 21 have them. */
import { dataError } from './errors.ts';
import type { DataError } from './errors.ts';
import { JSON_OBJECT } from './parse/parse-headers.ts';
import type { Preferences, Range } from './query.ts';
import type { QueryResult } from './sql/to-sql.ts';

export type ResponseOptions = {
  method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  range: Range;
  preferences: Preferences;
  /** One object is wanted, not an array: any other number of rows is an error. */
  single: boolean;
};

/** Somebody's journal: no proxy and no browser cache may keep a copy. */
const NO_STORE = 'no-store';

export const ALLOWED_METHODS = 'OPTIONS, GET, HEAD, POST, PATCH, DELETE';
/** With every 503: postgrest-js waits this long before it reads again. */
export const RETRY_AFTER_SECONDS = '1';

/** Throws PGRST116 unless exactly one row is there for a request that wants one; a write is then rolled back. */
export function checkSingle(single: boolean, amount: number): void {
  if (single && amount !== 1) throw dataError('PGRST116', { details: `The result contains ${amount} rows` });
}

export function toResponse(asked: ResponseOptions, answer: QueryResult): Response {
  const { preferences, single } = asked;
  const headers: Record<string, string> = {
    'content-range': contentRange(asked, answer),
    'cache-control': NO_STORE,
  };
  if (preferences.applied.length > 0) headers['preference-applied'] = preferences.applied.join(', ');
  const body = asked.method === 'HEAD' ? undefined : answer.body;
  if (body !== undefined || asked.method === 'HEAD') {
    headers['content-type'] = `${single ? JSON_OBJECT : 'application/json'}; charset=utf-8`;
  }
  const status = statusOf(asked, answer);
  // One row in an array, so the object is what stands between the brackets.
  return new Response(body === undefined ? null : single ? body.slice(1, -1) : body, { status, headers });
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
  const reading = method === 'GET' || method === 'HEAD';
  const all = preferences.count ? String(reading ? (total ?? '*') : amount) : '*';
  const first = reading ? range.offset : 0;
  const named = reading || method === 'PATCH';
  return `${named && amount > 0 ? `${first}-${first + amount - 1}` : '*'}/${all}`;
}

/** All four keys, always: clients read `details` and `hint` without asking whether they are there. */
export function toErrorResponse(error: DataError): Response {
  const { status, code, message, details, hint } = error;
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': NO_STORE,
  };
  if (status === 401) headers['www-authenticate'] = challengeFor(error);
  if (status === 405) headers['allow'] = ALLOWED_METHODS;
  if (status === 503) headers['retry-after'] = RETRY_AFTER_SECONDS;
  return new Response(JSON.stringify({ code, details, hint, message }), { status, headers });
}

/** RFC 6750: why a token was refused; nothing but the scheme where there was none. */
function challengeFor({ code, message }: DataError): string {
  return code.startsWith('PGRST3') ? `Bearer error="invalid_token", error_description="${message}"` : 'Bearer';
}
