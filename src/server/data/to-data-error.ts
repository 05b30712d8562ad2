/** Maps errors of the database to answers of the data API (docs/specification/wire.md 21). */
import { isCollision, isDatabaseFailure, isTransient, PERMISSION_DENIED } from '../database/database-error.ts';
import { BusyError } from '../load/busy-error.ts';
import { dataError, DataError } from './errors.ts';

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
  const status = STATUSES[code] ?? (code.startsWith('22') || code.startsWith('23') ? 400 : null);
  if (status === null) return null;
  return new DataError(code === PERMISSION_DENIED && guest ? 401 : status, code, message, detail, hint);
}
