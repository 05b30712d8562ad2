/** Keeps a log that is emptied or replaced a numbered list, and shows the placeholder in an empty one. */
import { Extension } from '@tiptap/core';
import { isHistoryTransaction } from '@tiptap/pm/history';
import { NodeRange, type Node } from '@tiptap/pm/model';
import { wrapRangeInList } from '@tiptap/pm/schema-list';
import { AllSelection, Plugin } from '@tiptap/pm/state';
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
         * Restores the list after the user deletes all text, or types or pastes over all of it, which leaves paragraphs.
         * Backspace in an empty item leads to an empty paragraph too, but there the user wants plain text, so only a
         * change that removed text restores the list. No-op during an IME composition, which a replaced node would
         * break, on undo and redo, whose later steps expect the paragraph, and on text that arrived from elsewhere.
         */
        appendTransaction(transactions, before, { doc, schema, tr }) {
          const isEdit = transactions.some(
            (edit) => edit.docChanged && !isHistoryTransaction(edit) && edit.getMeta('preventUpdate') !== true,
          );
          const text = before.doc.textContent;
          const isReplaced =
            before.selection instanceof AllSelection
              ? text !== doc.textContent && doc.children.every(({ type }) => type.name === 'paragraph')
              : text !== '' && isEmptyParagraph(doc);
          if (!isEdit || !isReplaced || editor.view.composing) return null;
          const all = new NodeRange(doc.resolve(0), doc.resolve(doc.content.size), 0);
          wrapRangeInList(tr, all, schema.nodes['orderedList']!);
          return tr;
        },
        props: {
          handleDOMEvents: {
            /** A composition must begin in the list: the plugin changes no text that is being composed. */
            compositionstart({ state, dispatch }) {
              if (state.selection instanceof AllSelection && state.doc.textContent !== '')
                dispatch(state.tr.deleteSelection());
            },
          },
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
