/** Which messages send the user to support, and how a mail to support begins. */
import { ANALYSIS_PROBLEMS } from '../coach/coach.ts';
import { MESSAGES } from '../messages.ts';

const CONTACT_SUPPORT: ReadonlySet<string> = new Set([
  MESSAGES.paymentTokenInvalid,
  MESSAGES.paymentFailed,
  ANALYSIS_PROBLEMS.configuration,
]);

/** Only texts of our own catalogue: the address follows them wherever they are shown. */
export const namesSupport = (text: string): boolean => CONTACT_SUPPORT.has(text);

/** `about` ends up in the subject, so that whoever answers knows what the mail is about before reading it. */
export const supportHref = (address: string, about: string): string =>
  `mailto:${address}?subject=${encodeURIComponent(`Hustle Forge: ${about}`)}`;
