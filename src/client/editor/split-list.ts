/** What cannot stand in a list item (a heading, a quote, code) goes between two halves of the list, as one step of undo. */
import { Extension, InputRule } from '@tiptap/core';
import type { Editor } from '@tiptap/core';
import type { Node, Schema } from '@tiptap/pm/model';
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
 * first. Puts the caret at the end of the blocks. False where no list holds both positions.
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

export type Form = 'heading' | 'blockquote' | 'codeBlock';
type FormAttributes = { level?: 1 | 2 | 3 };

/** Lines in another form: a heading each, or one quote or one code block for all of them. */
function blocksOf(form: Form, lines: readonly Node[], attributes: FormAttributes, schema: Schema): Node[] {
  const type = schema.nodes[form]!;
  if (form === 'heading') return lines.map((line) => type.create(attributes, line.content));
  if (form === 'blockquote') return [type.create(null, lines)];
  const text = lines.map((line) => line.textBetween(0, line.content.size, undefined, '\n')).join('\n');
  return [type.create(null, text === '' ? null : schema.text(text))];
}

/** Takes the selected lines of a list out of it, in another form and still selected. False where no list holds them all. */
function takeFromList({ state, view }: Editor, form: Form, attributes: FormAttributes): boolean {
  const { doc, schema, selection, tr } = state;
  const lines: { node: Node; start: number }[] = [];
  doc.nodesBetween(selection.from, selection.to, (node, at) => {
    if (node.isTextblock) lines.push({ node, start: at + 1 });
  });
  const first = lines[0];
  const last = lines.at(-1);
  if (!first || !last) return false;
  const nodes = lines.map(({ node }) => node);
  const blocks = blocksOf(form, nodes, attributes, schema);
  const to = last.start + last.node.content.size;
  if (!splitList(tr, first.start, to, blocks)) return false;
  const end = tr.selection.from;
  const inner = blocks.reduce((sum, block) => sum + block.nodeSize, 0) - (form === 'blockquote' ? 4 : 2);
  const before = Math.max(0, selection.from - first.start);
  const behind = Math.max(0, to - selection.to);
  tr.setSelection(TextSelection.create(tr.doc, end - inner + before, end - behind));
  view.dispatch(tr.scrollIntoView());
  return true;
}

/**
 * Gives the selected lines a form, or makes them paragraphs if they have it. An item begins with a paragraph, so they leave
 * their list first.
 */
export function toggleBlockFormat(editor: Editor, form: Form, attributes: FormAttributes = {}): boolean {
  if (editor.isActive(form, attributes)) return editor.chain().clearNodes().setParagraph().run();
  if (takeFromList(editor, form, attributes)) return true;
  const chain = editor.chain().clearNodes();
  return (form === 'blockquote' ? chain.wrapIn(form) : chain.setNode(form, attributes)).run();
}

/** Signs typed at the start of an item that ask for a form, where TipTap's own rules do nothing. */
function formRule(find: RegExp, form: Form): InputRule {
  return new InputRule({
    find,
    handler({ state: { tr, schema }, range, match }) {
      const attributes = form === 'heading' ? { level: match[1]!.length as 1 | 2 | 3 } : {};
      tr.delete(range.from, range.to);
      const { parent } = tr.doc.resolve(range.from);
      const { size } = parent.content;
      const blocks = blocksOf(form, [parent], attributes, schema);
      if (parent.type.name !== 'paragraph' || !splitList(tr, range.from, range.from + size, blocks)) return null;
      tr.setSelection(TextSelection.create(tr.doc, tr.selection.from - size));
    },
  });
}

/** A heading, a quote and code in a numbered list: by signs and by keys, as by the toolbar. */
export const blockFormatsInList = Extension.create({
  name: 'blockFormatsInList',
  // Before bold, which takes Shift+B for B, and before the keys of the three forms themselves.
  priority: 101,

  addInputRules: () => [
    formRule(/^(#{1,3})\s$/, 'heading'),
    formRule(/^\s*>\s$/, 'blockquote'),
    formRule(/^(?:```|~~~)[a-z]*\s$/, 'codeBlock'),
  ],

  addKeyboardShortcuts() {
    const { editor } = this;
    const heading = (level: 1 | 2 | 3) => () => toggleBlockFormat(editor, 'heading', { level });
    return {
      'Mod-Alt-1': heading(1),
      'Mod-Alt-2': heading(2),
      'Mod-Alt-3': heading(3),
      'Mod-Shift-b': () => toggleBlockFormat(editor, 'blockquote'),
      'Mod-Alt-c': () => toggleBlockFormat(editor, 'codeBlock'),
    };
  },
});
