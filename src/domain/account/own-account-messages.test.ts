import { expect, test } from 'vitest';
import { MESSAGES } from '../messages.ts';
import { OWN_ACCOUNT_MESSAGES, refusalMessage } from './own-account-messages.ts';

test.each([
  ['invalid_credentials', OWN_ACCOUNT_MESSAGES.passwordWrong, 'password'],
  ['reauthentication_not_valid', MESSAGES.codeInvalid, 'code'],
  ['reauthentication_needed', OWN_ACCOUNT_MESSAGES.proofMissing, undefined],
  ['insufficient_aal', OWN_ACCOUNT_MESSAGES.proofMissing, undefined],
  ['over_request_rate_limit', OWN_ACCOUNT_MESSAGES.tooManyGuesses, undefined],
  ['over_archive_limit', OWN_ACCOUNT_MESSAGES.tooManyArchives, undefined],
  ['unexpected_failure', MESSAGES.unexpected, undefined],
])('%s shows: %s', (code, text, field) => {
  expect(refusalMessage(code)).toEqual({ text, ...(field !== undefined && { field }) });
});
