/** The catalogue of the auth wire's errors: status, code and message (docs/specification/wire.md 3). */

type Entry = { status: 400 | 401 | 403 | 404 | 405 | 413 | 422 | 429 | 500 | 503; code: string; text: string };

/** `%` in a text is replaced by the error's detail. Keys are internal, codes are on the wire. */
const CATALOGUE = {
  bad_json: { status: 400, code: 'bad_json', text: 'Could not parse request body as JSON: %' },
  body_too_large: { status: 413, code: 'request_entity_too_large', text: 'Request body too large' },
  unstorable_text: {
    status: 400,
    code: 'validation_failed',
    text: 'Text must be valid Unicode without null characters',
  },
  /** supabase/auth responds in plain text, which clients cannot parse. */
  no_such_endpoint: { status: 404, code: 'not_found', text: 'There is nothing at this address' },
  method_not_allowed: {
    status: 405,
    code: 'method_not_allowed',
    text: 'This address is not called with this method',
  },
  body_too_many_values: { status: 400, code: 'validation_failed', text: 'The request body holds too many values' },
  form_too_many_fields: { status: 400, code: 'validation_failed', text: 'The form holds more than 20 fields' },
  body_too_deep: { status: 400, code: 'validation_failed', text: 'The request body is nested too deeply' },

  no_authorization: { status: 401, code: 'no_authorization', text: 'This endpoint requires a valid Bearer token' },
  bad_jwt: { status: 403, code: 'bad_jwt', text: 'invalid JWT: unable to parse or verify signature, %' },
  missing_sub: { status: 403, code: 'bad_jwt', text: 'invalid claim: missing sub claim' },
  sub_not_uuid: { status: 400, code: 'bad_jwt', text: 'invalid claim: sub claim must be a UUID' },
  user_not_found: { status: 403, code: 'user_not_found', text: 'User from sub claim in JWT does not exist' },
  session_not_found: {
    status: 403,
    code: 'session_not_found',
    text: 'Session from session_id claim in JWT does not exist',
  },
  user_banned: { status: 403, code: 'user_banned', text: 'User is banned' },

  unsupported_grant_type: { status: 400, code: 'invalid_credentials', text: 'unsupported_grant_type' },
  invalid_credentials: { status: 400, code: 'invalid_credentials', text: 'Invalid login credentials' },
  sign_in_banned: { status: 400, code: 'user_banned', text: 'User is banned' },
  email_not_confirmed: { status: 400, code: 'email_not_confirmed', text: 'Email not confirmed' },
  phone_not_confirmed: { status: 400, code: 'phone_not_confirmed', text: 'Phone not confirmed' },
  login_without_address: { status: 400, code: 'validation_failed', text: 'missing email or phone' },
  login_with_both: {
    status: 400,
    code: 'validation_failed',
    text: 'Only an email address or phone number should be provided on login.',
  },

  refresh_token_malformed: { status: 400, code: 'validation_failed', text: 'Refresh token is not valid' },
  refresh_token_not_found: {
    status: 400,
    code: 'refresh_token_not_found',
    text: 'Invalid Refresh Token: Refresh Token Not Found',
  },
  refresh_token_already_used: {
    status: 400,
    code: 'refresh_token_already_used',
    text: 'Invalid Refresh Token: Already Used',
  },
  refresh_banned: { status: 400, code: 'user_banned', text: 'Invalid Refresh Token: User Banned' },

  pkce_without_code: {
    status: 400,
    code: 'validation_failed',
    text: 'invalid request: both auth code and code verifier should be non-empty',
  },
  flow_not_found: { status: 404, code: 'flow_state_not_found', text: 'invalid flow state, no valid flow state found' },
  flow_expired: { status: 422, code: 'flow_state_expired', text: 'invalid flow state, flow state has expired' },
  bad_code_verifier: {
    status: 400,
    code: 'bad_code_verifier',
    text: 'code challenge does not match previously saved code verifier',
  },
  challenge_incomplete: {
    status: 400,
    code: 'validation_failed',
    text: 'PKCE flow requires code_challenge_method and code_challenge',
  },
  challenge_length: {
    status: 400,
    code: 'validation_failed',
    text: 'code challenge has to be between 43 and 128 characters',
  },
  challenge_characters: {
    status: 400,
    code: 'validation_failed',
    text: 'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
  },
  challenge_method: { status: 400, code: 'validation_failed', text: 'Invalid code challenge method' },

  signup_disabled: { status: 422, code: 'signup_disabled', text: 'Signups not allowed for this instance' },
  captcha_failed: { status: 400, code: 'captcha_failed', text: 'captcha protection: request disallowed (%)' },
  /** supabase/auth responds with 500; clients may retry after a 503. */
  captcha_unavailable: { status: 503, code: 'captcha_failed', text: 'captcha verification process failed' },

  saml_disabled: { status: 404, code: 'saml_provider_disabled', text: 'SAML 2.0 is disabled' },
  sso_without_provider: {
    status: 400,
    code: 'validation_failed',
    text: 'A provider_id or domain needs to be provided',
  },
  sso_with_both: { status: 400, code: 'validation_failed', text: 'Only one of provider_id or domain supported' },
  sso_provider_not_found: { status: 404, code: 'sso_provider_not_found', text: 'No such SSO provider' },
  sso_domain_not_found: {
    status: 404,
    code: 'sso_provider_not_found',
    text: 'No SSO provider assigned for this domain',
  },
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
  sso_type_unsupported: {
    status: 400,
    code: 'validation_failed',
    text: "Only 'saml' supported for SSO provider type",
  },
  sso_metadata_missing: { status: 400, code: 'validation_failed', text: 'metadata_xml must be set' },
  sso_metadata_url: {
    status: 400,
    code: 'validation_failed',
    text: 'metadata_url is not supported: send its content as metadata_xml',
  },
  /** The detail is the rest of the sentence. */
  saml_metadata_invalid: { status: 400, code: 'validation_failed', text: 'SAML Metadata %' },
  sso_mapping_invalid: { status: 400, code: 'validation_failed', text: 'attribute_mapping is not valid: %' },
  sso_domain_invalid: { status: 400, code: 'validation_failed', text: 'domains must be a list of host names' },
  saml_idp_already_exists: {
    status: 422,
    code: 'saml_idp_already_exists',
    text: 'SAML Identity Provider with this EntityID (%) already exists',
  },
  saml_entity_id_mismatch: {
    status: 400,
    code: 'saml_entity_id_mismatch',
    text: 'SAML Metadata can be updated only if the EntityID matches for the provider; expected %',
  },
  /** The detail is the rest of the sentence. */
  sso_domain_already_exists: { status: 400, code: 'sso_domain_already_exists', text: 'SSO Domain %' },
  saml_relay_state_invalid: {
    status: 400,
    code: 'validation_failed',
    text: 'SAML RelayState is not a valid UUID or URL',
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
  saml_response_missing: { status: 400, code: 'validation_failed', text: 'SAMLResponse is missing' },
  saml_response_encoding: {
    status: 400,
    code: 'validation_failed',
    text: 'SAMLResponse is not a valid Base64 string',
  },
  /** Only the log has the reason. */
  saml_assertion_invalid: { status: 400, code: 'validation_failed', text: 'SAML Assertion is not valid' },
  saml_assertion_no_user_id: {
    status: 400,
    code: 'saml_assertion_no_user_id',
    text: 'SAML Assertion did not contain a persistent Subject Identifier attribute or Subject NameID uniquely identifying this user',
  },
  saml_assertion_no_email: {
    status: 400,
    code: 'saml_assertion_no_email',
    text: 'SAML Assertion does not contain an email address',
  },

  web3_disabled: { status: 422, code: 'web3_provider_disabled', text: 'Web3 provider is disabled' },
  web3_chain_disabled: { status: 422, code: 'web3_provider_disabled', text: '% Web3 provider is disabled' },
  web3_unsupported_chain: { status: 400, code: 'web3_unsupported_chain', text: 'Unsupported chain' },
  wallet_message_too_short: { status: 400, code: 'validation_failed', text: 'message is too short' },
  wallet_message_too_long: { status: 400, code: 'validation_failed', text: 'message must not exceed 20KB' },
  /** The detail is the problem that the message's parser found, with the prefix `siwe:` or `siws:`. */
  bad_wallet_message: { status: 400, code: 'validation_failed', text: '%' },
  ethereum_signature_length: {
    status: 400,
    code: 'validation_failed',
    text: 'signature must be 65 bytes long, encoded as a 130 character-long hexadecimal string',
  },
  solana_signature_length: {
    status: 400,
    code: 'validation_failed',
    text: 'signature must be 64 bytes encoded as base64 with or without padding',
  },
  solana_signature_encoding: {
    status: 400,
    code: 'validation_failed',
    text: 'signature does not contain valid base64 characters',
  },

  provider_not_enabled: {
    status: 400,
    code: 'validation_failed',
    text: 'Unsupported provider: provider is not enabled',
  },
  provider_not_found: {
    status: 400,
    code: 'validation_failed',
    text: 'Unsupported provider: Provider % could not be found',
  },
  provider_disabled: { status: 400, code: 'provider_disabled', text: 'Provider (issuer "%") is not enabled' },
  oidc_provider_not_allowed: {
    status: 400,
    code: 'validation_failed',
    text: 'Custom OIDC provider "%" not allowed',
  },
  manual_linking_disabled: { status: 404, code: 'manual_linking_disabled', text: 'Manual linking is disabled' },
  identity_needs_reauthentication: {
    status: 400,
    code: 'reauthentication_needed',
    text: 'Identity update requires reauthentication',
  },
  identity_needs_aal2: {
    status: 403,
    code: 'insufficient_aal',
    text: 'AAL2 session is required to update identities when MFA is enabled.',
  },
  identity_id_not_uuid: { status: 404, code: 'validation_failed', text: 'identity_id must be an UUID' },
  identity_not_found: { status: 422, code: 'identity_not_found', text: "Identity doesn't exist" },
  single_identity: {
    status: 422,
    code: 'single_identity_not_deletable',
    text: 'User must have at least 1 identity after unlinking',
  },
  identity_address_conflict: {
    status: 422,
    code: 'email_conflict_identity_not_deletable',
    text: 'Unable to unlink identity due to email conflict',
  },
  state_missing: { status: 400, code: 'bad_oauth_callback', text: 'OAuth state parameter missing' },
  code_missing: {
    status: 400,
    code: 'bad_oauth_callback',
    text: 'OAuth callback with missing authorization code',
  },
  state_invalid: { status: 400, code: 'bad_oauth_state', text: 'OAuth state is invalid' },
  state_not_found: { status: 400, code: 'bad_oauth_state', text: 'OAuth state not found or expired' },
  state_expired: { status: 400, code: 'bad_oauth_state', text: 'OAuth state has expired' },
  state_used: { status: 400, code: 'flow_state_already_used', text: 'OAuth state has already been used' },
  provider_exchange_failed: { status: 500, code: 'unexpected_failure', text: 'Unable to exchange external code' },
  provider_unavailable: {
    status: 503,
    code: 'request_timeout',
    text: 'The sign-in provider does not respond, please try again in a moment.',
  },
  provider_email_missing: {
    status: 500,
    code: 'unexpected_failure',
    text: 'Error getting user email from external provider',
  },
  /** Also for an address of another account, whose owner gets a notice instead. */
  provider_email_needs_verification: {
    status: 422,
    code: 'provider_email_needs_verification',
    text: 'Unverified email with %. A confirmation email has been sent to that address',
  },
  identity_already_linked: { status: 422, code: 'identity_already_exists', text: 'Identity is already linked' },
  identity_linked_to_other: {
    status: 422,
    code: 'identity_already_exists',
    text: 'Identity is already linked to another user',
  },
  signup_without_password: { status: 400, code: 'validation_failed', text: 'Signup requires a valid password' },
  signup_with_both: {
    status: 400,
    code: 'validation_failed',
    text: 'Only an email address or phone number should be provided on signup.',
  },
  user_already_exists: { status: 422, code: 'user_already_exists', text: 'User already registered' },
  phone_provider_disabled: { status: 400, code: 'phone_provider_disabled', text: 'Phone signups are disabled' },
  unsupported_phone_provider: { status: 400, code: 'phone_provider_disabled', text: 'Unsupported phone provider' },
  phone_logins_disabled: { status: 422, code: 'phone_provider_disabled', text: 'Phone logins are disabled' },
  anonymous_provider_disabled: {
    status: 422,
    code: 'anonymous_provider_disabled',
    text: 'Anonymous sign-ins are disabled',
  },
  weak_password: { status: 422, code: 'weak_password', text: 'Password should be at least 6 characters.' },
  common_password: {
    status: 422,
    code: 'weak_password',
    text: 'Password is known to be weak and easy to guess, please choose a different one.',
  },
  password_too_long: {
    status: 400,
    code: 'validation_failed',
    text: 'Password cannot be longer than 72 characters',
  },
  otp_without_address: { status: 400, code: 'validation_failed', text: 'One of email or phone must be set' },
  otp_with_both: {
    status: 400,
    code: 'validation_failed',
    text: 'Only an email address or phone number should be provided',
  },
  channel_without_phone: {
    status: 400,
    code: 'validation_failed',
    text: 'Channel should only be specified with Phone OTP',
  },
  magic_link_disabled: { status: 422, code: 'email_provider_disabled', text: 'Login with magic link is disabled' },
  bad_phone: { status: 400, code: 'validation_failed', text: 'Invalid phone number format (E.164 required)' },
  unsupported_channel: { status: 400, code: 'validation_failed', text: "Invalid channel, supported values are 'sms'" },
  /** Reveals nothing about an account: the number alone decides. */
  sms_country_blocked: {
    status: 422,
    code: 'sms_send_failed',
    text: 'Error sending sms: texts to this country are not possible',
  },
  sms_send_failed: { status: 422, code: 'sms_send_failed', text: 'Error sending sms: %' },
  bad_email: { status: 400, code: 'validation_failed', text: 'Unable to validate email address: invalid format' },
  email_too_long: { status: 400, code: 'validation_failed', text: 'An email address is too long' },
  metadata_too_large: {
    status: 400,
    code: 'validation_failed',
    text: 'User metadata must not exceed 8192 bytes of JSON',
  },
  sign_up_metadata_too_large: {
    status: 400,
    code: 'validation_failed',
    text: 'User metadata of a sign-up must not exceed 1024 bytes of JSON. Send more with PUT /user after the sign-in',
  },

  unsupported_logout_scope: { status: 400, code: 'validation_failed', text: 'Unsupported logout scope "%"' },

  /** Not the code `session_not_found`: the client would drop its own session. */
  no_such_session: { status: 404, code: 'not_found', text: 'There is no such session' },
  proof_needed: { status: 400, code: 'reauthentication_needed', text: 'This requires reauthentication' },
  session_needs_second_step: {
    status: 403,
    code: 'insufficient_aal',
    text: 'AAL2 session is required to manage sessions when MFA is enabled',
  },
  proof_needs_second_step: {
    status: 403,
    code: 'insufficient_aal',
    text: 'AAL2 session is required when MFA is enabled',
  },

  not_admin: { status: 403, code: 'not_admin', text: 'User not allowed' },
  user_id_not_uuid: { status: 404, code: 'validation_failed', text: 'user_id must be an UUID' },
  no_such_user: { status: 404, code: 'user_not_found', text: 'User not found' },
  bad_page: { status: 400, code: 'validation_failed', text: 'Bad Pagination Parameters: % must be a positive number' },
  bad_sort: { status: 400, code: 'validation_failed', text: 'Bad Sort Parameters: bad %' },
  bad_audit_query: { status: 400, code: 'validation_failed', text: 'Invalid query scope: %' },
  user_without_address: {
    status: 400,
    code: 'validation_failed',
    text: 'Cannot create a user without either an email or phone',
  },
  password_and_hash: {
    status: 400,
    code: 'validation_failed',
    text: 'Only a password or a password hash should be provided',
  },
  bad_password_hash: {
    status: 400,
    code: 'validation_failed',
    text: 'The password hash must be argon2id in the PHC format, of at most 64 MiB',
  },
  bad_ban_duration: { status: 400, code: 'validation_failed', text: 'invalid format for ban duration: %' },
  bad_role: { status: 400, code: 'validation_failed', text: 'The role of a user cannot be an administrator’s' },
  new_id_not_uuid: { status: 400, code: 'validation_failed', text: 'ID must conform to the uuid v4 format' },
  new_id_nil: { status: 400, code: 'validation_failed', text: 'ID cannot be a nil uuid' },
  bad_link_type: {
    status: 400,
    code: 'validation_failed',
    text: 'Invalid email action link type requested: %',
  },
  no_user_with_email: { status: 404, code: 'user_not_found', text: 'User with this email not found' },
  address_confirmed_already: {
    status: 422,
    code: 'validation_failed',
    text: 'This address has confirmed the change already',
  },
  user_id_exists: { status: 422, code: 'user_already_exists', text: 'A user with this id already exists' },
  anonymous_password: {
    status: 422,
    code: 'validation_failed',
    text: 'Updating password of an anonymous user without an email or phone is not allowed',
  },
  user_sso_managed: {
    status: 422,
    code: 'user_sso_managed',
    text: 'Updating email, phone, password of a SSO account only possible via SSO',
  },
  wrong_audience: {
    status: 400,
    code: 'validation_failed',
    text: "Token audience doesn't match request audience",
  },
  same_password: {
    status: 422,
    code: 'same_password',
    text: 'New password should be different from the old password.',
  },
  password_needs_reauthentication: {
    status: 400,
    code: 'reauthentication_needed',
    text: 'Password update requires reauthentication',
  },
  email_needs_reauthentication: {
    status: 400,
    code: 'reauthentication_needed',
    text: 'Email update requires reauthentication',
  },
  reauthentication_not_valid: {
    status: 422,
    code: 'reauthentication_not_valid',
    text: 'Nonce has expired or is invalid',
  },
  reauthentication_without_address: {
    status: 400,
    code: 'validation_failed',
    text: 'Reauthentication requires the user to have an email or a phone number',
  },
  phone_needs_reauthentication: {
    status: 400,
    code: 'reauthentication_needed',
    text: 'Phone update requires reauthentication',
  },
  reauthentication_unconfirmed_phone: {
    status: 422,
    code: 'phone_not_confirmed',
    text: 'Please verify your phone first.',
  },
  reauthentication_unconfirmed: {
    status: 422,
    code: 'email_not_confirmed',
    text: 'Please verify your email first.',
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
  magic_link_without_email: { status: 422, code: 'validation_failed', text: 'Password recovery requires an email' },

  sign_in_method_needs_reauthentication: {
    status: 400,
    code: 'reauthentication_needed',
    text: 'Changing how the account is signed in to requires reauthentication',
  },
  user_change_needs_second_step: {
    status: 401,
    code: 'insufficient_aal',
    text: 'AAL2 session is required to update email or password when MFA is enabled.',
  },

  anonymous_not_allowed: {
    status: 403,
    code: 'no_authorization',
    text: 'Anonymous user not allowed to perform these actions',
  },
  friendly_name_too_long: {
    status: 400,
    code: 'validation_failed',
    text: 'friendly_name must be 120 characters or less',
  },
  factor_bad_type: {
    status: 400,
    code: 'validation_failed',
    text: 'factor_type needs to be totp, phone, or webauthn',
  },
  issuer_too_long: { status: 400, code: 'validation_failed', text: 'issuer must be 64 characters or less' },
  phone_factor_without_phone: {
    status: 400,
    code: 'validation_failed',
    text: 'Phone number required to enroll Phone factor',
  },
  phone_enroll_disabled: {
    status: 422,
    code: 'mfa_phone_enroll_not_enabled',
    text: 'MFA enroll is disabled for Phone',
  },
  phone_verify_disabled: {
    status: 422,
    code: 'mfa_phone_verify_not_enabled',
    text: 'MFA verification is disabled for Phone',
  },
  webauthn_enroll_disabled: {
    status: 422,
    code: 'mfa_webauthn_enroll_not_enabled',
    text: 'MFA enroll is disabled for WebAuthn',
  },
  webauthn_verify_disabled: {
    status: 422,
    code: 'mfa_webauthn_verify_not_enabled',
    text: 'MFA verification is disabled for WebAuthn',
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
  unenroll_needs_second_step: {
    status: 422,
    code: 'insufficient_aal',
    text: 'AAL2 required to unenroll verified factor',
  },
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
  totp_wrong: { status: 422, code: 'mfa_verification_failed', text: 'Invalid TOTP code entered' },
  phone_code_wrong: { status: 422, code: 'mfa_verification_failed', text: 'Invalid MFA Phone code entered' },
  webauthn_missing: { status: 400, code: 'validation_failed', text: 'WebAuthn config required' },
  webauthn_bad_type: { status: 400, code: 'validation_failed', text: 'WebAuthn type must be create or request' },
  webauthn_response_missing: { status: 400, code: 'validation_failed', text: 'credential_response required' },
  webauthn_wrong: { status: 422, code: 'mfa_verification_failed', text: 'WebAuthn verification failed' },

  recovery_codes_need_second_step: {
    status: 403,
    code: 'insufficient_aal',
    text: 'AAL2 required to manage recovery codes',
  },
  recovery_codes_alone: {
    status: 422,
    code: 'mfa_recovery_codes_sole_factor',
    text: 'At least one other verified factor is required to generate recovery codes',
  },
  recovery_codes_exist: {
    status: 422,
    code: 'mfa_verified_factor_exists',
    text: 'Recovery codes are already enrolled for this user, use regenerate to rotate them',
  },
  recovery_codes_not_found: {
    status: 404,
    code: 'mfa_factor_not_found',
    text: 'The user has not enrolled recovery codes',
  },
  recovery_code_wrong: { status: 422, code: 'mfa_verification_failed', text: 'Invalid recovery code entered' },
  recovery_codes_locked: {
    status: 429,
    code: 'mfa_recovery_codes_locked',
    text: 'Too many failed verification attempts, try again later',
  },

  passkey_disabled: { status: 404, code: 'passkey_disabled', text: 'Passkeys are disabled' },
  passkey_without_challenge: { status: 400, code: 'validation_failed', text: 'challenge_id is required' },
  passkey_challenge_not_uuid: {
    status: 400,
    code: 'validation_failed',
    text: 'challenge_id must be a valid UUID',
  },
  passkey_without_credential: { status: 400, code: 'validation_failed', text: 'credential is required' },
  passkey_challenge_not_found: {
    status: 400,
    code: 'webauthn_challenge_not_found',
    text: 'Challenge not found or already used',
  },
  passkey_challenge_expired: { status: 400, code: 'webauthn_challenge_expired', text: 'Challenge has expired' },
  passkey_wrong: { status: 400, code: 'webauthn_verification_failed', text: 'Credential verification failed' },
  passkey_exists: {
    status: 422,
    code: 'webauthn_credential_exists',
    text: 'This credential is already registered',
  },
  too_many_passkeys: { status: 422, code: 'too_many_passkeys', text: 'Maximum number of passkeys reached' },
  passkey_needs_second_step: {
    status: 403,
    code: 'insufficient_aal',
    text: 'AAL2 session is required to manage passkeys when MFA is enabled',
  },
  passkey_of_sso_user: { status: 422, code: 'validation_failed', text: 'SSO users cannot register passkeys' },
  passkey_not_found: { status: 404, code: 'validation_failed', text: 'Passkey not found' },
  friendly_name_missing: { status: 400, code: 'validation_failed', text: 'friendly_name is required' },
  passkey_unconfirmed: { status: 403, code: 'email_not_confirmed', text: 'Email not confirmed' },

  recovery_without_email: { status: 400, code: 'validation_failed', text: 'Password recovery requires an email' },
  resend_without_type: {
    status: 400,
    code: 'validation_failed',
    text: 'Missing one of these types: signup, email_change, sms, phone_change',
  },
  resend_needs_email: { status: 400, code: 'validation_failed', text: 'Type provided requires an email address' },
  resend_needs_phone: { status: 400, code: 'validation_failed', text: 'Type provided requires a phone number' },
  resend_without_address: { status: 400, code: 'validation_failed', text: 'Missing email address or phone number' },

  verify_without_type: { status: 400, code: 'validation_failed', text: 'Verify requires a verification type' },
  verify_link_without_token: {
    status: 400,
    code: 'validation_failed',
    text: 'Verify requires a token or a token hash',
  },
  verify_not_one_token: {
    status: 400,
    code: 'validation_failed',
    text: 'Verify requires either a token or a token hash',
  },
  verify_hash_alone: {
    status: 400,
    code: 'validation_failed',
    text: 'Only the token_hash and type should be provided',
  },
  verify_with_both: {
    status: 400,
    code: 'validation_failed',
    text: 'Only an email address or phone number should be provided on verify',
  },
  verify_bad_email_type: { status: 400, code: 'validation_failed', text: 'Invalid email verification type' },
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
  /** Every client version retries a 503; a 429 would sign the user out (docs/specification/wire.md 4). */
  try_again: { status: 503, code: 'request_timeout', text: 'The server is busy, please try again in a moment.' },
  unexpected_failure: {
    status: 500,
    code: 'unexpected_failure',
    text: 'Unexpected failure, please check server logs for more information',
  },
} as const satisfies Record<string, Entry>;

export type AuthErrorName = keyof typeof CATALOGUE;

/** The `weak_password.reasons` of an error (docs/specification/wire.md 3). */
const WEAKNESSES: Partial<Record<AuthErrorName, readonly ('length' | 'pwned')[]>> = {
  weak_password: ['length'],
  common_password: ['pwned'],
};

/** An error in the format of RFC 6749 5.2, with status 400 in both versions of the wire. */
export class OAuthError extends Error {
  /** Such as `invalid_grant`. */
  readonly error: string;

  constructor(error: string, description: string) {
    super(description);
    this.name = 'OAuthError';
    this.error = error;
  }
}

export class AuthError extends Error {
  readonly status: Entry['status'];
  readonly code: string;
  /** Null except for weak passwords. */
  readonly weaknesses: readonly ('length' | 'pwned')[] | null;
  /** Set on every 429 and 503. */
  readonly retryAfterSeconds: number | null;

  constructor(name: AuthErrorName, detail = '', retryAfterSeconds: number | null = null) {
    const entry: Entry = CATALOGUE[name];
    super(entry.text.replace('%', () => detail));
    this.name = 'AuthError';
    this.status = entry.status;
    this.code = entry.code;
    this.weaknesses = WEAKNESSES[name] ?? null;
    this.retryAfterSeconds = retryAfterSeconds ?? DEFAULT_RETRY_SECONDS[entry.status] ?? null;
  }
}

const DEFAULT_RETRY_SECONDS: Partial<Record<Entry['status'], number>> = { 429: 60, 503: 1 };
