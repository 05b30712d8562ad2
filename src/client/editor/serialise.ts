/**
 * The editor's document as HTML. ProseMirror's nodes never change, only the ones on the path to an edit are replaced,
 * so the text of every other item is remembered: a log of 20,000 words costs as much to serialise as its last sentence.
 */
import { DOMSerializer } from '@tiptap/pm/model';
import type { Node } from '@tiptap/pm/model';

const WRAPPERS: Record<string, string> = { bulletList: 'ul', listItem: 'li', blockquote: 'blockquote' };

function openingTag(node: Node): string {
  if (node.type.name !== 'orderedList') return `<${WRAPPERS[node.type.name]!}>`;
  const start = node.attrs['start'] as number;
  return start === 1 ? '<ol>' : `<ol start="${start}">`;
}

const closingTag = (node: Node): string => `</${WRAPPERS[node.type.name] ?? 'ol'}>`;

/** A serialiser with a memory of its own: one per editor. */
export function createSerialiser(): (document: Node) => string {
  const remembered = new WeakMap<Node, string>();

  /** Text and marks are left to ProseMirror, which knows how marks nest. */
  const textBlock = (node: Node): string => {
    const element = DOMSerializer.fromSchema(node.type.schema).serializeNode(node) as HTMLElement;
    // Half a character, cut off by a broken input method, would be refused by the database.
    return element.outerHTML.toWellFormed();
  };

  const children = (node: Node): string => {
    let html = '';
    node.forEach((child) => (html += block(child)));
    return html;
  };

  const block = (node: Node): string => {
    let html = remembered.get(node);
    if (html === undefined) {
      html = node.isTextblock ? textBlock(node) : openingTag(node) + children(node) + closingTag(node);
      remembered.set(node, html);
    }
    return html;
  };

  return children;
}
