import type { Node } from '@tiptap/pm/model';
import type { Transaction } from '@tiptap/pm/state';

/** Gives a node the content of `to` by replacing the one range that differs. The node's content begins at `start`. */
export function replaceRange(tr: Transaction, { content }: Node, to: Node, start: number): void {
  const first = content.findDiffStart(to.content);
  const last = content.findDiffEnd(to.content);
  if (first === null || last === null) return;
  // In repeated text, the common suffix may overlap the common prefix.
  const overlap = Math.max(0, first - Math.min(last.a, last.b));
  tr.replace(start + first, start + last.a + overlap, to.slice(first, last.b + overlap));
}
