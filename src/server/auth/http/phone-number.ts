/** Parses telephone numbers in E.164 form. */
import type { SmsSettings } from '#server/config/auth-settings.ts';
import type { Body } from './body.ts';
import { invalidRequest } from './errors.ts';

/** ITU-T E.164: a country code and a subscriber number, 15 digits at most. Together they have at least 7 digits. */
const DIGITS = /^[1-9][0-9]{6,14}$/;

/** As the number is stored and compared: without the plus sign and spaces. */
export const formatPhone = (input: string): string => input.replace(/^\+/, '').replaceAll(' ', '');

/** Returns the number as its digits. Throws `validation_failed`. */
export function parsePhone(input: string): string {
  const digits = formatPhone(input);
  if (!DIGITS.test(digits)) throw invalidRequest('Invalid phone number format (E.164 required)');
  return digits;
}

/** Country codes are prefix-free, so a number that begins with a listed code is in that country. */
export const isInAllowedCountry = (phone: string, { countries }: Pick<SmsSettings, 'countries'>): boolean =>
  countries.length === 0 || countries.some((code) => `+${phone}`.startsWith(code));

/**
 * Throws `unsupported_channel` (`validation_failed` for clients) for any channel but `sms`. A missing channel means
 * `sms`. supabase/auth also has the channel `whatsapp`.
 */
export function checkChannel(body: Body): void {
  const channel = body.text('channel');
  if (channel !== '' && channel !== 'sms') throw invalidRequest("Invalid channel, supported values are 'sms'");
}
