import { expect, test } from 'vitest';
import { MESSAGES } from '../messages.ts';
import { OWN_ACCOUNT_MESSAGES, refusalMessage } from './own-account-messages.ts';

test.each([
  ['invalid_credentials', 0, OWN_ACCOUNT_MESSAGES.passwordWrong, 'password'],
  ['reauthentication_not_valid', 0, MESSAGES.codeInvalid, 'code'],
  ['reauthentication_needed', 0, OWN_ACCOUNT_MESSAGES.proofMissing, undefined],
  ['insufficient_aal', 0, OWN_ACCOUNT_MESSAGES.proofMissing, undefined],
  ['over_request_rate_limit', 900, OWN_ACCOUNT_MESSAGES.tooManyGuesses, undefined],
  ['over_request_rate_limit', 29 * 86_400, OWN_ACCOUNT_MESSAGES.tooManyArchives, undefined],
  ['unexpected_failure', 0, MESSAGES.unexpected, undefined],
])('%s with Retry-After %d shows: %s', (code, retryAfterSeconds, text, field) => {
  expect(refusalMessage({ code, retryAfterSeconds })).toEqual({ text, ...(field !== undefined && { field }) });
});
