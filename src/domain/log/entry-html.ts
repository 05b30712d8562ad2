/**
 * What the HTML of a log may consist of (docs/specification/days-and-saving.md 4): the one list that the editor's schema, the server's cleaning
 * and the tests share, the date header that stands before every stored log, and a check that costs next to nothing.
 */
import { dayLabel } from '../day/day.ts';
import type { Day } from '../day/day.ts';

const INLINE = ['strong', 'em', 'u', 's', 'code'] as const;
const TEXT_BLOCKS = ['p', 'h1', 'h2', 'h3', 'pre'] as const;
const LISTS = ['ul', 'ol'] as const;
const FLOWS = ['blockquote', 'li'] as const;

/** Every element a log may contain. The only attribute is `start` of `ol`, a whole number. */
export const ENTRY_TAGS = [...INLINE, ...TEXT_BLOCKS, ...LISTS, ...FLOWS, 'br'] as const;

/** Elements inside elements; deeper ones are unwrapped. 48 levels of lists fit, and browsers give up at 512. */
export const ENTRY_MAX_DEPTH = 100;

/** A list's first number, as the `start` attribute carries it: up to seven digits, so that no reader overflows. */
export const LIST_START = /^-?\d{1,7}$/;

export const DATE_HEADER_CLASS = 'date-header';
const DATE_HEADER = new RegExp(`^<h2 class="${DATE_HEADER_CLASS}">[^<]*</h2>`);

/** The log as it is stored: the day's label as a heading, then the text. */
export function withDateHeader(date: Day, body: string): string {
  return `<h2 class="${DATE_HEADER_CLASS}">${dayLabel(date)}</h2>${body}`;
}

/** The log as it is shown. Content that other clients stored without a header comes back as it is. */
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

/** Lists hold items, text blocks and inline elements hold inline elements, the rest holds anything but bare items. */
function mayStandIn(tag: string, kind: Kind, parent: Kind): boolean {
  if (parent === 'list') return tag === 'li';
  return tag !== 'li' && (parent === 'flow' || kind === 'inline');
}

const START_ATTRIBUTE = /^ol start="-?\d{1,7}"$/;
const DATE_HEADER_TAG = `h2 class="${DATE_HEADER_CLASS}"`;
const ENTITY = /&(?:amp|lt|gt|quot|#39|nbsp);/y;

/** From `from` on: no bare `>`, and every `&` begins one of the six references that `entryText` decodes. */
function isCleanText(text: string, from: number): boolean {
  if (text.indexOf('>', from) !== -1) return false;
  for (let at = text.indexOf('&', from); at !== -1; at = text.indexOf('&', at + 1)) {
    ENTITY.lastIndex = at;
    if (!ENTITY.test(text)) return false;
  }
  return true;
}

/**
 * True only for a log that cleaning would leave exactly as it is: literal tags of the list above, closed in the order
 * they were opened, standing where HTML allows them. So the server may store what an editor sends without parsing it.
 *
 * It errs on the strict side: whatever it does not know (a capital letter, a space in a tag, a comment) is "not clean"
 * and takes the slow road through the real parser. Linear in the length; a 2 KB log takes a few microseconds.
 */
export function isCleanLog(html: string): boolean {
  if (html.includes('\0') || !html.isWellFormed()) return false;
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
      if (kind === undefined || !mayStandIn(name, kind, kinds.at(-1)!)) return false;
      if (open.push(name) > ENTRY_MAX_DEPTH) return false;
      kinds.push(kind);
    }
  }
  return open.length === 0;
}
