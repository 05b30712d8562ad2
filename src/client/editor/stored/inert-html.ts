/** Parses HTML that came from elsewhere in a document that runs nothing, loads nothing and styles nothing. */

/** The browser holds styles and handlers against the page's policy as it parses them, even here: they are renamed first. */
const ACTIVE_ATTRIBUTE = /(<[a-z][^<>]*?[\s"'/])(style|on[a-z]+)(?=\s*=)/gi;
const UNSEEN = /<(style|script|head|title|xml|o:p)\b[^<>]*>[\s\S]*?<\/\1\s*>/gi;

/** Without style sheets and scripts; each `style` attribute is called `data-style`, each handler `data-on…`. */
export function withoutStyles(html: string): string {
  let before: string;
  let after = html.replace(UNSEEN, ' ');
  do {
    before = after;
    // One attribute of a tag a pass.
    after = before.replace(ACTIVE_ATTRIBUTE, '$1data-$2');
  } while (after !== before);
  return after;
}

export const parseInert = (html: string): HTMLElement =>
  new DOMParser().parseFromString(withoutStyles(html), 'text/html').body;
