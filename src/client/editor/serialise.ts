/**
 * Serialises the editor's document to HTML. ProseMirror's nodes are immutable and an edit replaces only the nodes on
 * its path, so the HTML of all other nodes is cached: after an edit of a long log, only the changed nodes are
 * serialised.
 */
import { DOMSerializer, type Node } from '@tiptap/pm/model';

const WRAPPERS: Record<string, string> = { bulletList: 'ul', listItem: 'li', blockquote: 'blockquote' };

function openingTag(node: Node): string {
  if (node.type.name !== 'orderedList') return `<${WRAPPERS[node.type.name]!}>`;
  const start = node.attrs['start'] as number;
  return start === 1 ? '<ol>' : `<ol start="${start}">`;
}

const closingTag = (node: Node): string => `</${WRAPPERS[node.type.name] ?? 'ol'}>`;

/** Creates a serialiser with its own cache, one per editor. */
export function createSerialiser(): (document: Node) => string {
  const cache = new WeakMap<Node, string>();

  /** ProseMirror serialises text and marks, because nesting marks is complex. */
  const textBlock = (node: Node): string => {
    const element = DOMSerializer.fromSchema(node.type.schema).serializeNode(node) as HTMLElement;
    // The database rejects a lone surrogate, which a broken input method can leave.
    return element.outerHTML.toWellFormed();
  };

  const children = (node: Node): string => {
    let html = '';
    node.forEach((child) => (html += block(child)));
    return html;
  };

  const block = (node: Node): string => {
    let html = cache.get(node);
    if (html === undefined) {
      html = node.isTextblock ? textBlock(node) : openingTag(node) + children(node) + closingTag(node);
      cache.set(node, html);
    }
    return html;
  };

  return children;
}
