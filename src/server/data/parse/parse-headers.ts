/** The headers that shape an answer of the data wire: `Prefer`, `Accept`, `Range` and the schema (docs/specification/wire.md 19). */
import { dataError } from '../errors.ts';
import type { Preferences, Range } from '../query.ts';

const NO_PREFERENCES: Preferences = {
  representation: false,
  count: false,
  resolution: null,
  missingIsDefault: false,
  applied: [],
};

type Preference = Partial<Omit<Preferences, 'applied'>>;
const PREFERENCES: ReadonlyMap<string, Preference> = new Map<string, Preference>([
  ['return=representation', { representation: true }],
  ['return=minimal', { representation: false }],
  ['return=headers-only', { representation: false }],
  ['count=exact', { count: true }],
  // A day's journal is small: the exact count is as cheap as the planner's guess, and both preferences allow it.
  ['count=planned', { count: true }],
  ['count=estimated', { count: true }],
  ['resolution=merge-duplicates', { resolution: 'merge' }],
  ['resolution=ignore-duplicates', { resolution: 'ignore' }],
  ['missing=default', { missingIsDefault: true }],
  ['missing=null', { missingIsDefault: false }],
  ['handling=lenient', {}],
  ['handling=strict', {}],
]);

/** Of two preferenceTokens for the same thing the first counts (RFC 7240); unknown ones are ignored unless `handling=strict`. */
export function parsePreferences(header: string | undefined): Preferences {
  if (header === undefined || header === '') return NO_PREFERENCES;
  const preferenceTokens = header.split(',').map((token) => token.trim());
  const unknown = preferenceTokens.filter((token) => !PREFERENCES.has(token));
  if (unknown.length > 0 && preferenceTokens.includes('handling=strict')) {
    throw dataError('PGRST122', { details: `Invalid preferences: ${unknown.join(', ').slice(0, 200)}` });
  }
  let preferences = NO_PREFERENCES;
  const applied = new Map<string, string>();
  for (const token of preferenceTokens) {
    const subject = token.slice(0, token.indexOf('='));
    const found = PREFERENCES.get(token);
    if (!found || applied.has(subject)) continue;
    applied.set(subject, token);
    preferences = { ...preferences, ...found };
  }
  return { ...preferences, applied: [...applied.values()] };
}

export const JSON_ARRAY = 'application/json';
export const JSON_OBJECT = 'application/vnd.pgrst.object+json';

const MEDIA_TYPES: ReadonlyMap<string, typeof JSON_ARRAY | typeof JSON_OBJECT> = new Map([
  ['*/*', JSON_ARRAY],
  ['application/*', JSON_ARRAY],
  ['application/json', JSON_ARRAY],
  ['application/vnd.pgrst.array+json', JSON_ARRAY],
  ['application/vnd.pgrst.object+json', JSON_OBJECT],
  ['application/vnd.pgrst.object', JSON_OBJECT],
]);

/** The first acceptable media type that is spoken here. */
export function parseAccept(header: string | undefined): typeof JSON_ARRAY | typeof JSON_OBJECT {
  if (header === undefined || header === '*/*') return JSON_ARRAY;
  for (const part of header.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const found = MEDIA_TYPES.get(type);
    if (found && !parameters.includes('nulls=stripped')) return found;
  }
  throw dataError('PGRST107', { message: `None of these media types are available: ${header.slice(0, 200)}` });
}

/** Only one schema is exposed; clients name it with every request. */
export function checkSchema(name: string | undefined): void {
  if (name === undefined || name === 'public') return;
  throw dataError('PGRST106', {
    message: `Invalid schema: ${name.slice(0, 100)}`,
    hint: 'Only the following schemas are exposed: public',
  });
}

/** `Range: 0-9`, for clients older than `limit` and `offset`, which win when they are there. */
export function applyRangeHeader(query: Range, header: string | undefined): Range {
  if (header === undefined || query.limit !== null || query.offset > 0) return query;
  const match = /^(?:items=)?(\d{1,15})-(\d{0,15})$/.exec(header.trim());
  if (!match) return query;
  const first = Number(match[1]);
  if (match[2] === '') return { offset: first, limit: null };
  const last = Number(match[2]);
  if (last < first) {
    throw dataError('PGRST103', { details: 'The lower boundary must be lower than or equal to the upper boundary.' });
  }
  return { offset: first, limit: last - first + 1 };
}
