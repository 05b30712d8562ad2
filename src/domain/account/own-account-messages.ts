/**
 * Messages about sessions and the deletion of the account. Not in `domain/messages.ts`, to keep the first loads small.
 */
import { MESSAGES } from '../messages.ts';

export const OWN_ACCOUNT_MESSAGES = {
  deletionUndone: 'Welcome back. Your account will not be deleted.',
  passwordWrong: 'This password is not right. Please try again.',
  tooManyGuesses: 'Too many attempts. Please wait a few minutes before trying again.',
  tooManyArchives: 'You have downloaded your logs three times this month. Please try again later.',
  proofMissing: 'Please confirm that it is you, then try again.',
  notReached: 'The server could not be reached. Nothing has changed. Please try again.',
} as const;

/** Tells apart the rate limits, which have the same code: only that of the archive asks for a longer wait than this. */
const ARCHIVE_WAIT_SECONDS = 24 * 3_600;

/** A refusal of /auth/v1 or of the function `archive`: its code, and the seconds of `Retry-After`. */
export type Refusal = { code: string; retryAfterSeconds: number };

/** `field` names the input that the text is about: the password or the code. */
export function refusalMessage({ code, retryAfterSeconds }: Refusal): { text: string; field?: 'password' | 'code' } {
  switch (code) {
    case 'invalid_credentials':
      return { text: OWN_ACCOUNT_MESSAGES.passwordWrong, field: 'password' };
    case 'reauthentication_not_valid':
      return { text: MESSAGES.codeInvalid, field: 'code' };
    case 'reauthentication_needed':
    case 'insufficient_aal':
      return { text: OWN_ACCOUNT_MESSAGES.proofMissing };
    case 'over_request_rate_limit':
      return {
        text:
          retryAfterSeconds > ARCHIVE_WAIT_SECONDS
            ? OWN_ACCOUNT_MESSAGES.tooManyArchives
            : OWN_ACCOUNT_MESSAGES.tooManyGuesses,
      };
    default:
      return { text: MESSAGES.unexpected };
  }
}
