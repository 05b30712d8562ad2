/**
 * The allowlist for the HTML of a log (docs/specification/days-and-saving.md 4), shared by the editor's schema, the
 * server's sanitizer and the tests; the date header of a stored log; and a fast check that lets the server skip the
 * sanitizer.
 */
import { dayLabel, type Day } from '../day/day.ts';

const INLINE = ['strong', 'em', 'u', 's', 'code'] as const;
const TEXT_BLOCKS = ['p', 'h1', 'h2', 'h3', 'pre'] as const;
const LISTS = ['ul', 'ol'] as const;
const FLOWS = ['blockquote', 'li'] as const;

/** Every element allowed in a log. The only attribute is `start` of `ol`, an integer. */
export const ENTRY_TAGS = [...INLINE, ...TEXT_BLOCKS, ...LISTS, ...FLOWS, 'br'] as const;

/** Deeper elements are unwrapped. 48 levels of lists fit; browsers stop nesting at 512 elements. */
export const ENTRY_MAX_DEPTH = 100;

/** The value of `start`: at most seven digits, so that it fits into any parser's integer. */
export const LIST_START = /^-?\d{1,7}$/;

export const EMPTY_LOG_HTML = '<ol><li><p></p></li></ol>';

export const DATE_HEADER_CLASS = 'date-header';
const DATE_HEADER = new RegExp(`^<h2 class="${DATE_HEADER_CLASS}">[^<]*</h2>`);

/** The stored form of a log: the day's label as a heading, then the text. */
export function withDateHeader(date: Day, body: string): string {
  return `<h2 class="${DATE_HEADER_CLASS}">${dayLabel(date)}</h2>${body}`;
}

/** The displayed form of a log. Content that another client stored without a header is returned unchanged. */
export function withoutDateHeader(content: string): string {
  return content.replace(DATE_HEADER, '');
}

type Kind = 'inline' | 'text' | 'list' | 'flow';
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...INLINE.map((tag) => [tag, 'inline'] as const),
  ...TEXT_BLOCKS.map((tag) => [tag, 'text'] as const),
  ...LISTS.map((tag) => [tag, 'list'] as const),
  ...FLOWS.map((tag) => [tag, 'flow'] as const),
]);

/**
 * Lists contain items; text blocks and inline elements contain inline elements; the rest contains anything but items.
 */
function isAllowedIn(tag: string, kind: Kind, parent: Kind): boolean {
  if (parent === 'list') return tag === 'li';
  return tag !== 'li' && (parent === 'flow' || kind === 'inline');
}

const START_ATTRIBUTE = /^ol start="-?\d{1,7}"$/;
const DATE_HEADER_TAG = `h2 class="${DATE_HEADER_CLASS}"`;
const ENTITY = /&(?:amp|lt|gt|quot|#39|nbsp);/y;

/**
 * Control characters (C0, DEL and C1) that no log stores: terminals and spreadsheets copy them, and other programs
 * refuse a text with them. Tab, LF and CR stay.
 */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\v\f\x0E-\x1F\x7F-\x9F]/;

export const withoutControls = (text: string): string => text.replace(new RegExp(CONTROL, 'g'), '');

/** From `from` on: no bare `>`, and every `&` starts one of the six character references that `entryText` decodes. */
function isCleanText(text: string, from: number): boolean {
  if (text.indexOf('>', from) !== -1) return false;
  for (let at = text.indexOf('&', from); at !== -1; at = text.indexOf('&', at + 1)) {
    ENTITY.lastIndex = at;
    if (!ENTITY.test(text)) return false;
  }
  return true;
}

/**
 * True only if the sanitizer would return the log unchanged: literal tags of the allowlist, properly nested, where HTML
 * allows them. The server can then store the editor's output without parsing it.
 *
 * False negatives are safe: unknown syntax (a capital letter, a space in a tag, a comment) goes through the sanitizer.
 * Linear in the length; a 2 KB log takes about 20 µs.
 */
export function isCleanLog(html: string): boolean {
  if (CONTROL.test(html) || !html.isWellFormed()) return false;
  const pieces = html.split('<');
  if (!isCleanText(pieces[0]!, 0)) return false;
  const open: string[] = [];
  const kinds: Kind[] = ['flow'];
  for (let index = 1; index < pieces.length; index += 1) {
    const piece = pieces[index]!;
    const end = piece.indexOf('>');
    if (end === -1 || !isCleanText(piece, end + 1)) return false;
    const tag = piece.slice(0, end);
    if (tag === 'br') {
      if (kinds.at(-1) === 'list') return false;
    } else if (tag.charCodeAt(0) === 47 /* a slash */) {
      if (open.pop() !== tag.slice(1)) return false;
      kinds.pop();
    } else {
      let name = tag;
      let kind = KINDS.get(tag);
      if (kind === undefined) {
        const isHeader = index === 1 && pieces[0] === '' && tag === DATE_HEADER_TAG && pieces[2]?.startsWith('/h2>');
        name = isHeader ? 'h2' : START_ATTRIBUTE.test(tag) ? 'ol' : '';
        kind = KINDS.get(name);
      }
      if (kind === undefined || !isAllowedIn(name, kind, kinds.at(-1)!)) return false;
      if (open.push(name) > ENTRY_MAX_DEPTH) return false;
      kinds.push(kind);
    }
  }
  return open.length === 0;
}

/**
 * Escapes text for the HTML of a log, so that `isCleanLog` accepts it. Removes NUL and replaces lone surrogates. A
 * no-break space becomes `&nbsp;`, as the editor writes it, so that search finds it as a space.
 */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('\0', '')
    .toWellFormed()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\u00A0', '&nbsp;');
