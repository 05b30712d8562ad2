/** Messages about deleting the account and its archive. Not in `domain/messages.ts`, to keep the first load small. */
import { MESSAGES } from '../messages.ts';

export const OWN_ACCOUNT_MESSAGES = {
  deletionUndone: 'Welcome back. Your account will not be deleted.',
  passwordWrong: 'This password is not right. Please try again.',
  tooManyGuesses: 'Too many attempts. Please wait a few minutes before trying again.',
  tooManyArchives: 'You have downloaded your logs three times this month. Please try again later.',
  proofMissing: 'Please confirm that it is you, then try again.',
  notReached: 'The server could not be reached. Nothing has changed. Please try again.',
} as const;

/** `code`: the error code of /auth/v1 or of the function `archive`. `field`: the input that the text is about. */
export function refusalMessage(code: string): { text: string; field?: 'password' | 'code' } {
  switch (code) {
    case 'invalid_credentials':
      return { text: OWN_ACCOUNT_MESSAGES.passwordWrong, field: 'password' };
    case 'reauthentication_not_valid':
      return { text: MESSAGES.codeInvalid, field: 'code' };
    case 'reauthentication_needed':
    case 'insufficient_aal':
      return { text: OWN_ACCOUNT_MESSAGES.proofMissing };
    case 'over_request_rate_limit':
      return { text: OWN_ACCOUNT_MESSAGES.tooManyGuesses };
    case 'over_archive_limit':
      return { text: OWN_ACCOUNT_MESSAGES.tooManyArchives };
    default:
      return { text: MESSAGES.unexpected };
  }
}
