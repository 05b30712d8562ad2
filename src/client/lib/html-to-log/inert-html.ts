/** Renders a log's stored HTML as nodes of React or of the document. */
import { ENTRY_TAGS, LIST_START } from '#domain/log/entry-html.ts';

const ALLOWED: ReadonlySet<string> = new Set(ENTRY_TAGS);
const TEXT_BLOCKS: ReadonlySet<string> = new Set(['p', 'h1', 'h2', 'h3']);

/** `dir`: items and quotes take the direction of their text, as in the editor. */
export type StoredAttributes = { start?: number; dir?: 'auto' };

export type NodeFactory<T> = {
  text: (node: Text) => T;
  element: (tag: string, attributes: StoredAttributes, children: T[]) => T;
};

/**
 * Threat: a compromised or foreign server stores scripts. Although the server cleans logs, this creates only elements
 * of the allow-list, of whose attributes it takes only a list's `start`.
 */
export function renderStored<T>(nodes: Iterable<Node>, create: NodeFactory<T>): T[] {
  return [...nodes].flatMap((node) => {
    if (node instanceof Text) return create.text(node);
    if (!(node instanceof Element)) return [];
    const tag = node.localName;
    if (tag === 'script' || tag === 'style') return [];
    const children = renderStored(node.childNodes, create);
    if (!ALLOWED.has(tag)) return children;
    const start = tag === 'ol' ? (node.getAttribute('start') ?? '') : '';
    // A break gives an empty line its height, as in the editor.
    if (TEXT_BLOCKS.has(tag) && children.length === 0) children.push(create.element('br', {}, []));
    const attributes: StoredAttributes = LIST_START.test(start) ? { start: Number(start) } : {};
    if (tag === 'li' || tag === 'blockquote') attributes.dir = 'auto';
    return create.element(tag, attributes, children);
  });
}

// Parses untrusted HTML in an inert document, which runs no scripts, loads no resources and applies no styles.

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
