/** The toolbar's state as an external store. The store notifies only when the toolbar changes, not at every key. */
import type { Editor } from '@tiptap/core';
import { TOUCH_BAR, type ToolbarAction } from './toolbar-actions.ts';

export type ButtonNames = ReadonlySet<string>;

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
