/** An empty log is one empty numbered item that asks what was done that day, and a log that was emptied is one again. */
import { Extension } from '@tiptap/core';
import type { Node } from '@tiptap/pm/model';
import { Plugin, TextSelection } from '@tiptap/pm/state';
import { Decoration, DecorationSet } from '@tiptap/pm/view';

/** Where the item's paragraph begins and ends: after `<ol>` and `<li>` open. */
const ITEM_PARAGRAPH = { from: 2, to: 4 };

const isSeed = (doc: Node): boolean => doc.content.size === 6 && doc.firstChild?.type.name === 'orderedList';
const isBare = (doc: Node): boolean => doc.content.size === 2 && doc.firstChild?.type.name === 'paragraph';

export const emptyLog = Extension.create<{ placeholder: () => string }>({
  name: 'emptyLog',

  addProseMirrorPlugins() {
    const { editor, options } = this;
    return [
      new Plugin({
        /**
         * Deleting everything leaves a bare paragraph: the list comes back. Backspace in the last empty item, which
         * leads to the same document, is how somebody asks for plain text, so only a change that removed words counts.
         * Never while an input method composes: it would lose its place.
         */
        appendTransaction(transactions, before, after) {
          const edited = transactions.some((transaction) => transaction.docChanged);
          if (!edited || !isBare(after.doc) || before.doc.textContent === '' || editor.view.composing) return null;
          const { paragraph, listItem, orderedList } = after.schema.nodes;
          const seed = orderedList!.create(null, listItem!.create(null, paragraph!.create()));
          const transaction = after.tr.replaceWith(0, after.doc.content.size, seed);
          return transaction.setSelection(TextSelection.create(transaction.doc, ITEM_PARAGRAPH.from + 1));
        },
        props: {
          decorations(state) {
            const bare = isBare(state.doc);
            if (!bare && !isSeed(state.doc)) return null;
            const { from, to } = bare ? { from: 0, to: 2 } : ITEM_PARAGRAPH;
            return DecorationSet.create(state.doc, [
              Decoration.node(from, to, { 'data-placeholder': options.placeholder() }),
            ]);
          },
        },
      }),
    ];
  },
});
