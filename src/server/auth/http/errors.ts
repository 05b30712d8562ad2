/**
 * The errors of the auth API (docs/specification/api.md 3), and a catalogue of those with a name. An error that only
 * one place throws may have its status, code and text there instead.
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

type Status = 400 | 401 | 403 | 404 | 405 | 413 | 422 | 429 | 500 | 503;
type Entry = readonly [Status, AuthErrorCode, text: string];

/** `%` in a text is replaced by the error's detail. Keys are internal, codes reach the client. */
const CATALOGUE = {
  bad_json: [400, 'bad_json', 'Could not parse request body as JSON: %'],
  body_too_large: [413, 'request_entity_too_large', 'Request body too large'],
  /** supabase/auth responds in plain text, which clients cannot parse. */
  no_such_endpoint: [404, 'not_found', 'There is nothing at this address'],
  user_not_found: [403, 'user_not_found', 'User from sub claim in JWT does not exist'],
  session_not_found: [403, 'session_not_found', 'Session from session_id claim in JWT does not exist'],
  user_banned: [403, 'user_banned', 'User is banned'],
  invalid_credentials: [400, 'invalid_credentials', 'Invalid login credentials'],

  signup_disabled: [422, 'signup_disabled', 'Signups not allowed for this instance'],
  captcha_failed: [400, 'captcha_failed', 'captcha protection: request disallowed (%)'],
  sso_provider_not_found: [404, 'sso_provider_not_found', 'No such SSO provider'],
  sso_provider_disabled: [404, 'sso_provider_disabled', 'SSO Provider assigned for this domain is currently disabled'],
  sso_identity_provider_not_found: [404, 'sso_provider_not_found', 'SSO Identity Provider not found'],
  saml_relay_state_not_found: [
    404,
    'saml_relay_state_not_found',
    'SAML RelayState does not exist, try logging in again?',
  ],
  saml_relay_state_expired: [422, 'saml_relay_state_expired', 'SAML RelayState has expired. Try logging in again?'],
  single_identity: [422, 'single_identity_not_deletable', 'User must have at least 1 identity after unlinking'],
  state_invalid: [400, 'bad_oauth_state', 'OAuth state is invalid'],
  state_expired: [400, 'bad_oauth_state', 'OAuth state has expired'],
  state_used: [400, 'flow_state_already_used', 'OAuth state has already been used'],
  provider_unavailable: [
    503,
    'request_timeout',
    'The sign-in provider does not respond, please try again in a moment.',
  ],
  /** Also for an address of another account, whose owner gets a notice instead. */
  provider_email_needs_verification: [
    422,
    'provider_email_needs_verification',
    'Unverified email with %. A confirmation email has been sent to that address',
  ],
  signup_without_password: [400, 'validation_failed', 'Signup requires a valid password'],
  user_already_exists: [422, 'user_already_exists', 'User already registered'],
  phone_provider_disabled: [400, 'phone_provider_disabled', 'Phone signups are disabled'],
  weak_password: [422, 'weak_password', 'Password should be at least 6 characters.'],
  common_password: [
    422,
    'weak_password',
    'Password is known to be weak and easy to guess, please choose a different one.',
  ],
  sms_send_failed: [422, 'sms_send_failed', 'Error sending sms: %'],
  bad_email: [400, 'validation_failed', 'Unable to validate email address: invalid format'],

  /** Not the code `session_not_found`: the client would drop its own session. */
  no_such_session: [404, 'not_found', 'There is no such session'],

  not_admin: [403, 'not_admin', 'User not allowed'],
  user_id_not_uuid: [404, 'validation_failed', 'user_id must be an UUID'],
  identity_id_not_uuid: [404, 'validation_failed', 'identity_id must be an UUID'],
  no_such_user: [404, 'user_not_found', 'User not found'],
  bad_sort: [400, 'validation_failed', 'Bad Sort Parameters: bad %'],
  no_user_with_email: [404, 'user_not_found', 'User with this email not found'],
  user_id_exists: [422, 'user_already_exists', 'A user with this id already exists'],
  reauthentication_not_valid: [422, 'reauthentication_not_valid', 'Nonce has expired or is invalid'],
  email_exists: [422, 'email_exists', 'A user with this email address has already been registered'],

  /** Only sent to an administrator, or to a person who has proven that the number is theirs. */
  phone_exists: [422, 'phone_exists', 'A user with this phone number has already been registered'],

  user_change_needs_second_step: [
    401,
    'insufficient_aal',
    'AAL2 session is required to update email or password when MFA is enabled.',
  ],
  factor_name_conflict: [
    422,
    'mfa_factor_name_conflict',
    'A factor with the friendly name "%" for this user already exists',
  ],
  too_many_factors: [
    422,
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  ],
  enroll_needs_second_step: [403, 'insufficient_aal', 'AAL2 required to enroll a new factor'],
  phone_factor_exists: [
    422,
    'mfa_verified_factor_exists',
    'A verified phone factor already exists, unenroll the existing factor to continue',
  ],
  factor_id_not_uuid: [404, 'validation_failed', 'factor_id must be an UUID'],
  factor_not_found: [404, 'mfa_factor_not_found', 'Factor not found'],
  factor_code_missing: [400, 'validation_failed', 'Code needs to be non-empty'],
  factor_challenge_not_found: [422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found'],
  factor_challenge_expired: [
    422,
    'mfa_challenge_expired',
    'MFA challenge % has expired, verify against another challenge or create a new challenge.',
  ],
  /** Also the answer to a challenge that was used. */
  factor_ip_mismatch: [422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.'],
  recovery_codes_not_found: [404, 'mfa_factor_not_found', 'The user has not enrolled recovery codes'],
  recovery_codes_locked: [429, 'mfa_recovery_codes_locked', 'Too many failed verification attempts, try again later'],
  passkey_wrong: [400, 'webauthn_verification_failed', 'Credential verification failed'],
  too_many_passkeys: [422, 'too_many_passkeys', 'Maximum number of passkeys reached'],
  too_many_tokens: [422, 'too_many_tokens', 'Maximum number of access tokens reached'],
  no_such_token: [404, 'not_found', 'There is no such access token'],
  no_such_connect_request: [404, 'connect_request_not_found', 'This code is unknown, has expired or was used'],
  passkey_not_found: [404, 'validation_failed', 'Passkey not found'],

  verify_without_type: [400, 'validation_failed', 'Verify requires a verification type'],
  verify_bad_email: [422, 'validation_failed', 'Invalid email format'],
  link_expired: [403, 'otp_expired', 'Email link is invalid or has expired'],
  code_expired: [403, 'otp_expired', 'Token has expired or is invalid'],

  /** Only sent to a signed-in user about their own account. */
  over_email_send_rate_limit: [
    429,
    'over_email_send_rate_limit',
    'For security purposes, you can only request this after % seconds.',
  ],
  /** Counted per number, with or without an account, and per network address. */
  over_sms_send_rate_limit: [
    429,
    'over_sms_send_rate_limit',
    'For security purposes, you can only request this after % seconds.',
  ],
  sms_budget_exhausted: [429, 'over_sms_send_rate_limit', 'SMS rate limit exceeded'],
  over_request_rate_limit: [429, 'over_request_rate_limit', 'Request rate limit reached'],
  /** supabase/auth has no such code: it has no archive. */
  over_archive_limit: [429, 'over_archive_limit', 'Archive limit reached'],
  /**
   * Clients may retry a 503. A 429 is final for them, and would end a session that they renew
   * (docs/specification/api.md 4).
   */
  try_again: [503, 'request_timeout', 'The server is busy, please try again in a moment.'],
  unexpected_failure: [500, 'unexpected_failure', 'Unexpected failure, please check server logs for more information'],
} as const satisfies Record<string, Entry>;

export type AuthErrorName = keyof typeof CATALOGUE;

/** The `weak_password.reasons` of an error (docs/specification/accounts.md 16). */
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

/** An error in the format of RFC 6749 5.2, with status 400, whichever API version the client asks for. */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode;

  constructor(error: OAuthErrorCode, description: string) {
    super(description);
    this.name = 'OAuthError';
    this.error = error;
  }
}

export class AuthError extends Error {
  readonly status: Status;
  readonly code: AuthErrorCode;
  /** Null except for weak passwords. */
  readonly weaknesses: readonly ('length' | 'pwned')[] | null;
  /** Set on every 429 and 503. */
  readonly retryAfterSeconds: number | null;

  /** An error of the catalogue. */
  constructor(name: AuthErrorName, detail?: string, retryAfterSeconds?: number | null);
  /** An error of one place. The code is one of supabase/auth's, unless it has none for the case. */
  constructor(status: Status, code: AuthErrorCode, text: string);
  constructor(first: AuthErrorName | Status, second = '', third: string | number | null = null) {
    const [status, code, text]: Entry =
      typeof first === 'number' ? [first, second as AuthErrorCode, String(third)] : CATALOGUE[first];
    super(typeof first === 'number' ? text : text.replace('%', () => second));
    this.name = 'AuthError';
    this.status = status;
    this.code = code;
    this.weaknesses = (typeof first === 'string' && WEAKNESSES[first]) || null;
    this.retryAfterSeconds = typeof third === 'number' ? third : (DEFAULT_RETRY_SECONDS[status] ?? null);
  }
}

/** The error of a request whose content is not valid, for cases that clients need not tell apart by the code. */
export const invalidRequest = (text: string): AuthError => new AuthError(400, 'validation_failed', text);

const DEFAULT_RETRY_SECONDS: Partial<Record<Status, number>> = { 429: 60, 503: 1 };
