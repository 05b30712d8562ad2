/** Keeps an empty log a numbered list with one empty item, and shows the placeholder in it. */
import { Extension } from '@tiptap/core';
import { isHistoryTransaction } from '@tiptap/pm/history';
import type { Node } from '@tiptap/pm/model';
import { Plugin, TextSelection } from '@tiptap/pm/state';
import { Decoration, DecorationSet } from '@tiptap/pm/view';

/** The positions of the item's paragraph, after the opening `<ol>` and `<li>`. */
const ITEM_PARAGRAPH = { from: 2, to: 4 };

const isEmptyList = (doc: Node): boolean => doc.content.size === 6 && doc.firstChild?.type.name === 'orderedList';
const isEmptyParagraph = (doc: Node): boolean => doc.content.size === 2 && doc.firstChild?.type.name === 'paragraph';

export const emptyLog = Extension.create<{ placeholder: () => string }>({
  name: 'emptyLog',

  addProseMirrorPlugins() {
    const { editor, options } = this;
    return [
      new Plugin({
        /** Keeps TipTap from clearing the blocks when undo or redo removes all text while it is selected. */
        filterTransaction(tr) {
          if (isHistoryTransaction(tr)) tr.setMeta('preventClearDocument', true);
          return true;
        },
        /**
         * Restores the list after the user deletes all text, which leaves an empty paragraph. Backspace in an empty
         * item leads to the same document, but there the user wants plain text, so only a change that removed text
         * restores the list. No-op during an IME composition, which a replaced node would break, and on undo and redo,
         * whose later steps expect the paragraph.
         */
        appendTransaction(transactions, before, after) {
          const hasChanged = transactions.some((tr) => tr.docChanged && !isHistoryTransaction(tr));
          if (!hasChanged || !isEmptyParagraph(after.doc) || before.doc.textContent === '' || editor.view.composing)
            return null;
          const { paragraph, listItem, orderedList } = after.schema.nodes;
          const emptyList = orderedList!.create(null, listItem!.create(null, paragraph!.create()));
          const transaction = after.tr.replaceWith(0, after.doc.content.size, emptyList);
          return transaction.setSelection(TextSelection.create(transaction.doc, ITEM_PARAGRAPH.from + 1));
        },
        props: {
          decorations(state) {
            const isParagraph = isEmptyParagraph(state.doc);
            if (!isParagraph && !isEmptyList(state.doc)) return null;
            const { from, to } = isParagraph ? { from: 0, to: 2 } : ITEM_PARAGRAPH;
            return DecorationSet.create(state.doc, [
              Decoration.node(from, to, { 'data-placeholder': options.placeholder() }),
            ]);
          },
        },
      }),
    ];
  },
});
