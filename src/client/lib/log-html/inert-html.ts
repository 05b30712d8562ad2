/** Parses untrusted HTML in an inert document, which runs no scripts, loads no resources and applies no styles. */

/**
 * Matches `style` and event handler attributes. They are renamed before parsing, because the browser reports them as
 * violations of the content security policy even in an inert document.
 */
const ACTIVE_ATTRIBUTE = /([\s"'/])(style|on[a-z]+)(?=\s*=)/gi;
const TAG = /<[a-z][^<>]*/gi;

/** Renames `style` attributes to `data-style` and handlers to `data-on…`. In time proportional to the length. */
export const withoutStyles = (html: string): string =>
  html.replace(TAG, (tag) => tag.replace(ACTIVE_ATTRIBUTE, '$1data-$2'));

export const parseInert = (html: string): HTMLElement =>
  new DOMParser().parseFromString(withoutStyles(html), 'text/html').body;
