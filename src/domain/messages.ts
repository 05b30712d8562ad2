/**
 * The product's error catalogue (docs/specification/messages.md 1): what a person reads when something goes wrong.
 *
 * A provider's error is recognised by its code, or by its class where the client made it up itself. Words in messages change with every release of a service, and
 * a text that is matched today is shown raw tomorrow. What the catalogue does not name is shown as the provider put it.
 */
export type ProviderError = {
  code?: string | undefined;
  message: string;
  status?: number | undefined;
  /** The class of an error of the client library, which has a code only where the service sent one. */
  name?: string | undefined;
};

export const MESSAGES = {
  unexpected: 'An unexpected error occurred. Please try again.',
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
  profileRefreshed: 'Profile refreshed successfully!',
  profileRefreshFailed: 'Failed to refresh profile. Please try again.',
  notSignedIn: 'No user is signed in',
  unknown: 'An unknown error occurred.',
  paymentTokenInvalid: 'Invalid payment token. Please try again or contact support.',
  paymentFailed: 'Payment processing failed. Please contact support if the issue persists.',
  paymentCancelled: 'Payment was cancelled. You can try upgrading again anytime.',
  paymentDone: "You're a Closer now. Every log is open.",
  exportIsPremium: 'Export is a premium feature. Upgrade to Closer to take your logs with you.',
  importIsPremium: 'Import is a premium feature. Upgrade to Closer to bring your logs back.',
  paymentPending: 'PayPal is still checking your payment. You will get an e-mail.',
  paymentsOff: 'Payments are not set up on this server.',
  emptyPeriod: 'No entries found for the selected period',
  serverUnreachable: 'The server cannot be reached, so your other devices stay signed in.',
  codeIncomplete: 'Enter the six digits from the mail.',
  codeInvalid: 'This code is wrong or has expired. Use the code of the newest mail, or ask for a new one.',
  linkUnusable: 'This link cannot be used. Ask for a new one.',
  signInLinkInvalid: 'This link has expired or was already used.',
  firstCodeAccepted: 'Confirmed. Now type the code that we sent to your other address.',
  firstLinkAccepted: 'Confirmed. Now open the link that we sent to your other address.',
} as const;

const RATE_LIMITS = new Set(['over_request_rate_limit', 'over_email_send_rate_limit']);

/** The same request may be answered otherwise soon: nothing was decided about what it carried. */
export const isWorthRetrying = (error: ProviderError): boolean =>
  error.name === 'AuthRetryableFetchError' || RATE_LIMITS.has(error.code ?? '');

/** Codes of a session that is of no more use. */
const SESSION_GONE = new Set(['session_not_found', 'session_expired', 'bad_jwt', 'no_authorization', 'user_not_found']);

/** The client has no session, or the service no longer knows it. */
export const isSessionGone = (error: ProviderError): boolean =>
  error.code === undefined ? error.name === 'AuthSessionMissingError' : SESSION_GONE.has(error.code);

/** Words of the service are worth showing; those of the client library, about itself or the network, are not. */
const cameFromService = ({ code, name = 'AuthApiError', status = 0 }: ProviderError): boolean =>
  code !== undefined || (name === 'AuthApiError' && status >= 400 && status < 500);

/** The provider's words, or ours where there are none. */
export function providerMessage(error: ProviderError): string {
  if (isSessionGone(error)) return MESSAGES.notSignedIn;
  return cameFromService(error) && error.message !== '' ? error.message : MESSAGES.unexpected;
}

export function signInMessage(error: ProviderError): string {
  if (error.code === 'invalid_credentials') return MESSAGES.invalidCredentials;
  if (error.code === 'email_not_confirmed') return MESSAGES.emailNotConfirmed;
  if (error.code && RATE_LIMITS.has(error.code)) return MESSAGES.tooManyLogins;
  return providerMessage(error);
}

/** What to say of a code that was typed from a mail. */
export function codeMessage(error: ProviderError): string {
  return error.code === 'otp_expired' ? MESSAGES.codeInvalid : recoverMessage(error);
}

export function recoverMessage(error: ProviderError): string {
  return error.code && RATE_LIMITS.has(error.code) ? MESSAGES.tooManyRequests : providerMessage(error);
}

const PASSWORD_REFUSED = new Set(['weak_password', 'same_password']);

export function resetMessage(error: ProviderError): string {
  if (isSessionGone(error)) return MESSAGES.resetLinkExpired;
  if (error.code && PASSWORD_REFUSED.has(error.code)) return MESSAGES.passwordUpdateFailed;
  return providerMessage(error);
}

const TRY_LATER = 'Something went wrong on our side. Open the link again in a few minutes.';
const LINK_MESSAGES: Readonly<Record<string, string>> = {
  otp_expired: MESSAGES.signInLinkInvalid,
  flow_state_expired: MESSAGES.signInLinkInvalid,
  access_denied: 'Access was not allowed, so nothing has changed.',
  user_banned: 'This account is suspended.',
  email_exists: 'That address already belongs to another account, so nothing has changed.',
  over_request_rate_limit: MESSAGES.tooManyRequests,
  over_email_send_rate_limit: MESSAGES.tooManyRequests,
  unexpected_failure: TRY_LATER,
  request_timeout: TRY_LATER,
  server_error: TRY_LATER,
  temporarily_unavailable: TRY_LATER,
};

/** Why a link did not work, by the code that it brought or was answered with; never by words in an address. */
export const linkMessage = (code: string | undefined): string =>
  (Object.hasOwn(LINK_MESSAGES, code ?? '') && LINK_MESSAGES[code ?? '']) || MESSAGES.linkUnusable;
