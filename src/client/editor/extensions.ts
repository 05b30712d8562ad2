/** The editor's extensions, chosen so that its schema equals the allow-list of `#domain/log/entry-html.ts`. */
import type { AnyExtension } from '@tiptap/core';
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
import { emptyLog } from './empty-log.ts';
import { followCaret } from './caret/follow-caret.ts';
import { inputRules } from './input-rules.ts';
import { MARKS } from './marks.ts';
import { keyboardExit } from './keyboard-exit.ts';
import { blockFormatsInList } from './split-list.ts';
import { deferredPlugins } from './load-deferred-plugins.ts';

function startOf(list: HTMLElement): number {
  const start = list.getAttribute('start') ?? '';
  return LIST_START.test(start) ? Number(start) : 1;
}

/** Without the `type` attribute, because a log numbers 1, 2, 3, and without TipTap's paste handling: see `paste.ts`. */
const NumberedList = OrderedList.extend({
  addAttributes: () => ({ start: { default: 1, parseHTML: startOf } }),
  addProseMirrorPlugins: () => [],
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
const PlainCodeBlock = CodeBlock.extend({
  addAttributes: () => ({}),
  renderHTML: () => ['pre', ['code', 0]],
});

/**
 * Its redo keys are handled even without a step to redo. Otherwise ProseMirror would try the same key without Shift, which
 * is undo on a Mac and with Caps Lock, where the key of Shift+Z is a small letter.
 */
const JournalUndoRedo = UndoRedo.extend({
  addOptions() {
    return { depth: UNDO_DEPTH, newGroupDelay: UNDO_GROUP_DELAY_MS };
  },
  addKeyboardShortcuts() {
    const undo = () => this.editor.commands.undo();
    const redo = () => this.editor.commands.redo() || true;
    return { 'Mod-z': undo, 'Shift-Mod-z': redo, 'Mod-y': redo, 'Mod-я': undo, 'Shift-Mod-я': redo };
  },
});

/**
 * No Link, because logs store no links, and no TrailingNode, which would store an empty paragraph after every list.
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
    BulletList,
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
