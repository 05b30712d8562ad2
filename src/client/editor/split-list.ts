/**
 * List items cannot start with a heading, quote or code block, so such a block splits its list in two, in one undo
 * step.
 */
import { Extension, type Editor } from '@tiptap/core';
import { bindKeys, EDITOR_KEYS } from './editor-keys.ts';
import type { Node, Schema } from '@tiptap/pm/model';
import { TextSelection, type Transaction } from '@tiptap/pm/state';

const isList = (node: Node): boolean => node.type.name === 'orderedList' || node.type.name === 'bulletList';
const isEmptyText = (node: Node | undefined): boolean =>
  node !== undefined && node.isTextblock && node.childCount === 0;

/** The first half of a split list, without the empty line that the split left; null if nothing else remains. */
function trimEnd(list: Node): Node | null {
  const items = [...list.children];
  const item = items.pop()!;
  const blocks = [...item.children];
  const last = blocks.pop();
  const rest = last && isList(last) ? trimEnd(last) : isEmptyText(last) ? null : last;
  if (rest) blocks.push(rest);
  if (blocks.length > 0) items.push(item.type.create(null, blocks));
  return items.length > 0 ? list.type.create(list.attrs, items) : null;
}

/**
 * The second half of a split list; null if nothing remains. Children of the removed line move up into its place,
 * because an item must begin with a paragraph.
 */
function trimStart(list: Node): Node | null {
  const [item, ...items] = list.children;
  const [first, ...blocks] = item!.children;
  const rest = first && isList(first) ? trimStart(first) : isEmptyText(first) ? null : first;
  if (rest) blocks.unshift(rest);
  const lifted = blocks[0] && isList(blocks[0]) ? [...blocks.shift()!.children] : [];
  if (blocks.length > 0) {
    const above = lifted.pop() ?? item!.type.create();
    const paragraph = item!.type.schema.nodes['paragraph']!;
    const own = above.childCount > 0 || blocks[0]!.type === paragraph ? [] : [paragraph.create()];
    lifted.push(item!.type.create(null, [...above.children, ...own, ...blocks]));
  }
  const all = [...lifted, ...items];
  return all.length > 0 ? list.type.create(list.attrs, all) : null;
}

/**
 * Replaces the content between two positions of a list by blocks that split the list. The second half continues the
 * numbers of the first. Puts the caret at the end of the blocks. Returns false if no list contains both positions.
 */
export function splitList(tr: Transaction, from: number, to: number, blocks: readonly Node[]): boolean {
  const $from = tr.doc.resolve(from);
  const shared = $from.sharedDepth(to);
  let depth = 1;
  while (depth <= shared && !isList($from.node(depth))) depth += 1;
  if (depth > shared) return false;
  const list = $from.node(depth);
  const start = $from.start(depth);
  const before = trimEnd(list.cut(0, from - start));
  const rest = trimStart(list.cut(to - start));
  const next = Number(list.attrs['start'] ?? 1) + (before?.childCount ?? 0);
  const after = rest && (list.attrs['start'] === undefined ? rest : rest.type.create({ start: next }, rest.content));
  const nodes = [before, ...blocks, after].filter((node) => node !== null);
  tr.replaceWith(start - 1, start - 1 + list.nodeSize, nodes);
  const end = nodes.slice(0, before ? blocks.length + 1 : blocks.length).reduce((sum, node) => sum + node.nodeSize, 0);
  tr.setSelection(TextSelection.near(tr.doc.resolve(start - 1 + end), -1));
  return true;
}

export type BlockFormat = 'heading' | 'blockquote' | 'codeBlock';
type BlockAttributes = { level?: 1 | 2 | 3 };

/** Converts lines to a heading each, or to a single quote or code block. */
function createBlocks(
  format: BlockFormat,
  lines: readonly Node[],
  attributes: BlockAttributes,
  schema: Schema,
): Node[] {
  const type = schema.nodes[format]!;
  if (format === 'heading') return lines.map((line) => type.create(attributes, line.content));
  if (format === 'blockquote') return [type.create(null, lines)];
  const text = lines.map((line) => line.textBetween(0, line.content.size, undefined, '\n')).join('\n');
  return [type.create(null, text === '' ? null : schema.text(text))];
}

/**
 * Converts the selected lines of a list to blocks of this format, which split the list, and keeps them selected.
 * Returns false if no single list contains all selected lines.
 */
function formatListLines({ state, view }: Editor, format: BlockFormat, attributes: BlockAttributes): boolean {
  const { doc, schema, selection, tr } = state;
  const lines: { node: Node; start: number }[] = [];
  doc.nodesBetween(selection.from, selection.to, (node, at) => {
    if (node.isTextblock) lines.push({ node, start: at + 1 });
  });
  const first = lines[0];
  const last = lines.at(-1);
  if (!first || !last) return false;
  const nodes = lines.map(({ node }) => node);
  const blocks = createBlocks(format, nodes, attributes, schema);
  const to = last.start + last.node.content.size;
  if (!splitList(tr, first.start, to, blocks)) return false;
  const end = tr.selection.from;
  const inner = blocks.reduce((sum, block) => sum + block.nodeSize, 0) - (format === 'blockquote' ? 4 : 2);
  const before = Math.max(0, selection.from - first.start);
  const behind = Math.max(0, to - selection.to);
  tr.setSelection(TextSelection.create(tr.doc, end - inner + before, end - behind));
  view.dispatch(tr.scrollIntoView());
  return true;
}

/**
 * Applies a block format to the selected lines, or turns lines with that format into paragraphs. Lines of a list leave
 * the list first, because an item must begin with a paragraph.
 */
export function toggleBlockFormat(editor: Editor, format: BlockFormat, attributes: BlockAttributes = {}): boolean {
  if (editor.isActive(format, attributes)) return editor.chain().clearNodes().setParagraph().run();
  if (formatListLines(editor, format, attributes)) return true;
  const chain = editor.chain().clearNodes();
  return (format === 'blockquote' ? chain.wrapIn(format) : chain.setNode(format, attributes)).run();
}

/** Gives the paragraph at `from`, whose typed marker is gone, a block format. In a list it splits the list. */
export function formatTypedBlock(
  tr: Transaction,
  from: number,
  format: BlockFormat,
  attributes: BlockAttributes = {},
): boolean {
  const $from = tr.doc.resolve(from);
  const { type: blockType, content } = $from.parent;
  const { schema } = blockType;
  const { size } = content;
  const blocks = createBlocks(format, [$from.parent], attributes, schema);
  if (blockType.name === 'paragraph' && splitList(tr, from, from + size, blocks)) {
    tr.setSelection(TextSelection.create(tr.doc, tr.selection.from - size));
    return true;
  }
  const type = schema.nodes[format]!;
  const parent = $from.node(-1);
  if (!type.isTextblock || !parent.canReplaceWith($from.index(-1), $from.indexAfter(-1), type)) return false;
  tr.setBlockType(from, from, type, attributes);
  return true;
}

/** Creates headings, quotes and code blocks by shortcut, also in lists. */
export const blockFormatsInList = Extension.create({
  name: 'blockFormatsInList',
  // Above the default of 100: handles keys before bold, which also takes Mod+Shift+B, and before the three formats.
  priority: 101,

  addKeyboardShortcuts() {
    const { editor } = this;
    const heading = (level: 1 | 2 | 3) => () => toggleBlockFormat(editor, 'heading', { level });
    const [first, second, third] = EDITOR_KEYS.heading.bind;
    return {
      [first]: heading(1),
      [second]: heading(2),
      [third]: heading(3),
      ...bindKeys('blockquote', () => toggleBlockFormat(editor, 'blockquote')),
      ...bindKeys('codeBlock', () => toggleBlockFormat(editor, 'codeBlock')),
    };
  },
});
