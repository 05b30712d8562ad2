/**
 * Recognises HTML that is too complex to parse, and turns it into paragraphs of text. Both work without the browser's
 * parser.
 */
import { withoutStyles } from './inert-html.ts';

/** 1 MB of a copied spreadsheet has some 50,000 elements. */
const MAX_ELEMENTS = 100_000;
/** The depth of nesting that browsers keep. */
const MAX_OPEN_ELEMENTS = 512;

/**
 * Whether a browser would take long to parse the HTML. Threat: a copied page holds a million tags, or 20,000 unclosed
 * ones, whose parsing takes time with the square of their number, and the journal stops for a minute.
 */
export function isTooComplex(html: string): boolean {
  if ((html.match(/<[a-z!]/gi)?.length ?? 0) > MAX_ELEMENTS) return true;
  const open = new Map<string, number>();
  let total = 0;
  for (const [, slash, tag] of html.matchAll(/<(\/?)([a-z][^\s/>]*)/gi)) {
    const name = tag!.toLowerCase();
    const count = open.get(name) ?? 0;
    if (NEVER_NESTED.has(name) || (slash && count === 0)) continue;
    open.set(name, count + (slash ? -1 : 1));
    total += slash ? -1 : 1;
    if (total > MAX_OPEN_ELEMENTS) return true;
  }
  return false;
}

/** Empty elements, and those that the next of their kind closes. */
const NEVER_NESTED = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'p li dt dd td th tr thead tbody tfoot colgroup option optgroup rt rp'
  ).split(' '),
);

/** One paragraph for each line. The text keeps its character references. */
export const textAsHtml = (html: string): string =>
  withoutStyles(html)
    .replace(/<!--[^<>]*-->|<\/?(?:strong|em|b|i|u|s|a|code|span|font)\b[^<>]*>/gi, '')
    .split(/<[^<>]*>?|[\r\n]+/)
    .filter((line) => line.trim() !== '')
    .map((line) => `<p>${line}</p>`)
    .join('');
