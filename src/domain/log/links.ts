/** Link detection for the editor, the stored log, pasting and the HTML export. */

export type TextLink = {
  /** UTF-16 offsets into the text. */
  from: number;
  to: number;
  /** Always starts with `http://`, `https://` or `mailto:` (case-insensitive): safe in an `href`. */
  href: string;
};

/**
 * A log holds pasted text from any source: its links send no referrer, give no opener and don't vouch for the target.
 */
export const LINK_REL = 'noopener noreferrer nofollow';

/**
 * Characters that terminate an address: blanks, quotes, angle brackets, Chinese and Japanese punctuation, and every
 * invisible character (`\p{C}`). Threat: a direction override (U+202E) displays a different host than the one that
 * opens.
 */
const TERMINATORS = '\\s\\p{C}<>"“”„«»`|\\\\^，。、；：！？（）【】「」『』《》';
const MAIL_LOCAL = '[a-z0-9._%+-]';
const MAIL = `${MAIL_LOCAL}{1,64}@(?:[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?\\.)+\\p{L}{2,24}(?![\\p{L}\\p{N}_@-])`;

/**
 * An address starts at a word boundary: `xhttps://` is not one. `git@host.org:path` is an scp path, not a mail address.
 * Linear time: each repetition is bounded or ends at a character that it excludes.
 */
const ADDRESS = new RegExp(
  `(?<![a-z0-9_])(?:https?:\\/\\/[^${TERMINATORS}]+|mailto:(?=${MAIL})[^${TERMINATORS}]+)` +
    `|(?<![\\p{Script=Latin}\\p{N}._%+\\-@:/])${MAIL}(?!:[^\\s])(?!\\/)`,
  'giu',
);
const HOST = /^https?:\/\/(?:[^/?#@]*@)?(?:[\p{L}\p{N}]|\[[\da-f:.]+\])/iu;
const SCHEME = /^(?:https?:\/\/|mailto:)/i;
/** Trailing characters that belong to the sentence around an address. */
const TRAILING_PUNCTUATION = /[.,;:!?'’*_~…([{]/;
const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** In order of appearance. Linear in the length of the text. */
export function findLinks(text: string): TextLink[] {
  if (!/:\/\/|@/.test(text)) return [];
  const links: TextLink[] = [];
  for (const match of text.matchAll(ADDRESS)) {
    const address = trimTrailingPunctuation(match[0]);
    if (/^https?:/i.test(address) && !HOST.test(address)) continue;
    const href = SCHEME.test(address) ? address : `mailto:${address}`;
    links.push({ from: match.index, to: match.index + address.length, href });
  }
  return links;
}

/** Keeps a closing bracket only if the address contains its opening one: `(see https://a.b/c_(d))`. */
function trimTrailingPunctuation(address: string): string {
  const open: Record<string, number> = { '(': 0, '[': 0, '{': 0 };
  for (const character of address) {
    if (character in open) open[character]! += 1;
    else if (character in OPENING) open[OPENING[character]!]! -= 1;
  }
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address[end - 1]!;
    const opening = OPENING[last];
    if (opening === undefined ? !TRAILING_PUNCTUATION.test(last) : open[opening]! >= 0) break;
    if (opening !== undefined) open[opening]! += 1;
    else if (last in open) open[last]! -= 1;
  }
  return address.slice(0, end);
}

export type LinkedText = { text: string; href: string | null };

/**
 * Splits the consecutive texts of one block at link boundaries; a link may span several texts (half of it bold). Null
 * if there are no links, so that the caller can keep its nodes.
 */
export function linkTexts(texts: readonly string[]): LinkedText[][] | null {
  const links = findLinks(texts.join(''));
  if (links.length === 0) return null;
  let start = 0;
  let next = 0;
  return texts.map((text) => {
    const end = start + text.length;
    const parts: LinkedText[] = [];
    for (let at = start; at < end;) {
      while (next < links.length && links[next]!.to <= at) next += 1;
      const link = links[next];
      const isInside = link !== undefined && link.from <= at;
      const to = Math.min(end, link === undefined ? end : isInside ? link.to : link.from);
      parts.push({ text: text.slice(at - start, to - start), href: isInside ? link.href : null });
      at = to;
    }
    start = end;
    return parts;
  });
}

const ADDRESS_MAX_LENGTH = 2_000;

/**
 * Logs store no link elements, so the address of a pasted link is kept as text: `suffix` follows the link's label,
 * `replacement` replaces a label that is only a short form of the address. Both are null if the label already is an
 * address that `findLinks` detects, if it has no letter or digit, or if logs don't link the address (`javascript:`,
 * relative).
 */
export function linkAsText(label: string, href: string): { suffix: string | null; replacement: string | null } {
  const shown = label.trim();
  const address = plainTextAddress(href);
  // An image, or the `¶` beside a heading, has no label that an address could follow.
  if (address === null || !/[\p{L}\p{N}]/u.test(shown)) return { suffix: null, replacement: null };
  if (comparableForm(shown) === comparableForm(address)) {
    if (findLinks(shown).length > 0) return { suffix: null, replacement: null };
    // A label with another case, or with a `www.` that the address lacks, stays.
    if (address.includes(shown)) return { suffix: null, replacement: address };
  }
  // Many programs shorten the label: `https://example.com/a-long-na…`.
  const cut = /^(.{8,}?)(?:…|\.\.\.)$/s.exec(shown)?.[1];
  if (cut !== undefined && address.includes(cut) && comparableForm(address).startsWith(comparableForm(cut)))
    return { suffix: null, replacement: address };
  return { suffix: ` (${address})`, replacement: null };
}

/**
 * An address that `findLinks` detects completely, also between parentheses; percent-encoded if necessary, else null.
 */
function plainTextAddress(href: string): string | null {
  let address = href.trim();
  if (!SCHEME.test(address) || address.length > ADDRESS_MAX_LENGTH) return null;
  if (/^mailto:/i.test(address)) address = address.slice('mailto:'.length).replace(/\?.*$/s, '');
  const isDetected = (text: string): boolean => {
    const [link, ...others] = findLinks(`(${text})`);
    return link?.from === 1 && link.to === text.length + 1 && others.length === 0;
  };
  if (isDetected(address)) return address;
  const encoded = address.replace(new RegExp(`[${TERMINATORS}()[\\]{}]`, 'gu'), (character) =>
    percentEncoded(character),
  );
  return isDetected(encoded) ? encoded : null;
}

const percentEncoded = (character: string): string =>
  encodeURIComponent(character.toWellFormed()).replace(/[()]/g, (bracket) => `%${bracket.charCodeAt(0).toString(16)}`);

/** The address in lower case, without scheme, `www.` and trailing slash. */
const comparableForm = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)/, '')
    .replace(/^www\./, '')
    .replace(/\/$/, '');
