/** Turns an assertion into an identity of an account (docs/specification/api.md 29). */
import { parseEmail } from '../http/credentials.ts';
import { AuthError } from '../http/errors.ts';
import type { ExternalIdentity } from '../providers/external-identity.ts';
import { mapAttributes, parseAttributeMapping, type SsoProvider } from './sso-providers.ts';
import type { Assertion } from './read-assertion.ts';

const SUBJECT_ID = 'urn:oasis:names:tc:SAML:attribute:subject-id';
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const TRANSIENT_FORMAT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const EMAIL_ATTRIBUTES = [
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'http://schemas.xmlsoap.org/claims/EmailAddress',
  'mail',
  'Mail',
  'email',
];
/** Claims of OpenID Connect, and `full_name` and `user_name` of supabase/auth; the others become custom claims. */
const STANDARD_CLAIMS = new Set([
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'full_name',
  'user_name',
]);

export const identityProviderOf = ({ id }: Pick<SsoProvider, 'id'>): string => `sso:${id}`;

/** Throws `saml_assertion_no_user_id` or `saml_assertion_no_email`. */
export function toIdentity(provider: SsoProvider, assertion: Assertion): ExternalIdentity {
  const userId = readUserId(assertion);
  const { email: mappedEmail, ...claims } = mapAttributes(
    parseAttributeMapping(provider.attribute_mapping),
    assertion.attributes,
  );
  const email = readEmail(assertion, mappedEmail);
  const split = Object.groupBy(Object.entries(claims), ([name]) => (STANDARD_CLAIMS.has(name) ? 'standard' : 'custom'));
  return {
    provider: identityProviderOf(provider),
    providerId: userId,
    email,
    // Only the identity provider vouches for the address. That suffices, because the account has no other way to sign
    // in.
    emailVerified: true,
    data: {
      ...Object.fromEntries(split.standard ?? []),
      ...(split.custom && { custom_claims: Object.fromEntries(split.custom) }),
      sub: userId,
      iss: provider.entity_id,
      email,
      email_verified: true,
      phone_verified: false,
    },
  };
}

/**
 * Prefers the subject id, which identifies a user forever. Refuses a transient name: it differs at every sign-in.
 *
 * Threat: look-alike addresses. The Kelvin sign becomes an ASCII `k` in lower case, so a user of the identity provider
 * with that sign would open another user's account. Only the case of ASCII addresses is ignored.
 */
function readUserId({ nameId, attributes }: Assertion): string {
  const [subjectId] = attributes.get(SUBJECT_ID) ?? [];
  if (subjectId) return subjectId;
  if (!nameId || nameId.value === '' || nameId.format === TRANSIENT_FORMAT)
    throw new AuthError(
      400,
      'saml_assertion_no_user_id',
      'SAML Assertion did not contain a persistent Subject Identifier attribute or Subject NameID uniquely identifying this user',
    );
  const isAsciiAddress = nameId.format === EMAIL_FORMAT && /^[\x20-\x7e]+$/.test(nameId.value);
  return isAsciiAddress ? nameId.value.toLowerCase() : nameId.value;
}

function readEmail({ nameId, attributes }: Assertion, mapped: unknown): string {
  const named = nameId?.format === EMAIL_FORMAT ? nameId.value : '';
  const candidates = [mapped, ...EMAIL_ATTRIBUTES.flatMap((name) => attributes.get(name) ?? []), named];
  const email = candidates.find((text): text is string => typeof text === 'string' && text !== '') ?? '';
  try {
    return parseEmail(email);
  } catch (error) {
    throw error instanceof AuthError
      ? new AuthError(400, 'saml_assertion_no_email', 'SAML Assertion does not contain an email address')
      : error;
  }
}
