/**
 * Validation of names, mail addresses, phone numbers and passwords. Each validator returns the message to show, or
 * null if valid.
 */
import type { ProviderError } from '../messages.ts';

export const PASSWORD_MIN_LENGTH = 6;
/** Maximum length in UTF-8 bytes, which the auth API enforces (docs/specification/limits.md 2). */
export const PASSWORD_MAX_BYTES = 72;
export const EMAIL_MAX_LENGTH = 255;
export const COMMON_PASSWORD_PROBLEM = 'Please choose a password that is harder to guess';
/** For passwords that only the server rejects: further common ones, and ones close to the owner's name or address. */
export const GUESSABLE_PASSWORD_PROBLEM =
  'This password is easy to guess: it is common, or close to your name, your address or ours. Try a few random words.';
/** The `pattern` of a required name input: `required` alone accepts spaces. */
export const NAME_PATTERN = '.*\\S.*';

/** text @ text . text, without spaces (docs/specification/messages.md 3). */
const SIMPLE_EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export const EMAIL_PROBLEM = 'Please enter a valid email address';
export const validateEmail = (email: string): string | null => (SIMPLE_EMAIL.test(email.trim()) ? null : EMAIL_PROBLEM);

/** Common passwords in lower case, besides the sequences and repetitions that `isCommonPassword` detects. */
const COMMON_PASSWORDS = new Set(
  (
    'password password1 passw0rd p@ssw0rd p@ssword passwort qwerty qwerty1 qwerty12 qwerty123 qwertyuiop qwertz azerty ' +
    'asdfgh asdfghjkl zxcvbn zxcvbnm 1q2w3e 1q2w3e4r 1q2w3e4r5t q1w2e3r4 1qaz2wsx qazwsx 123qwe 1234qwer abc123 abcd1234 ' +
    'a1b2c3 1234567890 0987654321 112233 123321 letmein welcome welcome1 iloveyou sunshine princess football baseball ' +
    'dragon monkey shadow master superman batman trustno1 admin123 changeme whatever hustleforge'
  ).split(' '),
);

/** Matches a password that repeats one to three characters: `aaaaaa`, `ababab`, `123123`. */
const REPEATED_UNIT = /^(.{1,3})\1+$/;

/** True for consecutive characters, up or down: `123456`, `654321`, `abcdefg`. */
function isSequence(password: string): boolean {
  const step = password.charCodeAt(1) - password.charCodeAt(0);
  if (Math.abs(step) !== 1) return false;
  for (let index = 2; index < password.length; index += 1) {
    if (password.charCodeAt(index) - password.charCodeAt(index - 1) !== step) return false;
  }
  return true;
}

/** True for passwords that attackers guess first; they are rejected at sign-up and at a change. */
export function isCommonPassword(password: string): boolean {
  const plain = password.toLowerCase();
  return COMMON_PASSWORDS.has(plain) || REPEATED_UNIT.test(plain) || isSequence(plain);
}

/** @param otherwise the message for all errors that are not about the strength of the password */
export const passwordMessage = (error: ProviderError, otherwise: (error: ProviderError) => string): string =>
  error.code === 'weak_password' ? GUESSABLE_PASSWORD_PROBLEM : otherwise(error);

export const TERMS_PROBLEM = 'You must accept the Terms of Service & Privacy Policy to create an account';
type SignUpForm = { password: string; acceptsTerms: boolean };
export function validateSignUp(form: SignUpForm): string | null {
  if (!form.acceptsTerms) return TERMS_PROBLEM;
  if (form.password.length < PASSWORD_MIN_LENGTH) return 'Password must be at least 6 characters long';
  return isCommonPassword(form.password) ? COMMON_PASSWORD_PROBLEM : null;
}

export function validateNewPassword(password: string, confirmation: string): string | null {
  if (password !== confirmation) return 'Passwords do not match';
  if (password.length < PASSWORD_MIN_LENGTH) return 'Password must be at least 6 characters';
  return isCommonPassword(password) ? COMMON_PASSWORD_PROBLEM : null;
}

type ProfileForm = { name: string; email: string; password: string; confirmation: string };
type ProfileNow = { name: string; email: string };
export function validateProfile(form: ProfileForm, now: ProfileNow): string | null {
  if (form.password !== '' || form.confirmation !== '') {
    if (form.password !== form.confirmation) return 'Passwords do not match';
    if (form.password.length < PASSWORD_MIN_LENGTH) return 'Password must be at least 6 characters long';
    return isCommonPassword(form.password) ? COMMON_PASSWORD_PROBLEM : null;
  }
  const isUnchanged = form.name.trim() === now.name && form.email.trim() === now.email;
  return isUnchanged ? 'No changes to save' : null;
}

/** Parses a six-digit code, tolerating spaces, dashes and full-width digits. Null for anything else. */
export function parseCode(typed: string): string | null {
  const digits = typed.normalize('NFKC').replaceAll(/[\s\p{Pd}]/gu, '');
  return /^\d{6}$/.test(digits) ? digits : null;
}

/** White space, and characters that show nothing: marks of direction, zero-width spaces, a byte order mark. */
const INVISIBLE_ENDS = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;
const LABELS = /^[\p{L}\p{N}\p{M}.-]+$/u;
/** Threat: `INVISIBLE_ENDS` takes quadratic time on many spaces (ReDoS). No address is this long. */
const MAX_LENGTH = 512;

/** Browsers and Node have `URL`; the types of this folder do not. */
declare const URL: new (url: string) => { hostname: string };

/**
 * Trims white space and invisible characters, and converts an international domain to ASCII (Punycode), as some
 * browsers do. Returns an invalid address unconverted, for the caller to refuse.
 */
export function normalizeAddress(typed: string): string {
  if (typed.length > MAX_LENGTH) return typed;
  const address = typed.replace(INVISIBLE_ENDS, '');
  const [local, domain, ...rest] = address.split('@');
  if (domain === undefined || rest.length > 0 || !LABELS.test(domain) || imitatesAscii(domain)) return address;
  try {
    return /[^\0-\x7f]/.test(domain) ? `${local}@${new URL(`http://${domain}`).hostname}` : address;
  } catch {
    return address;
  }
}

const HOST_NAME = /^[\w-]+(?:\.[\w-]+)+$/;

/** The domain by which single sign-on finds a company: typed alone, or part of a typed address. Null without one. */
export function parseCompanyDomain(typed: string): string | null {
  const name = normalizeAddress(typed);
  const domain = normalizeAddress(name.includes('@') ? name : `any@${name}`).replace(/^.*@/s, '');
  return HOST_NAME.test(domain) ? domain.toLowerCase() : null;
}

/**
 * Threat: look-alike addresses. Conversion to Punycode maps the Kelvin sign and full-width letters to ASCII and drops
 * ignorable characters, so an address that a provider verified would become another person's.
 */
const imitatesAscii = (domain: string): boolean =>
  /\p{Default_Ignorable_Code_Point}/u.test(domain) ||
  Array.from(domain).some((letter) => letter > '\x7f' && /[\0-\x7f]/.test(letter.normalize('NFKC').toLowerCase()));

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
