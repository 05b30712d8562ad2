/** Parses untrusted HTML in an inert document, which runs no scripts, loads no resources and applies no styles. */

/**
 * Matches `style` and event handler attributes. They are renamed before parsing, because the browser reports them as
 * violations of the content security policy even in an inert document.
 */
const ACTIVE_ATTRIBUTE = /(<[a-z][^<>]*?[\s"'/])(style|on[a-z]+)(?=\s*=)/gi;
const NON_CONTENT = /<(style|script|head|title|xml|o:p)\b[^<>]*>[\s\S]*?<\/\1\s*>/gi;

/** Removes stylesheets and scripts. Renames `style` attributes to `data-style` and handlers to `data-on…`. */
export function withoutStyles(html: string): string {
  let before: string;
  let after = html.replace(NON_CONTENT, ' ');
  do {
    before = after;
    // Each pass renames one attribute per tag.
    after = before.replace(ACTIVE_ATTRIBUTE, '$1data-$2');
  } while (after !== before);
  return after;
}

export const parseInert = (html: string): HTMLElement =>
  new DOMParser().parseFromString(withoutStyles(html), 'text/html').body;
