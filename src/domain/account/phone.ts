/** Phone numbers as people type them. */

/** E.164: a plus sign and at most 15 digits, which begin with the country code. */
const E164 = /^\+[1-9]\d{6,14}$/;

/** The no-break spaces keep the number on one line. */
export const PHONE_HINT = 'With the country code, for example +1\u00a0555\u00a0012\u00a03456';
export const PHONE_PROBLEM = 'Start with a plus sign and the country code, then the whole number.';

/** In E.164 form; null without a country code or with an impossible length. */
export function parsePhone(typed: string): string | null {
  const number = typed
    .normalize('NFKC')
    .replace(/^\s*00/, '+')
    .replaceAll(/[\s().\p{Pd}/]/gu, '');
  return E164.test(number) ? number : null;
}
