// @vitest-environment happy-dom
import { closeHistory } from '@tiptap/pm/history';
import { expect, test, vi } from 'vitest';
import type { JournalEditorHandle } from './create-editor.ts';
import { open, pressKey, setUpEditor } from '../../../tests/support/journal-editor.ts';
import { EDITOR_KEYS, KEYBOARD_HELP, withEditorKey } from './editor-keys.ts';
import { BLOCK_ACTIONS, MARK_ACTIONS } from './toolbar/toolbar-actions.ts';

setUpEditor();

test('every button of the toolbar names its key', () => {
  expect([...MARK_ACTIONS, ...BLOCK_ACTIONS].map(({ label, name }) => withEditorKey(label, name))).toEqual([
    'Bold (Ctrl+B)',
    'Italic (Ctrl+I)',
    'Underline (Ctrl+U)',
    'Strikethrough (Ctrl+Shift+S)',
    'Code (Ctrl+E)',
    'Numbered list (Ctrl+Shift+7)',
    'Bullet list (Ctrl+Shift+8)',
    'Heading 1 (Ctrl+Alt+1)',
    'Heading 2 (Ctrl+Alt+2)',
    'Heading 3 (Ctrl+Alt+3)',
    'Quote (Ctrl+Shift+B)',
    'Code block (Ctrl+Alt+C)',
  ]);
});

test('the description for screen readers names the keys of the toolbar and of links', () => {
  expect(KEYBOARD_HELP).toContain('Alt+F10 opens the toolbar, Alt+Enter the link at the caret.');
});

/** A list in a list, with the caret in a link, after three edits, one of them undone: every key has something to do. */
function openForAllKeys(): JournalEditorHandle {
  const handle = open(
    '<ol><li><p>all</p><ol><li><p>one</p></li><li><p>https://example.com</p></li><li><p>six</p></li></ol></li></ol>',
  );
  const { editor } = handle;
  for (const letter of 'abc') {
    editor.commands.insertContentAt(3, letter);
    editor.view.dispatch(closeHistory(editor.state.tr));
  }
  editor.commands.undo();
  editor.state.doc.descendants((node, position) => {
    if (node.text?.startsWith('https')) editor.commands.setTextSelection(position + 9);
  });
  return handle;
}

/** The toolbar listens itself, and pasting is the browser's. */
const BEYOND_EDITOR = new Set(['toolbar', 'pastePlain']);

const BOUND = Object.entries(EDITOR_KEYS).flatMap(([action, { bind }]) =>
  BEYOND_EDITOR.has(action) ? [] : bind.map((keys) => [action, keys] as const),
);

test.each(BOUND)('the editor handles the key of the action %s: %s', (_action, keys) => {
  vi.stubGlobal('open', vi.fn());
  const names = keys.split('-');
  const key = names.pop()!;
  const modifiers = {
    ctrlKey: names.includes('Mod'),
    altKey: names.includes('Alt'),
    shiftKey: names.includes('Shift'),
  };
  expect(pressKey(openForAllKeys(), key, modifiers)).toBe(true);
});

test('the editor does not handle a key that the table leaves out', () => {
  expect(pressKey(openForAllKeys(), 'j', { ctrlKey: true })).toBe(false);
});
