/** The editor's extensions, chosen so that its schema equals the allow-list of `#domain/log/entry-html.ts`. */
import { Mark, Extension, type AnyExtension, type MarkConfig } from '@tiptap/core';
import { Blockquote } from '@tiptap/extension-blockquote';
import { CodeBlock } from '@tiptap/extension-code-block';
import { Document } from '@tiptap/extension-document';
import { HardBreak } from '@tiptap/extension-hard-break';
import { Heading } from '@tiptap/extension-heading';
import { BulletList } from '@tiptap/extension-list/bullet-list';
import { ListItem } from '@tiptap/extension-list/item';
import { ListKeymap } from '@tiptap/extension-list/keymap';
import { OrderedList } from '@tiptap/extension-list/ordered-list';
import { Paragraph } from '@tiptap/extension-paragraph';
import { Text } from '@tiptap/extension-text';
import { UndoRedo } from '@tiptap/extensions/undo-redo';
import { LIST_START } from '#domain/log/entry-html.ts';
import { UNDO_DEPTH, UNDO_GROUP_DELAY_MS } from '#domain/log/entry.ts';
import { bindKeys } from './editor-keys.ts';
import { followCaret } from './follow-caret.ts';
import { inputRules } from './input-rules.ts';
import { blockFormatsInList } from './split-list.ts';
import { deferredPlugins } from './load-deferred-plugins.ts';
import { isHistoryTransaction } from '@tiptap/pm/history';
import { NodeRange, type Node } from '@tiptap/pm/model';
import { wrapRangeInList } from '@tiptap/pm/schema-list';
import { AllSelection, Plugin } from '@tiptap/pm/state';
import { Decoration, DecorationSet } from '@tiptap/pm/view';

function startOf(list: HTMLElement): number {
  const start = list.getAttribute('start') ?? '';
  return LIST_START.test(start) ? Number(start) : 1;
}

/** Without the `type` attribute, because a log numbers 1, 2, 3, and without TipTap's paste handling: see `paste.ts`. */
const NumberedList = OrderedList.extend({
  addAttributes: () => ({ start: { default: 1, parseHTML: startOf } }),
  addProseMirrorPlugins: () => [],
  addKeyboardShortcuts() {
    return bindKeys('orderedList', () => this.editor.commands.toggleOrderedList());
  },
});

const PlainBulletList = BulletList.extend({
  addKeyboardShortcuts() {
    return bindKeys('bulletList', () => this.editor.commands.toggleBulletList());
  },
});

/**
 * Items and quotes take the direction of their text, so that a Hebrew item has its number on the right. A node view,
 * because `renderHTML` would write the attribute into the log.
 */
const withOwnDirection = <Type extends typeof ListItem | typeof Blockquote>(type: Type, tag: string): Type =>
  type.extend({
    addNodeView: () => () => {
      const dom = Object.assign(document.createElement(tag), { dir: 'auto' });
      return { dom, contentDOM: dom };
    },
  }) as Type;

/** Without the language attribute: there is no syntax highlighting. */
const PlainCodeBlock = CodeBlock.extend({ addAttributes: () => ({}), renderHTML: () => ['pre', ['code', 0]] });

/**
 * The redo keys are handled even without a step to redo. Otherwise ProseMirror would try the same key without Shift,
 * which is undo on a Mac and with Caps Lock, where the key of Shift+Z is a small letter.
 */
const JournalUndoRedo = UndoRedo.extend({
  addOptions() {
    return { depth: UNDO_DEPTH, newGroupDelay: UNDO_GROUP_DELAY_MS };
  },
  addKeyboardShortcuts() {
    const undo = () => this.editor.commands.undo();
    const redo = () => this.editor.commands.redo() || true;
    return { ...bindKeys('undo', undo), ...bindKeys('redo', redo) };
  },
});

/** `tags`: the log is written with the first element. All are parsed. */
function createMark(
  name: 'bold' | 'italic' | 'underline' | 'strike' | 'code',
  tags: readonly string[],
  more: Partial<MarkConfig> = {},
): Mark {
  return Mark.create({
    name,
    ...more,
    parseHTML: () => tags.map((tag) => ({ tag })),
    renderHTML: () => [tags[0]!, 0],
    addKeyboardShortcuts() {
      return bindKeys(name, () => this.editor.commands.toggleMark(name));
    },
  });
}

/**
 * A text with several marks has their elements in this order, the first outermost. Styles are not read:
 * `html-to-log.ts` converts them to elements, and the content security policy blocks them.
 */
const MARKS: readonly Mark[] = [
  createMark('bold', ['strong', 'b']),
  createMark('italic', ['em', 'i']),
  createMark('underline', ['u']),
  createMark('strike', ['s', 'del', 'strike']),
  createMark('code', ['code'], { excludes: '_', code: true, exitable: true }),
];

/** The positions of the paragraph in an empty list of one item, after the opening `<ol>` and `<li>`. */
const ITEM_PARAGRAPH = { from: 2, to: 4 };

const isEmptyList = (doc: Node): boolean => doc.content.size === 6 && doc.firstChild?.type.name === 'orderedList';
const isEmptyParagraph = (doc: Node): boolean => doc.content.size === 2 && doc.firstChild?.type.name === 'paragraph';

/** Restores the numbered list of a log that is emptied or replaced, and shows the placeholder in an empty log. */
const emptyLog = Extension.create<{ placeholder: () => string }>({
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
         * Restores the list after the user deletes all text, or types or pastes over all of it, which leaves
         * paragraphs. Backspace in an empty item leads to an empty paragraph too, but there the user wants plain text,
         * so only a change that removed text restores the list. No-op during an IME composition, which a replaced node
         * would break, on undo and redo, whose later steps expect the paragraph, and on text that arrived from
         * elsewhere.
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
            /**
             * Deletes the text before a composition replaces all of it, so that the composition begins in the list: the
             * plugin does not restore the list while text is composed.
             */
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

/**
 * No Link, because logs store no links, and no TrailingNode, which would store an empty paragraph after a last list.
 * `placeholder` may return a different text while the editor is open.
 */
export function journalExtensions(placeholder: () => string = () => ''): AnyExtension[] {
  return [
    Document,
    Paragraph,
    Text,
    HardBreak,
    Heading.configure({ levels: [1, 2, 3] }),
    withOwnDirection(Blockquote, 'blockquote'),
    PlainCodeBlock,
    PlainBulletList,
    NumberedList,
    withOwnDirection(ListItem, 'li'),
    ListKeymap.configure({ listTypes: [{ itemName: 'listItem', wrapperNames: ['bulletList', 'orderedList'] }] }),
    ...MARKS,
    JournalUndoRedo,
    inputRules,
    emptyLog.configure({ placeholder }),
    blockFormatsInList,
    deferredPlugins,
    keyboardExit,
    followCaret,
  ];
}

/** Tab indents list items, so Escape and then Tab leaves the editor (WCAG 2.1.2). The editor's description says so. */
const keyboardExit = Extension.create({
  name: 'keyboardExit',
  // Above the default of 100: handles Tab before the list extension, which would indent the item.
  priority: 1_000,

  addProseMirrorPlugins() {
    let isLeaving = false;
    return [
      new Plugin({
        props: {
          handleDOMEvents: {
            /** Returning true stops ProseMirror from handling the key, but not the browser's default action. */
            keydown(_view, event) {
              const wasLeaving = isLeaving;
              const isModifier = ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key);
              isLeaving = event.key === 'Escape' || (isLeaving && isModifier);
              return wasLeaving && event.key === 'Tab';
            },
          },
        },
      }),
    ];
  },
});
