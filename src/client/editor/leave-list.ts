/** What cannot stand in a list item (a heading, a quote, code) goes between two halves of the list, as one step of undo. */
import { Extension, InputRule } from '@tiptap/core';
import type { Node } from '@tiptap/pm/model';
import { TextSelection } from '@tiptap/pm/state';
import type { Transaction } from '@tiptap/pm/state';

const isList = (node: Node): boolean => node.type.name === 'orderedList' || node.type.name === 'bulletList';
const isEmptyText = (node: Node | undefined): boolean =>
  node !== undefined && node.isTextblock && node.childCount === 0;

/** The first half of a cut list without the empty line that the cut left; null if that was all. */
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

/** The second half. What was nested below the line that went moves up into its place: an item begins with a paragraph. */
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
 * Replaces what stands between two positions of one list by blocks that break the list; the second half counts on from the
 * first. Puts the caret at the end of the blocks. False outside of a list.
 */
export function breakList(tr: Transaction, from: number, to: number, blocks: readonly Node[]): boolean {
  const $from = tr.doc.resolve(from);
  let depth = 1;
  while (depth <= $from.depth && !isList($from.node(depth))) depth += 1;
  if (depth > $from.depth) return false;
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

/** `# ` begins a heading in a numbered list too, where TipTap's own rule does nothing. */
export const headingInList = Extension.create({
  name: 'headingInList',

  addInputRules: () => [
    new InputRule({
      find: /^(#{1,3})\s$/,
      handler({ state: { tr, schema }, range, match }) {
        tr.delete(range.from, range.to);
        const { parent } = tr.doc.resolve(range.from);
        const heading = schema.nodes['heading']!.create({ level: match[1]!.length }, parent.content);
        const to = range.from + parent.content.size;
        if (parent.type.name !== 'paragraph' || !breakList(tr, range.from, to, [heading])) return null;
        tr.setSelection(TextSelection.create(tr.doc, tr.selection.from - heading.content.size));
      },
    }),
  ],
});
