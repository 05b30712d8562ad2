/** Replaces the editor's text block by block, so that the selection and the undo history of unchanged blocks stay. */
import type { Node } from '@tiptap/pm/model';
import { TextSelection, type EditorState, type Transaction } from '@tiptap/pm/state';
import { matchCommonSubsequence } from '#domain/merge/match/common-subsequence.ts';
import { replaceRange } from './replace-range.ts';

/** `line` counts the text blocks of the document; `offset` counts the positions within the block. */
export type TextPosition = { readonly line: number; readonly offset: number };

/** `mapPosition` maps the ends of the selection. If it is null, ProseMirror keeps each end at the same characters. */
export function replaceBlocks(
  state: EditorState,
  next: Node,
  mapPosition: ((position: TextPosition) => TextPosition) | null,
): Transaction {
  const { doc, selection } = state;
  let { tr } = state;
  replaceContent(tr, doc, next, 0);
  // If the schema refuses an intermediate document, ProseMirror changes the replaced part to fit: replace everything.
  if (!tr.doc.eq(next)) tr = state.tr.replaceWith(0, doc.content.size, next.content);
  if (mapPosition && selection instanceof TextSelection) {
    const [anchor, head] = [selection.anchor, selection.head].map((end) =>
      tr.doc.resolve(resolvePosition(next, mapPosition(positionAt(doc, end)))),
    );
    tr.setSelection(TextSelection.between(anchor!, head!));
  }
  return tr;
}

/** Works from the end, so that earlier positions stay valid. */
function replaceContent(tr: Transaction, from: Node, to: Node, start: number): void {
  if (from.isTextblock) return replaceRange(tr, from, to, start);
  const positions = [start];
  from.forEach((child) => positions.push(positions.at(-1)! + child.nodeSize));
  const match = matchChildren(from, to);
  let [fromEnd, toEnd] = [from.childCount, to.childCount];
  for (let i = fromEnd - 1; i >= -1; i -= 1) {
    const j = i === -1 ? -1 : match[i]!;
    if (i !== -1 && j === -1) continue;
    // Between two matches: edits the first pairs of children of the same kind and replaces all other children at once.
    let edited = 0;
    while (
      i + 1 + edited < fromEnd &&
      j + 1 + edited < toEnd &&
      from.child(i + 1 + edited).sameMarkup(to.child(j + 1 + edited))
    )
      edited += 1;
    const [own, other] = [i + 1 + edited, j + 1 + edited];
    if (own < fromEnd || other < toEnd)
      tr.replaceWith(positions[own]!, positions[fromEnd]!, to.children.slice(other, toEnd));
    for (let k = edited; k > 0; k -= 1) replaceContent(tr, from.child(i + k), to.child(j + k), positions[i + k]! + 1);
    [fromEnd, toEnd] = [i, j];
  }
}

/** Returns for each child of `from` the index of an equal child of `to`, or -1. The matches are in order. */
function matchChildren(from: Node, to: Node): Int32Array {
  const numbers = new Map<string, number>();
  const keysOf = (parent: Node): Int32Array =>
    Int32Array.from(parent.children, (child) => {
      const json = JSON.stringify(child);
      const number = numbers.get(json) ?? numbers.size;
      numbers.set(json, number);
      return number;
    });
  const keys = keysOf(from);
  return matchCommonSubsequence(
    keys,
    keysOf(to),
    keys.map(() => 1),
  );
}

function positionAt(doc: Node, position: number): TextPosition {
  const at = doc.resolve(position);
  let line = 0;
  doc.nodesBetween(0, at.before(), (node) => void (node.isTextblock && (line += 1)));
  return { line, offset: at.parentOffset };
}

function resolvePosition(doc: Node, { line, offset }: TextPosition): number {
  let index = 0;
  let found = 0;
  doc.descendants((node, position) => {
    if (node.isTextblock && index++ === line) found = position + 1 + Math.min(offset, node.content.size);
  });
  return found;
}
