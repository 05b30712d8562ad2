/** Builds the error responses of the auth API, in the formats of older and of newer clients and of RFC 6749. */
import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { isTransient } from '#server/database/database-error.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { isClientDisconnected } from '#server/http/error-response.ts';
import { BodyTooLargeError } from '#server/http/limit-body.ts';
import type { Metrics } from '#server/http/metrics.ts';
import { BusyError } from '#server/load/request-context.ts';
import type { Logger } from '#server/log.ts';
import { AuthError, OAuthError } from './errors.ts';

const VERSION_HEADER = 'X-Supabase-Api-Version';
const NEW_FORMAT_VERSION = '2024-01-01';

type Deps = { log: Logger; metrics: Pick<Metrics, 'events'> };

export function authErrorResponse(context: Context<AppEnv>, thrown: unknown, { log, metrics }: Deps): Response {
  if (thrown instanceof OAuthError)
    return context.json({ error: thrown.error, error_description: thrown.message }, 400);
  const error = toAuthError(thrown);
  metrics.events.authError(error.code);
  const errorId = randomUUID();
  // The request log shows expected errors; a stack trace for each would add load to a burst.
  const isUnexpected = error.status >= 500 && !isExpected(thrown) && !isClientDisconnected(context);
  if (isUnexpected) log.error({ err: thrown, errorId }, 'auth request failed');
  context.header('x-sb-error-code', error.code);
  if (error.retryAfterSeconds !== null) context.header('Retry-After', String(error.retryAfterSeconds));
  const weak = error.weaknesses ? { weak_password: { reasons: error.weaknesses } } : {};
  if (wantsNewErrorFormat(context)) {
    // The client reads `code` only if the response has this header (docs/specification/api.md 3).
    context.header(VERSION_HEADER, NEW_FORMAT_VERSION);
    return context.json({ code: error.code, message: error.message, ...weak }, error.status);
  }
  const id = error.status >= 500 ? { error_id: errorId } : {};
  return context.json({ code: error.status, error_code: error.code, msg: error.message, ...id, ...weak }, error.status);
}

const isExpected = (thrown: unknown): boolean => thrown instanceof AuthError || thrown instanceof BusyError;

export function toAuthError(thrown: unknown): AuthError {
  if (thrown instanceof AuthError) return thrown;
  if (thrown instanceof BodyTooLargeError) return new AuthError('body_too_large');
  return new AuthError(isTransient(thrown) ? 'try_again' : 'unexpected_failure');
}

function wantsNewErrorFormat(context: Context): boolean {
  const version = context.req.header(VERSION_HEADER) ?? '';
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= NEW_FORMAT_VERSION;
}
