/**
 * Reads an identity from the claims of a provider. The operator trusts the provider, but its users choose most of the
 * values: only known claims are kept, and only of the expected type and length.
 */
import type { JsonObject } from '#server/database/tables.ts';
import { parseEmail } from '../http/credentials.ts';
import { AuthError } from '../http/errors.ts';
import type { ExternalIdentity } from './external-identity.ts';
import { ProviderError } from './provider-client.ts';

/** OpenID Connect Core 2 limits `sub` to 255 characters. */
const MAX_ID_LENGTH = 255;
const MAX_TEXT_LENGTH = 200;
const MAX_URL_LENGTH = 1_000;

/** Claims of OpenID Connect Core 5.1; other providers' answers are mapped to them. */
export type ProfileClaims = Readonly<Record<string, unknown>>;

/** Throws a ProviderError if the claims name no account. */
export function identityFromClaims(provider: string, issuer: string, claims: ProfileClaims): ExternalIdentity {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_ID_LENGTH || !isStorable(sub)) {
    throw new ProviderError('rejected', 'the account has no usable id');
  }
  const email = readEmail(claims['email']);
  // Some providers send the flag as text.
  const emailVerified = email !== null && (claims['email_verified'] === true || claims['email_verified'] === 'true');
  const name = readText(claims['name']);
  const picture = readUrl(claims['picture']);
  const login = readText(claims['preferred_username']);
  const data: JsonObject = {
    iss: issuer,
    sub,
    provider_id: sub,
    ...(email !== null && { email }),
    email_verified: emailVerified,
    phone_verified: false,
    ...(name !== null && { name, full_name: name }),
    ...(login !== null && { preferred_username: login, user_name: login }),
    ...(picture !== null && { picture, avatar_url: picture }),
  };
  return { provider, providerId: sub, email, emailVerified, data };
}

/** Null for an address that this server does not accept, such as one with letters beyond ASCII. */
function readEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  try {
    return parseEmail(value);
  } catch (error) {
    if (error instanceof AuthError) return null;
    throw error;
  }
}

const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && isStorable(value)
    ? value.slice(0, MAX_TEXT_LENGTH).toWellFormed()
    : null;

/** Null unless the address is https. Threat: a user sets a picture with a `javascript:` address. */
function readUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !isStorable(value)) return null;
  return URL.parse(value)?.protocol === 'https:' ? value : null;
}

/** PostgreSQL stores neither null characters nor lone surrogates. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
