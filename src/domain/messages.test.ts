import { describe, expect, test } from 'vitest';
import {
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
  [{ message: 'Failed to fetch', status: 0 }, true],
  [{ message: 'busy', status: 503 }, true],
  [{ code: 'over_request_rate_limit', message: '', status: 429 }, true],
  [{ code: 'otp_expired', message: '', status: 403 }, false],
  [{ message: 'invalid_grant', status: 400 }, false],
])('%o is worth another try: %s', (error, isWorth) => expect(isWorthRetrying(error)).toBe(isWorth));
