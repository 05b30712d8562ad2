// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createJournalEditor, type JournalEditorHandle } from '../create-editor.ts';
import { createToolbarState } from './toolbar-actions.ts';

let handle: JournalEditorHandle;

beforeEach(() => {
  handle = createJournalEditor({
    element: document.body.appendChild(document.createElement('div')),
    html: '<ol><li><p>words to select</p></li></ol>',
    label: 'Log',
    className: 'log',
    placeholder: () => '',
    autofocus: true,
    onEdit: () => {},
    onUnreadable: () => {},
  })!;
});
afterEach(() => handle.editor.destroy());

test('shows the toolbar for text that was selected before the toolbar loaded', () => {
  handle.editor.commands.selectAll();
  const state = createToolbarState(handle.editor, false);
  const unsubscribe = state.subscribe(() => {});
  expect(state.pressed()).toEqual(new Set(['orderedList']));
  unsubscribe();
});

test('shows the bar of a touch screen while the editor has the focus, and nothing for a caret elsewhere', () => {
  const shown = (always: boolean): boolean => {
    const state = createToolbarState(handle.editor, always);
    state.subscribe(() => {})();
    return state.pressed() !== null;
  };
  expect([shown(true), shown(false)]).toEqual([true, false]);
});
