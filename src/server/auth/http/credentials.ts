/**
 * Validates addresses, telephone numbers, passwords and metadata by the rules of the API. The product's forms have
 * rules of their own (src/domain/account/account.ts).
 */
import {
  EMAIL_MAX_LENGTH,
  isCommonPassword,
  PASSWORD_MAX_BYTES,
  PASSWORD_MIN_LENGTH,
  normalizeAddress,
} from '#domain/account/account.ts';
import type { JsonObject } from '#server/database/tables.ts';
import type { AuthDeps } from './auth-deps.ts';
import { AuthError, invalidRequest, type AuthErrorName } from './errors.ts';
import type { SmsSettings } from '#server/config/auth-settings.ts';
import type { Body } from './body.ts';

/**
 * The rule of the HTML standard for `type=email`, in lower case: a set of printable ASCII before the @, one or more
 * host labels after it. Threat: header injection. Spaces, double quotes, angle brackets, commas and line breaks are
 * excluded, so no address can add a header or a command to a mail.
 */
const ADDRESS =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** The limit of RFC 5321 4.5.3.1.1 for the part before the @. */
const MAX_LOCAL_PART_LENGTH = 64;

/**
 * Returns the address in lower case, as it is stored and compared. Throws `validation_failed`.
 *
 * Threat: look-alike addresses. The Kelvin sign becomes an ASCII `k` in lower case, so a provider that verified an
 * address with that sign would open another person's account. Letters beyond ASCII are refused before the case is
 * changed; a domain of other letters is compared in punycode.
 */
export function parseEmail(input: string, problem: AuthErrorName = 'bad_email'): string {
  if (input.length > EMAIL_MAX_LENGTH) throw invalidRequest('An email address is too long');
  const address = normalizeAddress(input);
  const email = address.toLowerCase();
  if (/[^\x21-\x7e]/.test(address) || !ADDRESS.test(email) || email.indexOf('@') > MAX_LOCAL_PART_LENGTH)
    throw new AuthError(problem);
  return email;
}

/** The facts that a password must not be made of. */
export type PasswordOwner = { email: string | null; phone: string | null; data: JsonObject };

/**
 * Throws `weak_password` or `validation_failed`, or BusyError. Call it before anything depends on whether
 * the account exists, and after the rate limits: an assessment takes milliseconds of the password thread.
 */
export async function checkNewPassword(
  { passwords, config }: Pick<AuthDeps, 'passwords' | 'config'>,
  password: string,
  owner: PasswordOwner,
): Promise<void> {
  checkPasswordFormat(config, password);
  if (!config.auth.passwordCheck) return;
  const names = Object.values(owner.data).filter((value) => typeof value === 'string');
  const ownTexts = [owner.email ?? '', owner.phone ?? '', ...names.slice(0, MAX_NAMES)];
  const isGuessable = await passwords.isGuessable(
    password,
    ownTexts.map((text) => text.slice(0, EMAIL_MAX_LENGTH)),
  );
  if (isGuessable) throw new AuthError('common_password');
}

/** How many texts of the user's metadata a password is compared with. */
const MAX_NAMES = 10;

/** The quick checks of `checkNewPassword`. Throws `weak_password` or `validation_failed`. */
export function checkPasswordFormat(config: AuthDeps['config'], password: string): void {
  if (Buffer.byteLength(password) > PASSWORD_MAX_BYTES)
    throw invalidRequest('Password cannot be longer than 72 characters');
  const weakness = findWeakness(config, password);
  if (weakness) throw weakness;
}

/**
 * Null for an acceptable password. A sign-in only warns of a weak password, which may have been set before these rules
 * or as a hash.
 */
export function findWeakness({ auth }: AuthDeps['config'], password: string): AuthError | null {
  if (password.length < PASSWORD_MIN_LENGTH) return new AuthError('weak_password');
  return auth.passwordCheck && isCommonPassword(password) ? new AuthError('common_password') : null;
}

/** User metadata travels in every access token, and Node refuses requests with more than 16 KB of headers. */
const MAX_METADATA_BYTES = 8_192;

/**
 * Threat: a stranger fills the database with sign-ups that nobody confirms. A job deletes them only after 30 days, and
 * their metadata is stored twice, in the user and in the identity.
 */
const MAX_SIGN_UP_METADATA_BYTES = 1_024;

export function checkSignUpMetadata(data: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_SIGN_UP_METADATA_BYTES)
    throw invalidRequest(
      'User metadata of a sign-up must not exceed 1024 bytes of JSON. Send more with PUT /user after the sign-in',
    );
  return data;
}

export function checkMetadata(data: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_METADATA_BYTES)
    throw invalidRequest('User metadata must not exceed 8192 bytes of JSON');
  return data;
}

/** Shallow merge; null removes a key. */
export function mergeMetadata(current: JsonObject, change: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...current, ...change }).filter(([, value]) => value !== null));
}

/** ITU-T E.164: a country code and a subscriber number, 15 digits at most. Together they have at least 7 digits. */
const DIGITS = /^[1-9][0-9]{6,14}$/;

/** As the number is stored and compared: without the plus sign and spaces. */
export const formatPhone = (input: string): string => input.replace(/^\+/, '').replaceAll(' ', '');

/** Returns the number as its digits. Throws `validation_failed`. */
export function parsePhone(input: string): string {
  const digits = formatPhone(input);
  if (!DIGITS.test(digits)) throw invalidRequest('Invalid phone number format (E.164 required)');
  return digits;
}

/** Country codes are prefix-free, so a number that begins with a listed code is in that country. */
export const isInAllowedCountry = (phone: string, { countries }: Pick<SmsSettings, 'countries'>): boolean =>
  countries.length === 0 || countries.some((code) => `+${phone}`.startsWith(code));

/**
 * Throws `validation_failed` for any channel but `sms`. A missing channel means `sms`. supabase/auth also has the
 * channel `whatsapp`.
 */
export function checkChannel(body: Body): void {
  const channel = body.text('channel');
  if (channel !== '' && channel !== 'sms') throw invalidRequest("Invalid channel, supported values are 'sms'");
}
