/**
 * Parses the headers that control a response of the data API: `Prefer`, `Accept`, `Range` and the schema
 * (docs/specification/api.md 19).
 */
import type { HonoRequest } from 'hono';
import { dataError } from './errors.ts';
import type { Preferences, Range } from './query.ts';

const NO_PREFERENCES: Preferences = {
  representation: false,
  location: false,
  count: false,
  resolution: null,
  missingIsDefault: false,
  omitsNulls: false,
  applied: [],
};

type Preference = Partial<Omit<Preferences, 'applied' | 'omitsNulls'>>;
const PREFERENCES: ReadonlyMap<string, Preference> = new Map<string, Preference>([
  ['return=representation', { representation: true }],
  ['return=minimal', { representation: false }],
  ['return=headers-only', { location: true }],
  ['count=exact', { count: true }],
  // The exact count satisfies these preferences too, and journals are small enough for it.
  ['count=planned', { count: true }],
  ['count=estimated', { count: true }],
  ['resolution=merge-duplicates', { resolution: 'merge' }],
  ['resolution=ignore-duplicates', { resolution: 'ignore' }],
  ['missing=default', { missingIsDefault: true }],
  ['missing=null', { missingIsDefault: false }],
  ['handling=lenient', {}],
  ['handling=strict', {}],
]);

/**
 * The first of several values for a preference wins (RFC 7240). Unknown preferences are ignored unless
 * `handling=strict`.
 */
export function parsePreferences(header: string | undefined): Preferences {
  if (header === undefined || header === '') return NO_PREFERENCES;
  const tokens = header.split(',').map((token) => token.trim());
  let preferences = NO_PREFERENCES;
  const applied = new Map<string, string>();
  for (const token of tokens) {
    const name = token.slice(0, token.indexOf('='));
    const found = PREFERENCES.get(token);
    if (!found || applied.has(name)) continue;
    applied.set(name, token);
    preferences = { ...preferences, ...found };
  }
  const unknown = tokens.filter((token) => !PREFERENCES.has(token));
  if (unknown.length > 0 && applied.get('handling') === 'handling=strict') {
    throw dataError('PGRST122', { details: `Invalid preferences: ${unknown.join(', ').slice(0, 200)}` });
  }
  return { ...preferences, applied: [...applied.values()] };
}

const JSON_ROWS = 'application/json';
const JSON_ARRAY = 'application/vnd.pgrst.array+json';
const JSON_OBJECT = 'application/vnd.pgrst.object+json';

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['*/*', JSON_ROWS],
  ['application/*', JSON_ROWS],
  [JSON_ROWS, JSON_ROWS],
  [JSON_ARRAY, JSON_ARRAY],
  [JSON_OBJECT, JSON_OBJECT],
  ['application/vnd.pgrst.object', JSON_OBJECT],
]);

/** `single`: one object instead of an array. `contentType`: of the answer. */
export type Accepted = { single: boolean; omitsNulls: boolean; contentType: string };

/** The first supported media type of the header. */
export function parseAccept(header = '*/*'): Accepted {
  for (const part of header.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const found = MEDIA_TYPES.get(type);
    if (found === undefined) continue;
    const omitsNulls = found !== JSON_ROWS && parameters.includes('nulls=stripped');
    const single = found === JSON_OBJECT;
    // PostgREST answers the media type of an array with that of plain JSON, unless it leaves nulls out.
    const contentType = single || omitsNulls ? found : JSON_ROWS;
    return { single, omitsNulls, contentType: omitsNulls ? `${contentType};nulls=stripped` : contentType };
  }
  throw dataError('PGRST107', { message: `None of these media types are available: ${header.slice(0, 200)}` });
}

const CONTENT_METHODS = new Set(['POST', 'PATCH', 'PUT', 'DELETE']);

/**
 * Only the `public` schema is exposed. Call it before the table is looked up, because the table is one of that schema.
 */
export function checkSchema(request: Pick<HonoRequest, 'method' | 'header'>): void {
  const name = request.header(CONTENT_METHODS.has(request.method) ? 'content-profile' : 'accept-profile');
  if (name === undefined || name === 'public') return;
  throw dataError('PGRST106', {
    message: `Invalid schema: ${name.slice(0, 100)}`,
    hint: 'Only the following schemas are exposed: public',
  });
}

/**
 * Applies `Range: 0-9` of older clients: the rows that are in this range and in that of `limit` and `offset`. Throws
 * PGRST103 if there can be none.
 */
export function applyRangeHeader(query: Range, header: string | undefined): Range {
  const match = /^(?:items=)?(\d{1,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (!match || query.limit === 0) return query;
  const [first, last] = [Number(match[1]), match[2] === '' ? Infinity : Number(match[2])];
  if (last < first) {
    throw dataError('PGRST103', { details: 'The lower boundary must be lower than or equal to the upper boundary.' });
  }
  const offset = Math.max(first, query.offset);
  const limit = Math.min(last + 1, query.offset + (query.limit ?? Infinity)) - offset;
  if (limit <= 0) throw dataError('PGRST103', { details: 'The Range header excludes the rows of limit and offset.' });
  return { offset, limit: limit === Infinity ? null : limit };
}
