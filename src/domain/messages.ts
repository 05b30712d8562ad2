/**
 * The catalogue of error messages (docs/specification/messages.md 1).
 *
 * Errors of the auth service are matched by code, or by class if the client library raised them: message texts change
 * with every release of a service. An unknown error of the service is shown with its own message. Any other unknown
 * error is shown as `MESSAGES.unexpected`, or as `MESSAGES.busy` if its status is 503.
 */
export type ProviderError = {
  code?: string | undefined;
  message: string;
  status?: number | undefined;
  /** The error class of the client library; `code` is set only if the service sent one. */
  name?: string | undefined;
};

export const MESSAGES = {
  unexpected: 'An unexpected error occurred. Please try again.',
  busy: 'The server is busy. Please try again in a moment.',
  invalidCredentials: 'The email or password you entered is incorrect. Please check your credentials and try again.',
  emailNotConfirmed: 'Please check your email and click the confirmation link before signing in.',
  tooManyLogins: 'Too many login attempts. Please wait a few minutes before trying again.',
  tooManyRequests: 'Too many requests. Please try again later.',
  resetMailSent: 'Password reset email sent! Check your inbox.',
  resetLinkInvalid: 'Invalid or expired reset link',
  resetLinkExpired: 'Your reset link has expired. Please request a new one.',
  passwordUpdateFailed: 'Password update failed. Please try again.',
  passwordUpdated: 'Password updated successfully!',
  profileUpdated: 'Profile updated successfully',
  notSignedIn: 'No user is signed in',
  unknown: 'An unknown error occurred.',
  paymentTokenInvalid: 'Invalid payment token. Please try again or contact support.',
  paymentFailed: 'Payment processing failed. Please contact support if the issue persists.',
  paymentCancelled: 'Payment was cancelled. You can try upgrading again anytime.',
  paymentDone: "You're a Closer now. Every log is open.",
  exportIsPremium: 'Export is a premium feature. Upgrade to Closer to take your logs with you.',
  paymentPending: "PayPal is still reviewing your payment. We'll email you the result.",
  paymentsOff: 'Payments are not set up on this server.',
  emptyPeriod: 'No entries found for the selected period',
  serverUnreachable: 'Your other devices are still signed in because the server could not be reached.',
  codeIncomplete: 'Enter the six-digit code from the email.',
  codeInvalid: 'This code is wrong or has expired. Use the code from the latest email, or request a new one.',
  linkUnusable: 'This link is not valid. Request a new one.',
  signInLinkInvalid: 'This link has expired or was already used.',
  firstCodeAccepted: 'Confirmed. Now enter the code that we sent to your other address.',
  firstLinkAccepted:
    'Confirmed. Now open the link that we sent to your other address, or enter its code in your profile.',
} as const;

const RATE_LIMITS = new Set(['over_request_rate_limit', 'over_email_send_rate_limit', 'over_sms_send_rate_limit']);

/** True for transient errors: the service made no decision about the request. */
export const isRetryable = (error: ProviderError): boolean =>
  error.name === 'AuthRetryableFetchError' || RATE_LIMITS.has(error.code ?? '');

/** Codes that say that the session, its token or its user is not valid any more. */
const SESSION_GONE = new Set([
  'session_not_found',
  'session_expired',
  'refresh_token_not_found',
  'refresh_token_already_used',
  'bad_jwt',
  'no_authorization',
  'user_not_found',
]);

/** The client has no session, or the service has ended it. */
export const isSessionGone = (error: ProviderError): boolean =>
  error.code === undefined ? error.name === 'AuthSessionMissingError' : SESSION_GONE.has(error.code);

/** True if the service wrote the message; messages of the client library about itself or the network are not shown. */
const isServiceMessage = ({ code, name = 'AuthApiError', status = 0 }: ProviderError): boolean =>
  code !== undefined || (name === 'AuthApiError' && status >= 400 && status < 500);

/** The message of the service. A message of ours if the session has ended, or if the service wrote none for users. */
export function providerMessage(error: ProviderError): string {
  if (isSessionGone(error)) return MESSAGES.notSignedIn;
  if (isServiceMessage(error) && error.message !== '') return error.message;
  return error.status === 503 ? MESSAGES.busy : MESSAGES.unexpected;
}

export function signInMessage(error: ProviderError): string {
  if (error.code === 'invalid_credentials') return MESSAGES.invalidCredentials;
  if (error.code === 'email_not_confirmed') return MESSAGES.emailNotConfirmed;
  if (error.code && RATE_LIMITS.has(error.code)) return MESSAGES.tooManyLogins;
  return providerMessage(error);
}

const WRONG_CODE = new Set([
  'otp_expired',
  'reauthentication_not_valid',
  'mfa_verification_failed',
  'mfa_challenge_expired',
  // The device changed its network between the request for a code and the code.
  'mfa_ip_address_mismatch',
]);

/** The code that the user typed is wrong or has expired. */
export const isWrongCode = ({ code }: ProviderError): boolean => WRONG_CODE.has(code ?? '');

export function recoveryMessage(error: ProviderError): string {
  return error.code && RATE_LIMITS.has(error.code) ? MESSAGES.tooManyRequests : providerMessage(error);
}

/** A weak password has its own message: `passwordMessage` in account/account.ts. */
export function resetMessage(error: ProviderError): string {
  if (isSessionGone(error)) return MESSAGES.resetLinkExpired;
  if (error.code === 'same_password') return MESSAGES.passwordUpdateFailed;
  return providerMessage(error);
}

const TRY_LATER = 'Something went wrong on our side. Open the link again in a few minutes.';
const LINK_MESSAGES: Readonly<Record<string, string>> = {
  otp_expired: MESSAGES.signInLinkInvalid,
  flow_state_expired: MESSAGES.signInLinkInvalid,
  access_denied: 'Access was denied. Nothing has changed.',
  user_banned: 'This account is suspended.',
  email_exists: 'This address belongs to another account. Nothing has changed.',
  over_request_rate_limit: MESSAGES.tooManyRequests,
  over_email_send_rate_limit: MESSAGES.tooManyRequests,
  unexpected_failure: TRY_LATER,
  request_timeout: TRY_LATER,
  server_error: TRY_LATER,
  temporarily_unavailable: TRY_LATER,
};

/** The message for an error code of a link's URL or of a response. Anyone can write a URL, so its text is not shown. */
export const linkMessage = (code: string | undefined): string =>
  (Object.hasOwn(LINK_MESSAGES, code ?? '') && LINK_MESSAGES[code ?? '']) || MESSAGES.linkUnusable;

export const PROFILE_MESSAGES = {
  refreshed: 'Profile refreshed successfully!',
  refreshFailed: 'Failed to refresh profile. Please try again.',
} as const;

export const LOCKED_DAY_MESSAGE = "Your plan doesn't include this day.";
