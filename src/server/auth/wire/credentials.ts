/** Addresses and passwords as they arrive: the rules of the wire, which are looser than those of our own forms. */
import {
  EMAIL_MAX_LENGTH,
  PASSWORD_MAX_BYTES,
  PASSWORD_MIN_LENGTH,
  isCommonPassword,
} from '#domain/account/account.ts';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import { AuthError } from './errors.ts';
import type { AuthErrorName } from './errors.ts';

/**
 * The rule of the HTML standard for `type=email`: printable ASCII before the @, host labels after it, one label being
 * enough. It has no room for spaces, quotes, angle brackets, commas or line breaks, so no address can add a header or
 * a command to a mail.
 */
const ADDRESS =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** RFC 5321 4.5.3.1.1. */
const MAX_LOCAL_PART_LENGTH = 64;

/** The address in lower case, as it is stored and compared. Throws `validation_failed`. */
export function parseEmail(given: string, problem: AuthErrorName = 'bad_email'): string {
  if (given.length > EMAIL_MAX_LENGTH) throw new AuthError('email_too_long');
  const email = given.toLowerCase();
  if (!ADDRESS.test(email) || email.indexOf('@') > MAX_LOCAL_PART_LENGTH) throw new AuthError(problem);
  return email;
}

/** Throws `weak_password` or `validation_failed`. */
export function checkNewPassword(password: string): void {
  if (password.length < PASSWORD_MIN_LENGTH) throw new AuthError('weak_password');
  if (Buffer.byteLength(password) > PASSWORD_MAX_BYTES) throw new AuthError('password_too_long');
  if (isCommonPassword(password)) throw new AuthError('common_password');
}

/** User metadata travels in every access token, and Node refuses requests with more than 16 KB of headers. */
const MAX_METADATA_BYTES = 8_192;

export function checkMetadata(data: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_METADATA_BYTES) throw new AuthError('metadata_too_large');
  return data;
}
