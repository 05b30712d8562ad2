/** The form of a mail address that browser and server agree on, whatever a paste or a keyboard added. */

/** White space, and characters that show nothing: marks of direction, zero-width spaces, a byte order mark. */
const INVISIBLE_ENDS = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;
const LABELS = /^[\p{L}\p{N}\p{M}.-]+$/u;
/** Threat: trimming a text of many spaces takes time in the square of its length. No address is as long. */
const MAX_LENGTH = 512;

/** Browsers and Node have it; the types of this folder do not. */
declare const URL: new (url: string) => { hostname: string };

/**
 * Drops what is invisible at both ends and writes an international domain in ASCII (punycode), as some browsers do
 * themselves. Anything else stays as it is, for the caller to refuse.
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

/** The domain of a work address, or of a company alone, as single sign-on looks it up; null without one. */
export function parseCompanyDomain(typed: string): string | null {
  const name = normalizeAddress(typed);
  const domain = normalizeAddress(name.includes('@') ? name : `any@${name}`).replace(/^.*@/s, '');
  return HOST_NAME.test(domain) ? domain.toLowerCase() : null;
}

/**
 * Threat: look-alike addresses. The Kelvin sign and letters of double width become ASCII in punycode, and ignorable
 * marks vanish, so an address that a provider verified would be another person's here.
 */
const imitatesAscii = (domain: string): boolean =>
  /\p{Default_Ignorable_Code_Point}/u.test(domain) ||
  Array.from(domain).some((letter) => letter > '\x7f' && /[\0-\x7f]/.test(letter.normalize('NFKC').toLowerCase()));
