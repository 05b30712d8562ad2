/** Which parts of a text are web or mail addresses: one rule for the editor, the stored day, pasting and the HTML export. */

export type TextLink = {
  /** UTF-16 offsets into the text. */
  from: number;
  to: number;
  /** Always begins with `http://`, `https://` or `mailto:`, in any case: safe in an `href`. */
  href: string;
};

/** A log is written by hand or pasted from anywhere: a link may not pass on who followed it, nor vouch for its target. */
export const LINK_REL = 'noopener noreferrer nofollow';

/**
 * What ends an address: blanks, quotes, angle brackets, the sentence marks of Chinese and Japanese, and every invisible
 * character (`\p{C}`). A direction override (U+202E) would show another host than the one that opens.
 */
const END = '\\s\\p{C}<>"“”„«»`|\\\\^，。、；：！？（）【】「」『』《》';
const MAIL_LOCAL = '[a-z0-9._%+-]';
const MAIL = `${MAIL_LOCAL}{1,64}@(?:[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?\\.)+\\p{L}{2,24}(?![\\p{L}\\p{N}_@-])`;

/**
 * An address begins where no word goes on: `xhttps://` is none. In `git@host.org:path` the colon tells a place to copy from,
 * not somebody to write to. Each repetition is bounded or ends at a character that it excludes, so this takes linear time.
 */
const ADDRESS = new RegExp(
  `(?<![a-z0-9_])(?:https?:\\/\\/[^${END}]+|mailto:(?=${MAIL})[^${END}]+)` +
    `|(?<![\\p{Script=Latin}\\p{N}._%+\\-@:/])${MAIL}(?!:[^\\s])(?!\\/)`,
  'giu',
);
const HOST = /^https?:\/\/(?:[^/?#@]*@)?(?:[\p{L}\p{N}]|\[[\da-f:.]+\])/iu;
const SCHEME = /^(?:https?:\/\/|mailto:)/i;
/** Belong to the sentence around an address, not to the address. */
const SENTENCE_MARK = /[.,;:!?'’*_~…([{]/;
const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** The addresses of a text, in their order. Linear in the length of the text. */
export function findLinks(text: string): TextLink[] {
  if (!/:\/\/|@/.test(text)) return [];
  const links: TextLink[] = [];
  for (const match of text.matchAll(ADDRESS)) {
    const address = withoutSentenceEnd(match[0]);
    if (/^https?:/i.test(address) && !HOST.test(address)) continue;
    const href = SCHEME.test(address) ? address : `mailto:${address}`;
    links.push({ from: match.index, to: match.index + address.length, href });
  }
  return links;
}

/** Without the marks of the sentence at its end. A closing bracket stays only if the address opens it: `(see https://a.b/c_(d))`. */
function withoutSentenceEnd(address: string): string {
  const open: Record<string, number> = { '(': 0, '[': 0, '{': 0 };
  for (const sign of address) {
    if (sign in open) open[sign]! += 1;
    else if (sign in OPENING) open[OPENING[sign]!]! -= 1;
  }
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address[end - 1]!;
    const opening = OPENING[last];
    if (opening === undefined ? !SENTENCE_MARK.test(last) : open[opening]! >= 0) break;
    if (opening !== undefined) open[opening]! += 1;
    else if (last in open) open[last]! -= 1;
  }
  return address.slice(0, end);
}

export type LinkedText = { text: string; href: string | null };

/**
 * The consecutive texts of one block, each cut where an address begins or ends: an address may run through several of them
 * (half of it bold). Null if there is none, so that nothing has to be rebuilt.
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
      const inside = link !== undefined && link.from <= at;
      const to = Math.min(end, link === undefined ? end : inside ? link.to : link.from);
      parts.push({ text: text.slice(at - start, to - start), href: inside ? link.href : null });
      at = to;
    }
    start = end;
    return parts;
  });
}

const ADDRESS_MAX_LENGTH = 2_000;

/**
 * What keeps the address of a link whose words alone are stored: `after` follows the words, `instead` replaces them. Both are
 * null where the words are the address already, or where it is one that a log does not link (`javascript:`, a relative one).
 */
export function addressOfLink(words: string, href: string): { after: string | null; instead: string | null } {
  const shown = words.trim();
  const address = writtenAddress(href);
  // A picture, or the `¶` beside a heading, has no words that an address could follow.
  if (address === null || !/[\p{L}\p{N}]/u.test(shown)) return { after: null, instead: null };
  if (bare(shown) === bare(address)) {
    return { after: null, instead: findLinks(shown).length === 0 ? address : null };
  }
  // `https://example.com/a-long-na…`, as many programs shorten what they show.
  const cut = /^(.{8,}?)(?:…|\.\.\.)$/s.exec(shown)?.[1];
  if (cut !== undefined && bare(address).startsWith(bare(cut))) return { after: null, instead: address };
  return { after: ` (${address})`, instead: null };
}

/** As it is written in a log: one that `findLinks` finds in full, also between round brackets. */
function writtenAddress(href: string): string | null {
  let address = href.trim();
  if (!SCHEME.test(address) || address.length > ADDRESS_MAX_LENGTH) return null;
  if (/^mailto:/i.test(address)) address = address.slice('mailto:'.length).replace(/\?.*$/s, '');
  const isWhole = (text: string): boolean => {
    const [link, ...others] = findLinks(`(${text})`);
    return link?.from === 1 && link.to === text.length + 1 && others.length === 0;
  };
  if (isWhole(address)) return address;
  const encoded = address.replace(new RegExp(`[${END}()[\\]{}]`, 'gu'), (sign) => percentEncoded(sign));
  return isWhole(encoded) ? encoded : null;
}

const percentEncoded = (sign: string): string =>
  encodeURIComponent(sign.toWellFormed()).replace(/[()]/g, (bracket) => `%${bracket.charCodeAt(0).toString(16)}`);

/** What two writings of one address have in common. */
const bare = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)/, '')
    .replace(/^www\./, '')
    .replace(/\/$/, '');
