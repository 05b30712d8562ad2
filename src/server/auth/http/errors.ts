/**
 * The errors of the auth API (docs/specification/api.md 3), and the catalogue of those that several places throw. An
 * error of one place stands there.
 */

/** Every `error_code` of the auth API, as docs/api/openapi.yaml lists them. */
export const AUTH_ERROR_CODES = [
  'anonymous_provider_disabled',
  'bad_code_verifier',
  'bad_json',
  'bad_jwt',
  'bad_oauth_callback',
  'bad_oauth_state',
  'captcha_failed',
  'connect_request_not_found',
  'email_conflict_identity_not_deletable',
  'email_exists',
  'email_not_confirmed',
  'email_provider_disabled',
  'flow_state_already_used',
  'flow_state_expired',
  'flow_state_not_found',
  'identity_already_exists',
  'identity_not_found',
  'insufficient_aal',
  'invalid_credentials',
  'manual_linking_disabled',
  'method_not_allowed',
  'mfa_challenge_expired',
  'mfa_factor_name_conflict',
  'mfa_factor_not_found',
  'mfa_ip_address_mismatch',
  'mfa_phone_enroll_not_enabled',
  'mfa_phone_verify_not_enabled',
  'mfa_recovery_codes_locked',
  'mfa_recovery_codes_sole_factor',
  'mfa_verification_failed',
  'mfa_verified_factor_exists',
  'mfa_webauthn_enroll_not_enabled',
  'mfa_webauthn_verify_not_enabled',
  'no_authorization',
  'not_admin',
  'not_found',
  'otp_expired',
  'over_archive_limit',
  'over_email_send_rate_limit',
  'over_request_rate_limit',
  'over_sms_send_rate_limit',
  'passkey_disabled',
  'phone_exists',
  'phone_not_confirmed',
  'phone_provider_disabled',
  'provider_disabled',
  'provider_email_needs_verification',
  'reauthentication_needed',
  'reauthentication_not_valid',
  'refresh_token_already_used',
  'refresh_token_not_found',
  'request_entity_too_large',
  'request_timeout',
  'same_password',
  'saml_assertion_no_email',
  'saml_assertion_no_user_id',
  'saml_entity_id_mismatch',
  'saml_idp_already_exists',
  'saml_provider_disabled',
  'saml_relay_state_expired',
  'saml_relay_state_not_found',
  'session_not_found',
  'signup_disabled',
  'single_identity_not_deletable',
  'sms_send_failed',
  'sso_domain_already_exists',
  'sso_provider_disabled',
  'sso_provider_not_found',
  'too_many_enrolled_mfa_factors',
  'too_many_passkeys',
  'too_many_tokens',
  'unexpected_failure',
  'user_already_exists',
  'user_banned',
  'user_not_found',
  'user_sso_managed',
  'validation_failed',
  'weak_password',
  'web3_provider_disabled',
  'web3_unsupported_chain',
  'webauthn_challenge_expired',
  'webauthn_challenge_not_found',
  'webauthn_credential_exists',
  'webauthn_verification_failed',
] as const;

export type AuthErrorCode = (typeof AUTH_ERROR_CODES)[number];

type Entry = { status: 400 | 401 | 403 | 404 | 405 | 413 | 422 | 429 | 500 | 503; code: AuthErrorCode; text: string };

/** `%` in a text is replaced by the error's detail. Keys are internal, codes reach the client. */
const CATALOGUE = {
  bad_json: { status: 400, code: 'bad_json', text: 'Could not parse request body as JSON: %' },
  body_too_large: { status: 413, code: 'request_entity_too_large', text: 'Request body too large' },
  /** supabase/auth responds in plain text, which clients cannot parse. */
  no_such_endpoint: { status: 404, code: 'not_found', text: 'There is nothing at this address' },
  user_not_found: { status: 403, code: 'user_not_found', text: 'User from sub claim in JWT does not exist' },
  session_not_found: {
    status: 403,
    code: 'session_not_found',
    text: 'Session from session_id claim in JWT does not exist',
  },
  user_banned: { status: 403, code: 'user_banned', text: 'User is banned' },
  invalid_credentials: { status: 400, code: 'invalid_credentials', text: 'Invalid login credentials' },

  signup_disabled: { status: 422, code: 'signup_disabled', text: 'Signups not allowed for this instance' },
  captcha_failed: { status: 400, code: 'captcha_failed', text: 'captcha protection: request disallowed (%)' },
  sso_provider_not_found: { status: 404, code: 'sso_provider_not_found', text: 'No such SSO provider' },
  sso_provider_disabled: {
    status: 404,
    code: 'sso_provider_disabled',
    text: 'SSO Provider assigned for this domain is currently disabled',
  },
  sso_identity_provider_not_found: {
    status: 404,
    code: 'sso_provider_not_found',
    text: 'SSO Identity Provider not found',
  },
  saml_relay_state_not_found: {
    status: 404,
    code: 'saml_relay_state_not_found',
    text: 'SAML RelayState does not exist, try logging in again?',
  },
  saml_relay_state_expired: {
    status: 422,
    code: 'saml_relay_state_expired',
    text: 'SAML RelayState has expired. Try logging in again?',
  },
  single_identity: {
    status: 422,
    code: 'single_identity_not_deletable',
    text: 'User must have at least 1 identity after unlinking',
  },
  state_invalid: { status: 400, code: 'bad_oauth_state', text: 'OAuth state is invalid' },
  state_expired: { status: 400, code: 'bad_oauth_state', text: 'OAuth state has expired' },
  state_used: { status: 400, code: 'flow_state_already_used', text: 'OAuth state has already been used' },
  provider_unavailable: {
    status: 503,
    code: 'request_timeout',
    text: 'The sign-in provider does not respond, please try again in a moment.',
  },
  /** Also for an address of another account, whose owner gets a notice instead. */
  provider_email_needs_verification: {
    status: 422,
    code: 'provider_email_needs_verification',
    text: 'Unverified email with %. A confirmation email has been sent to that address',
  },
  signup_without_password: { status: 400, code: 'validation_failed', text: 'Signup requires a valid password' },
  user_already_exists: { status: 422, code: 'user_already_exists', text: 'User already registered' },
  phone_provider_disabled: { status: 400, code: 'phone_provider_disabled', text: 'Phone signups are disabled' },
  weak_password: { status: 422, code: 'weak_password', text: 'Password should be at least 6 characters.' },
  common_password: {
    status: 422,
    code: 'weak_password',
    text: 'Password is known to be weak and easy to guess, please choose a different one.',
  },
  sms_send_failed: { status: 422, code: 'sms_send_failed', text: 'Error sending sms: %' },
  bad_email: { status: 400, code: 'validation_failed', text: 'Unable to validate email address: invalid format' },

  /** Not the code `session_not_found`: the client would drop its own session. */
  no_such_session: { status: 404, code: 'not_found', text: 'There is no such session' },

  not_admin: { status: 403, code: 'not_admin', text: 'User not allowed' },
  user_id_not_uuid: { status: 404, code: 'validation_failed', text: 'user_id must be an UUID' },
  identity_id_not_uuid: { status: 404, code: 'validation_failed', text: 'identity_id must be an UUID' },
  no_such_user: { status: 404, code: 'user_not_found', text: 'User not found' },
  bad_sort: { status: 400, code: 'validation_failed', text: 'Bad Sort Parameters: bad %' },
  no_user_with_email: { status: 404, code: 'user_not_found', text: 'User with this email not found' },
  user_id_exists: { status: 422, code: 'user_already_exists', text: 'A user with this id already exists' },
  reauthentication_not_valid: {
    status: 422,
    code: 'reauthentication_not_valid',
    text: 'Nonce has expired or is invalid',
  },
  email_exists: {
    status: 422,
    code: 'email_exists',
    text: 'A user with this email address has already been registered',
  },

  /** Only sent to an administrator, or to a person who has proven that the number is theirs. */
  phone_exists: {
    status: 422,
    code: 'phone_exists',
    text: 'A user with this phone number has already been registered',
  },

  user_change_needs_second_step: {
    status: 401,
    code: 'insufficient_aal',
    text: 'AAL2 session is required to update email or password when MFA is enabled.',
  },
  factor_name_conflict: {
    status: 422,
    code: 'mfa_factor_name_conflict',
    text: 'A factor with the friendly name "%" for this user already exists',
  },
  too_many_factors: {
    status: 422,
    code: 'too_many_enrolled_mfa_factors',
    text: 'Maximum number of verified factors reached, unenroll to continue',
  },
  enroll_needs_second_step: { status: 403, code: 'insufficient_aal', text: 'AAL2 required to enroll a new factor' },
  phone_factor_exists: {
    status: 422,
    code: 'mfa_verified_factor_exists',
    text: 'A verified phone factor already exists, unenroll the existing factor to continue',
  },
  factor_id_not_uuid: { status: 404, code: 'validation_failed', text: 'factor_id must be an UUID' },
  factor_not_found: { status: 404, code: 'mfa_factor_not_found', text: 'Factor not found' },
  factor_code_missing: { status: 400, code: 'validation_failed', text: 'Code needs to be non-empty' },
  factor_challenge_not_found: {
    status: 422,
    code: 'mfa_factor_not_found',
    text: 'MFA factor with the provided challenge ID not found',
  },
  factor_challenge_expired: {
    status: 422,
    code: 'mfa_challenge_expired',
    text: 'MFA challenge % has expired, verify against another challenge or create a new challenge.',
  },
  /** Also the answer to a challenge that was used. */
  factor_ip_mismatch: {
    status: 422,
    code: 'mfa_ip_address_mismatch',
    text: 'Challenge and verify IP addresses mismatch.',
  },
  recovery_codes_not_found: {
    status: 404,
    code: 'mfa_factor_not_found',
    text: 'The user has not enrolled recovery codes',
  },
  recovery_codes_locked: {
    status: 429,
    code: 'mfa_recovery_codes_locked',
    text: 'Too many failed verification attempts, try again later',
  },
  passkey_wrong: { status: 400, code: 'webauthn_verification_failed', text: 'Credential verification failed' },
  too_many_passkeys: { status: 422, code: 'too_many_passkeys', text: 'Maximum number of passkeys reached' },
  passkey_needs_second_step: {
    status: 403,
    code: 'insufficient_aal',
    text: 'AAL2 session is required to manage passkeys when MFA is enabled',
  },
  too_many_tokens: { status: 422, code: 'too_many_tokens', text: 'Maximum number of access tokens reached' },
  no_such_token: { status: 404, code: 'not_found', text: 'There is no such access token' },
  no_such_connect_request: {
    status: 404,
    code: 'connect_request_not_found',
    text: 'This code is unknown, has expired or was used',
  },
  passkey_not_found: { status: 404, code: 'validation_failed', text: 'Passkey not found' },
  resend_needs_email: { status: 400, code: 'validation_failed', text: 'Type provided requires an email address' },
  resend_needs_phone: { status: 400, code: 'validation_failed', text: 'Type provided requires a phone number' },
  resend_without_address: { status: 400, code: 'validation_failed', text: 'Missing email address or phone number' },

  verify_without_type: { status: 400, code: 'validation_failed', text: 'Verify requires a verification type' },
  verify_bad_email: { status: 422, code: 'validation_failed', text: 'Invalid email format' },
  link_expired: { status: 403, code: 'otp_expired', text: 'Email link is invalid or has expired' },
  code_expired: { status: 403, code: 'otp_expired', text: 'Token has expired or is invalid' },

  /** Only sent to a signed-in user about their own account. */
  over_email_send_rate_limit: {
    status: 429,
    code: 'over_email_send_rate_limit',
    text: 'For security purposes, you can only request this after % seconds.',
  },
  /** Counted per number, with or without an account. */
  over_sms_send_rate_limit: {
    status: 429,
    code: 'over_sms_send_rate_limit',
    text: 'For security purposes, you can only request this after % seconds.',
  },
  sms_budget_exhausted: { status: 429, code: 'over_sms_send_rate_limit', text: 'SMS rate limit exceeded' },
  over_request_rate_limit: { status: 429, code: 'over_request_rate_limit', text: 'Request rate limit reached' },
  /** No code of the original, which has no archive. */
  over_archive_limit: { status: 429, code: 'over_archive_limit', text: 'Archive limit reached' },
  /** Every client version retries a 503; a 429 would sign the user out (docs/specification/api.md 4). */
  try_again: { status: 503, code: 'request_timeout', text: 'The server is busy, please try again in a moment.' },
  unexpected_failure: {
    status: 500,
    code: 'unexpected_failure',
    text: 'Unexpected failure, please check server logs for more information',
  },
} as const satisfies Record<string, Entry>;

export type AuthErrorName = keyof typeof CATALOGUE;

/** The `weak_password.reasons` of an error (docs/specification/api.md 3). */
const WEAKNESSES: Partial<Record<AuthErrorName, readonly ('length' | 'pwned')[]>> = {
  weak_password: ['length'],
  common_password: ['pwned'],
};

/** Every `error` in the format of RFC 6749 5.2, as docs/api/openapi.yaml lists them. Two are supabase/auth's own. */
export const OAUTH_ERROR_CODES = [
  'access_denied',
  'authorization_pending',
  'expired_token',
  'invalid nonce',
  'invalid request',
  'invalid_grant',
  'slow_down',
  'unsupported_grant_type',
] as const;

export type OAuthErrorCode = (typeof OAUTH_ERROR_CODES)[number];

/** An error in the format of RFC 6749 5.2, with status 400 in both versions of the API. */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode;

  constructor(error: OAuthErrorCode, description: string) {
    super(description);
    this.name = 'OAuthError';
    this.error = error;
  }
}

export class AuthError extends Error {
  readonly status: Entry['status'];
  readonly code: AuthErrorCode;
  /** Null except for weak passwords. */
  readonly weaknesses: readonly ('length' | 'pwned')[] | null;
  /** Set on every 429 and 503. */
  readonly retryAfterSeconds: number | null;

  /** An error of the catalogue. */
  constructor(name: AuthErrorName, detail?: string, retryAfterSeconds?: number | null);
  /** An error of one place. The code is one of supabase/auth's, unless it has none for the case. */
  constructor(status: Entry['status'], code: AuthErrorCode, text: string);
  constructor(first: AuthErrorName | Entry['status'], second = '', third: string | number | null = null) {
    const entry: Entry =
      typeof first === 'number'
        ? { status: first, code: second as AuthErrorCode, text: String(third) }
        : CATALOGUE[first];
    super(typeof first === 'number' ? entry.text : entry.text.replace('%', () => second));
    this.name = 'AuthError';
    this.status = entry.status;
    this.code = entry.code;
    this.weaknesses = (typeof first === 'string' && WEAKNESSES[first]) || null;
    this.retryAfterSeconds = typeof third === 'number' ? third : (DEFAULT_RETRY_SECONDS[entry.status] ?? null);
  }
}

/** The error of a request whose content is not valid and that no client tells apart by its code. */
export const invalidRequest = (text: string): AuthError => new AuthError(400, 'validation_failed', text);

const DEFAULT_RETRY_SECONDS: Partial<Record<Entry['status'], number>> = { 429: 60, 503: 1 };
