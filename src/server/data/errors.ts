/**
 * The catalogue of the data API's errors (docs/specification/api.md 21). Five-character codes are SQLSTATEs of
 * PostgreSQL.
 */
import { VERSION_DAYS, ENTRY_MAX_BYTES, STORAGE_FULL_CODE, STORED_MAX_BYTES } from '#domain/log/entry.ts';
import { isCollision, isDatabaseFailure, isTransient, PERMISSION_DENIED } from '../database/database-error.ts';
import { BusyError } from '../load/request-context.ts';

/**
 * Maximum number of rows in a write: the default page size of Supabase's data API, so a client can write in one request
 * what it has read there in one.
 */
export const MAX_ROWS = 1_000;

type CatalogueEntry = { status: number; message: string };

const DATA_ERRORS = {
  PGRST000: { status: 503, message: 'The database cannot be reached. Please try again' },
  PGRST100: { status: 400, message: 'The query could not be parsed' },
  PGRST102: { status: 400, message: 'Empty or invalid json' },
  PGRST103: { status: 416, message: 'Requested range not satisfiable' },
  PGRST106: { status: 406, message: 'Invalid schema' },
  PGRST107: { status: 406, message: 'None of these media types are available' },
  PGRST116: { status: 406, message: 'Cannot coerce the result to a single JSON object' },
  PGRST117: { status: 405, message: 'Unsupported HTTP method' },
  PGRST122: { status: 400, message: 'Invalid preferences given with handling=strict' },
  PGRST123: { status: 400, message: 'Use of aggregate functions is not allowed' },
  PGRST125: { status: 404, message: 'Invalid path specified in request URL' },
  PGRST200: { status: 400, message: 'Could not find a relationship between the tables in the schema cache' },
  PGRST202: { status: 404, message: 'Could not find the function in the schema cache' },
  PGRST204: { status: 400, message: 'Could not find the column in the schema cache' },
  PGRST205: { status: 404, message: 'Could not find the table in the schema cache' },
  PGRST301: { status: 401, message: 'JWT cryptographic operation failed' },
  PGRST303: { status: 401, message: 'JWT expired' },
  '21000': { status: 400, message: 'This request requires a WHERE clause' },
  '22007': { status: 400, message: 'invalid input syntax for type date' },
  '22P02': { status: 400, message: 'invalid input syntax' },
  '22P05': { status: 400, message: 'unsupported Unicode escape sequence' },
  '42501': { status: 403, message: 'permission denied' },
  '42703': { status: 400, message: 'column does not exist' },
  '54000': { status: 413, message: `A log can hold ${ENTRY_MAX_BYTES / 1024} KB at most. Please shorten it` },
  '54001': { status: 400, message: 'The log is nested too deeply' },
  '54023': { status: 413, message: `A request can write ${MAX_ROWS} rows at most. Please send fewer at once` },
  [STORAGE_FULL_CODE]: {
    status: 413,
    message: `Your logs and their versions fill ${STORED_MAX_BYTES / 1024 ** 2} MB. A deleted log makes room after ${VERSION_DAYS} days`,
  },
  '53400': { status: 429, message: 'You have written more than 32 MB in a minute. Please continue in a minute' },
  XX000: { status: 500, message: 'Something went wrong on our side' },
} as const satisfies Record<string, CatalogueEntry>;

type DataErrorCode = keyof typeof DATA_ERRORS;

type ErrorOverrides = {
  message?: string;
  details?: string | null;
  hint?: string | null;
  status?: 401;
  retryAfterSeconds?: number;
};

/** The JSON body of an error response, and its status. */
export class DataError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: string | null;
  readonly hint: string | null;
  /** For the header `Retry-After`. */
  readonly retryAfterSeconds: number | null;

  constructor(
    status: number,
    code: string,
    message: string,
    details: string | null,
    hint: string | null,
    retryAfterSeconds: number | null = null,
  ) {
    super(message);
    this.name = 'DataError';
    this.status = status;
    this.code = code;
    this.details = details;
    this.hint = hint;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Creates an error of the catalogue with optional overrides. `status` 401 is for guests. */
export function dataError(code: DataErrorCode, overrides: ErrorOverrides = {}): DataError {
  const entry = DATA_ERRORS[code];
  const { message, details = null, hint = null, status = entry.status, retryAfterSeconds = null } = overrides;
  return new DataError(status, code, message ?? entry.message, details, hint, retryAfterSeconds);
}

// Maps errors of the database to answers of the data API (docs/specification/api.md 21).

/** Class 22 is bad data, class 23 a violated constraint. */
const isOfDataClass = (code: string): boolean => /^2[23]/.test(code);

/** Statuses of errors that a request can cause. Unlisted codes of class 22 (bad data) and 23 (constraint) are 400. */
const STATUSES: Readonly<Record<string, number>> = {
  '21000': 400, // one upsert names the same row twice
  '23503': 409,
  '23505': 409,
  '42501': 403,
  '42703': 400,
  '42804': 400, // `is.true` of a text
  '42883': 404, // `like` of a date
  '42P10': 400, // on_conflict without a unique index
  '54000': 413,
  '55000': 405, // a write to the view `deleted_days`
};

/** Every `code` of the data API but those of PostgreSQL's classes 22 and 23, as docs/api/openapi.yaml lists them. */
export const DATA_ERROR_CODES = [...new Set([...Object.keys(DATA_ERRORS), ...Object.keys(STATUSES)])].filter(
  (code) => !isOfDataClass(code),
);

/**
 * Maps a database error to a response. Returns null for an unexpected error, which the caller logs and answers without
 * any detail. A guest who lacks a right is asked to sign in (401), everybody else is refused (403).
 */
export function toDataError(error: unknown, guest: boolean): DataError | null {
  if (error instanceof DataError) return error;
  if (error instanceof BusyError) return dataError('PGRST000', { message: error.message });
  if (isCollision(error)) return dataError('PGRST000', { message: 'Two requests collided. Please try again' });
  if (isTransient(error)) return dataError('PGRST000');
  if (!isDatabaseFailure(error)) return null;
  const { code, message, detail = null, hint = null } = error;
  const status = STATUSES[code] ?? (isOfDataClass(code) ? 400 : null);
  if (status === null) return null;
  return new DataError(code === PERMISSION_DENIED && guest ? 401 : status, code, message, detail, hint);
}
