/** Classifies the errors of PostgreSQL and its driver. */
import pg from 'pg';
import { BusyError } from '../load/request-context.ts';
import { NoPrimaryError } from './connection/primary-finder.ts';

/** The fields of `pg.DatabaseError` that are used; anything else the driver throws has no SQLSTATE. */
type DatabaseFailure = {
  code: string;
  message: string;
  detail?: string;
  hint?: string;
  /** The source file of PostgreSQL that reports the error. */
  file?: string;
  routine?: string;
  table?: string;
  constraint?: string;
};

/** Each SQLSTATE has a digit, unlike Node's EPIPE. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

export function isDatabaseFailure(error: unknown): error is DatabaseFailure {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && SQLSTATE.test(error.code);
}

export const isUniqueViolation = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && error.code === '23505';

/** SQLSTATE classes: lost connection (08), no resources (53), shutdown or cancelled query (57), system error (58). */
const UNREACHABLE = new Set(['08', '53', '57', '58']);
/**
 * A write reached a server that only reads: a standby during a failover, or a primary that was set to read-only, for
 * example because its disk is full.
 */
export const READ_ONLY = '25006';
/** A stale or missing prepared statement, if the second attempt of `pooled-database.ts` failed as well. */
const STALE_STATEMENT_CODES: ReadonlySet<string> = new Set(['0A000', '26000']);
/** The login does not exist, has another password or is not let in. */
const LOGIN_FAILURES: ReadonlySet<string> = new Set(['28P01', '28000']);
/** @param code the SQLSTATE of an error, if it has one */
export const isLoginFailure = (code: string | undefined): boolean => code !== undefined && LOGIN_FAILURES.has(code);
export const PERMISSION_DENIED = '42501';
export const NOT_NULL_VIOLATION = '23502';
/** The SQLSTATE of a cancelled statement, for example at its time limit. */
export const QUERY_CANCELED = '57014';
/**
 * These source files of PostgreSQL check the rights of a statement: grants, row-level security, and functions that
 * raise.
 */
const PERMISSION_CHECKS: ReadonlySet<string> = new Set(['aclchk.c', 'execMain.c', 'rls.c', 'pl_exec.c']);
const IO_ERROR = '58030';
/** SQLSTATE class 40, such as deadlocks and serialization failures: a retry usually succeeds. */
const COLLISION_CLASS = '40';

/** The codes of Node for a connection that failed. `pg` has messages without a code for a closed connection or pool. */
const CONNECTION_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EAGAIN',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);
const CONNECTION_MESSAGE = /connection (terminated|timeout)|timeout exceeded when trying to connect|not queryable/i;
/** A statement waited too long for a lock. */
const LOCK_TIMEOUT = '55P03';

/**
 * The SQLSTATE; null for an error that PostgreSQL did not send. PostgreSQL also reports 42501 if it may not write a
 * file of its own, such as on a read-only disk. That is an I/O error here: no request causes it.
 */
export function sqlStateOf(error: unknown): string | null {
  if (!isDatabaseFailure(error)) return null;
  const { code, file } = error;
  return code === PERMISSION_DENIED && file !== undefined && !PERMISSION_CHECKS.has(file) ? IO_ERROR : code;
}

/** True if the connection to the database could not be opened or was lost. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error) || isDatabaseFailure(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error instanceof NoPrimaryError || CONNECTION_FAILURES.has(code) || CONNECTION_MESSAGE.test(error.message);
}

export const isCollision = (error: unknown): boolean =>
  isDatabaseFailure(error) && error.code.startsWith(COLLISION_CLASS);

/** True if the database cannot be reached or cannot carry out the statement now: the client may retry. */
export function isTransient(error: unknown): boolean {
  if (error instanceof BusyError) return true;
  const code = sqlStateOf(error);
  if (code === null) return isConnectionFailure(error);
  const isOfClass = UNREACHABLE.has(code.slice(0, 2)) || isCollision(error);
  return isOfClass || code === READ_ONLY || code === LOCK_TIMEOUT || STALE_STATEMENT_CODES.has(code);
}

/** Drops `detail` and `where`, which quote the row: no journal text belongs in the server's log. */
export function redactRow(error: unknown): object {
  if (!isDatabaseFailure(error)) return { err: error };
  const { code, message, routine, table, constraint } = error;
  return { sqlState: code, reason: message, routine, table, constraint };
}
