/** Explains why a sign-in or a link at a provider was not finished (docs/specification/wire.md 27). */

const TOO_LATE = 'This took too long, or the page was opened twice. Please try again.';
const ELSEWHERE = 'This sign-in was started in another browser or has expired. Please start again here.';

const MESSAGES: Readonly<Record<string, (label: string, isLink: boolean) => string>> = {
  access_denied: (label) => `You did not finish signing in with ${label}. Nothing has changed.`,
  identity_already_exists: (label, isLink) =>
    isLink
      ? `This account at ${label} already opens another account here.`
      : `This account at ${label} is linked to another account.`,
  signup_disabled: (label) => `No account here belongs to this sign-in with ${label}, and new accounts are closed.`,
  user_banned: () => 'This account is suspended.',
  provider_email_needs_verification: (label) =>
    `${label} has not confirmed your email address. We sent you an email: open its link, then sign in again.`,
  bad_oauth_state: () => TOO_LATE,
  bad_oauth_callback: () => TOO_LATE,
  flow_state_already_used: () => TOO_LATE,
  flow_state_expired: () => TOO_LATE,
  flow_state_not_found: () => TOO_LATE,
  bad_code_verifier: () => ELSEWHERE,
  // The codes of auth-js if no PKCE verifier is stored in this browser.
  pkce_code_verifier_not_found: () => ELSEWHERE,
  AuthPKCECodeVerifierMissingError: () => ELSEWHERE,
  temporarily_unavailable: (label) => `We could not reach ${label}. Please try again in a few minutes.`,
  AuthRetryableFetchError: () => 'We could not reach the server. Please try again in a few minutes.',
};

/** `code` comes from the URL or from the auth client. Threat: anyone can write a URL, so its text is never shown. */
export function providerReturnMessage(code: string | undefined, label: string, isLink: boolean): string {
  const message = Object.hasOwn(MESSAGES, code ?? '') ? MESSAGES[code ?? ''] : undefined;
  return message?.(label, isLink) ?? `Something went wrong between us and ${label}. Please try again.`;
}
