import { describe, expect, test } from 'vitest';
import {
  codeMessage,
  isSessionGone,
  isWorthRetrying,
  linkMessage,
  MESSAGES,
  providerMessage,
  recoverMessage,
  resetMessage,
  signInMessage,
} from './messages.ts';

describe('an error of the account service is shown in the words of the product', () => {
  test.each([
    [signInMessage, 'invalid_credentials', MESSAGES.invalidCredentials],
    [signInMessage, 'email_not_confirmed', MESSAGES.emailNotConfirmed],
    [signInMessage, 'over_request_rate_limit', MESSAGES.tooManyLogins],
    [recoverMessage, 'over_request_rate_limit', MESSAGES.tooManyRequests],
    [recoverMessage, 'over_email_send_rate_limit', MESSAGES.tooManyRequests],
    [resetMessage, 'session_not_found', MESSAGES.resetLinkExpired],
    [resetMessage, 'bad_jwt', MESSAGES.resetLinkExpired],
    [resetMessage, 'same_password', MESSAGES.passwordUpdateFailed],
    [resetMessage, 'weak_password', MESSAGES.passwordUpdateFailed],
  ])('%o: %s', (message, code, shown) => {
    expect(message({ code, message: 'the words of the provider', status: 400 })).toBe(shown);
  });
});

test('the words of a message decide nothing', () => {
  const error = { code: 'user_banned', message: 'Invalid login credentials', status: 403 };
  expect(signInMessage(error)).toBe('Invalid login credentials');
  expect(resetMessage({ code: 'user_banned', message: 'session', status: 403 })).toBe('session');
});

test('an unknown code is shown as the provider put it', () => {
  expect(signInMessage({ code: 'user_banned', message: 'User is banned', status: 403 })).toBe('User is banned');
});

test.each([
  { message: 'Failed to fetch', status: 0 },
  { message: 'upstream connect error', status: 503 },
  { message: '' },
])('where the service did not answer, its words are not shown: %o', (error) => {
  expect(providerMessage(error)).toBe(MESSAGES.unexpected);
});

test.each([
  ['otp_expired', MESSAGES.signInLinkInvalid],
  ['over_request_rate_limit', MESSAGES.tooManyRequests],
  ['email_exists', 'That address already belongs to another account, so nothing has changed.'],
  ['toString', MESSAGES.linkUnusable],
  ['', MESSAGES.linkUnusable],
  [undefined, MESSAGES.linkUnusable],
])('a link that brought the code %s', (code, shown) => expect(linkMessage(code)).toBe(shown));

test.each([
  [{ name: 'AuthRetryableFetchError', message: 'Failed to fetch', status: 0 }, true],
  [{ name: 'AuthRetryableFetchError', message: 'busy', status: 503 }, true],
  [{ code: 'over_request_rate_limit', message: '', status: 429 }, true],
  [{ code: 'otp_expired', message: '', status: 403 }, false],
  [{ name: 'AuthSessionMissingError', message: 'Auth session missing!', status: 400 }, false],
  [{ name: 'AuthApiError', message: 'invalid_grant', status: 400 }, false],
])('%o is worth another try: %s', (error, isWorth) => expect(isWorthRetrying(error)).toBe(isWorth));

describe('an error that the client library made up is known by its class', () => {
  const missing = { name: 'AuthSessionMissingError', message: 'Auth session missing!', status: 400, code: undefined };
  test('a missing session', () => {
    expect(providerMessage(missing)).toBe('No user is signed in');
    expect(resetMessage(missing)).toBe('Your reset link has expired. Please request a new one.');
    expect(isSessionGone(missing)).toBe(true);
  });
  test.each([
    'AuthRetryableFetchError',
    'AuthUnknownError',
    'AuthInvalidCredentialsError',
    'AuthInvalidTokenResponseError',
  ])('the words of %s are not shown', (name) =>
    expect(providerMessage({ name, message: 'Auth internals', status: 400 })).toBe(MESSAGES.unexpected),
  );
  test('an answer of the service without a code is shown as it put it', () => {
    expect(providerMessage({ name: 'AuthApiError', message: 'Nonces mismatch', status: 400 })).toBe('Nonces mismatch');
  });
});

test('a wrong code of a mail', () => {
  expect(codeMessage({ code: 'otp_expired', message: '', status: 403 })).toBe(MESSAGES.codeInvalid);
  expect(codeMessage({ code: 'over_request_rate_limit', message: '', status: 429 })).toBe(MESSAGES.tooManyRequests);
});
