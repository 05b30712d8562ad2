import { describe, expect, test } from 'vitest';
import {
  isRetryable,
  isSessionGone,
  isWrongCode,
  linkMessage,
  MESSAGES,
  providerMessage,
  recoveryMessage,
  resetMessage,
  signInMessage,
} from './messages.ts';

describe('known error codes of the auth service have messages of the product', () => {
  test.each([
    [signInMessage, 'invalid_credentials', MESSAGES.invalidCredentials],
    [signInMessage, 'email_not_confirmed', MESSAGES.emailNotConfirmed],
    [signInMessage, 'over_request_rate_limit', MESSAGES.tooManyLogins],
    [recoveryMessage, 'over_request_rate_limit', MESSAGES.tooManyRequests],
    [recoveryMessage, 'over_email_send_rate_limit', MESSAGES.tooManyRequests],
    [resetMessage, 'session_not_found', MESSAGES.resetLinkExpired],
    [resetMessage, 'bad_jwt', MESSAGES.resetLinkExpired],
    [providerMessage, 'session_not_found', MESSAGES.notSignedIn],
    [providerMessage, 'refresh_token_not_found', MESSAGES.notSignedIn],
    [providerMessage, 'refresh_token_already_used', MESSAGES.notSignedIn],
    [resetMessage, 'same_password', MESSAGES.passwordUpdateFailed],
  ])('%o: %s', (message, code, shown) => {
    expect(message({ code, message: 'provider text', status: 400 })).toBe(shown);
  });
});

test('error messages are not matched by their text', () => {
  const error = { code: 'user_banned', message: 'Invalid login credentials', status: 403 };
  expect(signInMessage(error)).toBe('Invalid login credentials');
  expect(resetMessage({ code: 'user_banned', message: 'session', status: 403 })).toBe('session');
});

test('an unknown code shows the message of the provider', () => {
  expect(signInMessage({ code: 'user_banned', message: 'User is banned', status: 403 })).toBe('User is banned');
});

test.each([
  { message: 'Failed to fetch', status: 0 },
  { message: 'upstream connect error', status: 502 },
  { message: '' },
])('hides the message of an error that did not come from the service: %o', (error) => {
  expect(providerMessage(error)).toBe(MESSAGES.unexpected);
});

test('a response with status 503 shows that the server is busy, not the text of a proxy', () => {
  const error = { name: 'AuthRetryableFetchError', message: 'upstream overloaded', status: 503 };
  expect(signInMessage(error)).toBe('The server is busy. Please try again in a moment.');
});

test.each([
  ['otp_expired', MESSAGES.signInLinkInvalid],
  ['over_request_rate_limit', MESSAGES.tooManyRequests],
  ['email_exists', 'This address belongs to another account. Nothing has changed.'],
  ['toString', MESSAGES.linkUnusable],
  ['', MESSAGES.linkUnusable],
  [undefined, MESSAGES.linkUnusable],
])('a link with the code %s has its message', (code, shown) => expect(linkMessage(code)).toBe(shown));

test.each([
  [{ name: 'AuthRetryableFetchError', message: 'Failed to fetch', status: 0 }, true],
  [{ name: 'AuthRetryableFetchError', message: 'busy', status: 503 }, true],
  [{ code: 'over_request_rate_limit', message: '', status: 429 }, true],
  [{ code: 'otp_expired', message: '', status: 403 }, false],
  [{ name: 'AuthSessionMissingError', message: 'Auth session missing!', status: 400 }, false],
  [{ name: 'AuthApiError', message: 'invalid_grant', status: 400 }, false],
])('isRetryable of %o is %s', (error, expected) => expect(isRetryable(error)).toBe(expected));

describe('errors raised by the client library are matched by class', () => {
  const missing = { name: 'AuthSessionMissingError', message: 'Auth session missing!', status: 400, code: undefined };
  test('a missing session has its messages', () => {
    expect(providerMessage(missing)).toBe('No user is signed in');
    expect(resetMessage(missing)).toBe('Your reset link has expired. Please request a new one.');
    expect(isSessionGone(missing)).toBe(true);
  });
  test.each([
    'AuthRetryableFetchError',
    'AuthUnknownError',
    'AuthInvalidCredentialsError',
    'AuthInvalidTokenResponseError',
  ])('hides the message of %s', (name) =>
    expect(providerMessage({ name, message: 'Auth internals', status: 400 })).toBe(MESSAGES.unexpected),
  );
  test('shows the message of a service error without a code', () => {
    expect(providerMessage({ name: 'AuthApiError', message: 'Nonces mismatch', status: 400 })).toBe('Nonces mismatch');
  });
});

test('tells a wrong code from other errors', () => {
  expect(isWrongCode({ code: 'otp_expired', message: '', status: 403 })).toBe(true);
  expect(isWrongCode({ code: 'mfa_verification_failed', message: '', status: 422 })).toBe(true);
  expect(isWrongCode({ code: 'over_request_rate_limit', message: '', status: 429 })).toBe(false);
  expect(isWrongCode({ message: 'Failed to fetch' })).toBe(false);
});
