/** Opens the editor of the journal in a DOM. */
import { afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { isCleanLog } from '#domain/log/entry-html.ts';
import { createJournalEditor, type JournalEditorHandle } from '#client/editor/create-editor.ts';
import { loadDeferredPlugins } from '#client/editor/load-deferred-plugins.ts';
import { sanitizeLog } from '#server/data/sanitize-log.ts';

let made: JournalEditorHandle | null = null;

/** Call once per file: destroys the editor after each test. */
export function setUpEditor(): void {
  beforeAll(loadDeferredPlugins);
  // The history groups edits by the time between them, and a loaded machine is slow.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => {
    vi.useRealTimers();
    made?.editor.destroy();
    made = null;
  });
}

/** The numbers of edits and unreadable texts that the most recently opened editor has reported. */
export const counts = { edits: 0, unreadable: 0 };

/** @throws Error if the editor refuses the log */
export function open(html: string): JournalEditorHandle {
  const element = document.body.appendChild(document.createElement('div'));
  counts.edits = 0;
  counts.unreadable = 0;
  made = createJournalEditor({
    element,
    html,
    label: 'Log',
    className: 'log',
    placeholder: () => 'What have you done today?',
    autofocus: false,
    onEdit: () => (counts.edits += 1),
    onUnreadable: () => (counts.unreadable += 1),
  });
  if (!made) throw new Error('the editor refused the log');
  return made;
}

export const LIST = '<ol><li><p>one two</p></li><li><p>three</p></li></ol>';

export function expectStoredUnchanged(html: string): void {
  expect(isCleanLog(html), html).toBe(true);
  expect(sanitizeLog(html)).toBe(html);
}

/** Types letter by letter at a position, as the browser's key events do. */
export function typeAt({ editor: { view, commands } }: JournalEditorHandle, at: number, text: string): void {
  commands.setTextSelection(at);
  for (const letter of text) {
    const { from, to } = view.state.selection;
    const insert = () => view.state.tr.insertText(letter, from, to);
    if (!view.someProp('handleTextInput', (handles) => handles(view, from, to, letter, insert)))
      view.dispatch(insert());
  }
}

/** False if no plugin handles the key. */
export function pressKey(
  { editor: { view } }: JournalEditorHandle,
  key: string,
  more: KeyboardEventInit = {},
): boolean {
  const event = new KeyboardEvent('keydown', { key, cancelable: true, ...more });
  return view.someProp('handleKeyDown', (handles) => handles(view, event)) === true;
}
