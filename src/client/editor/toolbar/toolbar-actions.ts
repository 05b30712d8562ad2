/** The actions of the toolbar: marks of the selection, block formats of a line, and what a phone has no key for. */
import type { Editor } from '@tiptap/core';
import { redoDepth, undoDepth } from '@tiptap/pm/history';
import { liftListItem, sinkListItem } from '@tiptap/pm/schema-list';
import Bold from 'lucide-react/icons/letter-b';
import Code from 'lucide-react/icons/code';
import Heading1 from 'lucide-react/icons/heading-1';
import Heading2 from 'lucide-react/icons/heading-2';
import Heading3 from 'lucide-react/icons/heading-3';
import Italic from 'lucide-react/icons/italic';
import List from 'lucide-react/icons/list';
import ListIndentDecrease from 'lucide-react/icons/list-indent-decrease';
import ListIndentIncrease from 'lucide-react/icons/list-indent-increase';
import ListOrdered from 'lucide-react/icons/list-ordered';
import Redo2 from 'lucide-react/icons/redo-2';
import SquareCode from 'lucide-react/icons/square-code';
import Strikethrough from 'lucide-react/icons/strikethrough';
import TextQuote from 'lucide-react/icons/text-quote';
import Underline from 'lucide-react/icons/underline';
import Undo2 from 'lucide-react/icons/undo-2';
import type { LucideIcon } from 'lucide-react';
import { toggleBlockFormat } from '../split-list.ts';

type ToolbarAction = {
  name: string;
  label: string;
  icon: LucideIcon;
  /** Not set for a button without a pressed state, such as Undo. */
  isActive?: (editor: Editor) => boolean;
  /** Not set for a button that always works. */
  isEnabled?: (editor: Editor) => boolean;
  run: (editor: Editor) => void;
};

const mark = (
  name: 'bold' | 'italic' | 'underline' | 'strike' | 'code',
  label: string,
  icon: LucideIcon,
): ToolbarAction => ({
  name,
  label,
  icon,
  isActive: (editor) => editor.isActive(name),
  run: (editor) => void editor.commands.toggleMark(name),
});

const heading = (level: 1 | 2 | 3, icon: LucideIcon): ToolbarAction => ({
  name: `heading${level}`,
  label: `Heading ${level}`,
  icon,
  isActive: (editor) => editor.isActive('heading', { level }),
  run: (editor) => void toggleBlockFormat(editor, 'heading', { level }),
});

export const MARK_ACTIONS: readonly ToolbarAction[] = [
  mark('bold', 'Bold', Bold),
  mark('italic', 'Italic', Italic),
  mark('underline', 'Underline', Underline),
  mark('strike', 'Strikethrough', Strikethrough),
  mark('code', 'Code', Code),
];

export const BLOCK_ACTIONS: readonly ToolbarAction[] = [
  {
    name: 'orderedList',
    label: 'Numbered list',
    icon: ListOrdered,
    isActive: (editor) => editor.isActive('orderedList'),
    run: (editor) => void editor.commands.toggleOrderedList(),
  },
  {
    name: 'bulletList',
    label: 'Bullet list',
    icon: List,
    isActive: (editor) => editor.isActive('bulletList'),
    run: (editor) => void editor.commands.toggleBulletList(),
  },
  heading(1, Heading1),
  heading(2, Heading2),
  heading(3, Heading3),
  {
    name: 'blockquote',
    label: 'Quote',
    icon: TextQuote,
    isActive: (editor) => editor.isActive('blockquote'),
    run: (editor) => void toggleBlockFormat(editor, 'blockquote'),
  },
  {
    name: 'codeBlock',
    label: 'Code block',
    icon: SquareCode,
    isActive: (editor) => editor.isActive('codeBlock'),
    run: (editor) => void toggleBlockFormat(editor, 'codeBlock'),
  },
];

/** For touch screens, whose keyboard has neither Tab nor Ctrl. */
const TOUCH_ACTIONS: readonly ToolbarAction[] = [
  {
    name: 'indent',
    label: 'Indent',
    icon: ListIndentIncrease,
    isEnabled: ({ schema, state }) => sinkListItem(schema.nodes['listItem']!)(state),
    run: (editor) => void editor.commands.sinkListItem('listItem'),
  },
  {
    name: 'outdent',
    label: 'Outdent',
    icon: ListIndentDecrease,
    isEnabled: ({ schema, state }) => liftListItem(schema.nodes['listItem']!)(state),
    run: (editor) => void editor.commands.liftListItem('listItem'),
  },
  {
    name: 'undo',
    label: 'Undo',
    icon: Undo2,
    isEnabled: ({ state }) => undoDepth(state) > 0,
    run: (editor) => void editor.commands.undo(),
  },
  {
    name: 'redo',
    label: 'Redo',
    icon: Redo2,
    isEnabled: ({ state }) => redoDepth(state) > 0,
    run: (editor) => void editor.commands.redo(),
  },
];

/** The most used first: a narrow screen shows the first ones and scrolls to the others. */
export const TOUCH_BAR: readonly ToolbarAction[] = [...TOUCH_ACTIONS, ...MARK_ACTIONS, ...BLOCK_ACTIONS];

export type ButtonNames = ReadonlySet<string>;

/** The toolbar's state as an external store. The store notifies only when the toolbar changes, not at every key. */
export type ToolbarState = {
  subscribe: (listener: () => void) => () => void;
  /** The pressed buttons, or null while the toolbar is hidden. */
  pressed: () => ButtonNames | null;
  /** The buttons that would change nothing now. */
  disabled: () => ButtonNames;
  /** Alt+F10: shows the toolbar even without a selection. */
  open: () => void;
  /**
   * Escape: hides the floating toolbar until the selection changes. With `always`, the bar stays while the editor has
   * the focus.
   */
  dismiss: () => void;
};

/** `always`: shows the toolbar as long as the editor has the focus, for the bar above a phone's keyboard. */
export function createToolbarState(editor: Editor, always: boolean): ToolbarState {
  const listeners = new Set<() => void>();
  let mode: 'auto' | 'open' | 'dismissed' = 'auto';
  let isPointerDown = false;
  let shown: ButtonNames | null = null;
  let disabled: ButtonNames = new Set();
  let key = '';

  const wantsToShow = (): boolean => {
    if (mode === 'open') return true;
    if (always) return editor.isFocused;
    const { empty, from, to } = editor.state.selection;
    if (empty || mode === 'dismissed' || isPointerDown || !editor.isFocused) return false;
    return editor.state.doc.textBetween(from, Math.min(to, from + 500), ' ').trim() !== '';
  };

  const update = (): void => {
    const isShown = wantsToShow();
    const namesOf = (matches: (action: ToolbarAction) => boolean | undefined): ButtonNames =>
      new Set(isShown ? TOUCH_BAR.filter(matches).map(({ name }) => name) : []);
    const pressed = namesOf((action) => action.isActive?.(editor));
    const blocked = namesOf((action) => action.isEnabled?.(editor) === false);
    const { from, to } = editor.state.selection;
    // The key includes the selection, because the floating toolbar moves with the selection.
    const nextKey = isShown ? `${always ? '' : `${from}-${to}`} ${[...pressed].join()} ${[...blocked].join()}` : '';
    if (nextKey === key && isShown === (shown !== null)) return;
    key = nextKey;
    shown = isShown ? pressed : null;
    disabled = blocked;
    for (const listener of listeners) listener();
  };

  const onSelection = (): void => {
    mode = 'auto';
    update();
  };
  const onPointer = (event: PointerEvent): void => {
    isPointerDown = event.type === 'pointerdown' && editor.view.dom.contains(event.target as Node);
    update();
  };

  const start = (): void => {
    editor.on('selectionUpdate', onSelection);
    editor.on('transaction', update);
    editor.on('focus', update);
    editor.on('blur', update);
    addEventListener('pointerdown', onPointer);
    addEventListener('pointerup', onPointer);
    addEventListener('pointercancel', onPointer);
    // The user may have selected text before the toolbar's chunk had loaded.
    update();
  };
  const stop = (): void => {
    editor.off('selectionUpdate', onSelection);
    editor.off('transaction', update);
    editor.off('focus', update);
    editor.off('blur', update);
    removeEventListener('pointerdown', onPointer);
    removeEventListener('pointerup', onPointer);
    removeEventListener('pointercancel', onPointer);
  };

  return {
    subscribe(listener) {
      if (listeners.size === 0) start();
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stop();
      };
    },
    pressed: () => shown,
    disabled: () => disabled,
    open() {
      mode = 'open';
      update();
    },
    dismiss() {
      mode = 'dismissed';
      update();
    },
  };
}
