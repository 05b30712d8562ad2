/** Pasting into a log: lines become items, whatever program they come from. */
import { Extension } from '@tiptap/core';
import { Fragment, Slice } from '@tiptap/pm/model';
import type { Node, ResolvedPos, Schema } from '@tiptap/pm/model';
import { Plugin } from '@tiptap/pm/state';
import { cleanPastedHtml } from './paste-html.ts';
import { parsePastedText, withoutMarker } from './paste-text.ts';
import type { PastedLine } from './paste-text.ts';

const isInList = (at: ResolvedPos, schema: Schema): boolean => {
  for (let depth = at.depth; depth > 0; depth -= 1) if (at.node(depth).type === schema.nodes['listItem']) return true;
  return false;
};

const paragraph = (schema: Schema, text: string): Node =>
  schema.nodes['paragraph']!.create(null, text === '' ? null : schema.text(text));

/** Items of one level, each with the deeper lines that follow it. */
function items(lines: PastedLine[], schema: Schema): Node[] {
  const level = Math.min(...lines.map((line) => line.level));
  const made: Node[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!;
    let end = index + 1;
    while (end < lines.length && lines[end]!.level > level) end += 1;
    const deeper = lines.slice(index + 1, end);
    const nested = deeper.length > 0 ? [listOf(deeper, schema)] : [];
    made.push(schema.nodes['listItem']!.create(null, [paragraph(schema, line.text), ...nested]));
    index = end;
  }
  return made;
}

function listOf(lines: PastedLine[], schema: Schema): Node {
  const type = lines[0]!.marker === 'bullet' ? 'bulletList' : 'orderedList';
  return schema.nodes[type]!.create(null, items(lines, schema));
}

/** Plain text: several lines become items, or paragraphs where neither they nor the place ask for a list. */
export function textToSlice(text: string, at: ResolvedPos): Slice {
  const { schema } = at.doc.type;
  const lines = parsePastedText(text);
  if (lines.length === 0) return new Slice(Fragment.from(text === '' ? [] : [paragraph(schema, ' ')]), 1, 1);
  if (lines.length === 1) {
    // In the middle of a sentence "- " and "1. " are words like any other.
    const words = at.parent.content.size === 0 ? withoutMarker(text).text : text.replace(/[\r\n]+/g, '');
    return new Slice(Fragment.from(paragraph(schema, words)), 1, 1);
  }
  const asList = isInList(at, schema) || lines.some((line) => line.marker !== null);
  const nodes = asList ? [listOf(lines, schema)] : lines.map((line) => paragraph(schema, line.text));
  return Slice.maxOpen(Fragment.from(nodes));
}

/** Several paragraphs pasted into an item are several items; lists among them keep their items. */
export function paragraphsToItems(slice: Slice, at: ResolvedPos): Slice {
  const { schema } = at.doc.type;
  const { listItem, orderedList } = schema.nodes;
  const blocks: Node[] = [];
  slice.content.forEach((node) => void blocks.push(node));
  const names = blocks.map((node) => node.type.name);
  const isProse = names.every((name) => ['paragraph', 'orderedList', 'bulletList'].includes(name));
  if (!isProse || blocks.length < 2 || !names.includes('paragraph') || !isInList(at, schema)) return slice;
  const made = blocks.flatMap((node) => {
    if (node.type.name === 'paragraph') return node.content.size === 0 ? [] : [listItem!.create(null, node)];
    return [...node.children];
  });
  return made.length === 0 ? slice : Slice.maxOpen(Fragment.from(orderedList!.create(null, made)));
}

export const pasteIntoLists = Extension.create({
  name: 'pasteIntoLists',

  addProseMirrorPlugins: () => [
    new Plugin({
      props: {
        clipboardTextParser: (text, at) => textToSlice(text, at),
        transformPastedHTML: (html) => cleanPastedHtml(html),
        transformPasted: (slice, view) => paragraphsToItems(slice, view.state.selection.$from),
      },
    }),
  ],
});
