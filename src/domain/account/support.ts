import { ANALYSIS_PROBLEMS } from '../coach/coach.ts';
import { MESSAGES } from '../messages.ts';

/** The messages that tell the user to contact support. */
const CONTACT_SUPPORT: ReadonlySet<string> = new Set([
  MESSAGES.paymentTokenInvalid,
  MESSAGES.paymentFailed,
  ANALYSIS_PROBLEMS.configuration,
]);

/** True for a message that is shown together with the support address. */
export const mentionsSupport = (text: string): boolean => CONTACT_SUPPORT.has(text);

/** A `mailto:` link; `topic` becomes part of the subject. */
export const supportHref = (address: string, topic: string): string =>
  `mailto:${address}?subject=${encodeURIComponent(`Hustle Forge: ${topic}`)}`;
