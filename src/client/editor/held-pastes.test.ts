// @vitest-environment happy-dom
import { afterEach, describe, expect, test, vi } from 'vitest';
import { open, typeAt } from '../../../tests/support/journal-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';
import { holdPaste, landHeldPastes } from './held-pastes.ts';
import { pasteText } from './paste.ts';

const items = (...texts: string[]) => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;
let handle: JournalEditorHandle;
afterEach(() => handle.editor.destroy());

const type = (text: string): void => typeAt(handle, handle.editor.state.selection.from, text);
const caret = (): number => handle.editor.state.selection.from;
/** A loaded machine loads a chunk slowly. */
const untilRead = (html: string): Promise<void> =>
  vi.waitFor(() => expect(handle.read()).toBe(html), { timeout: 10_000 });

function pasteEvent(data: Record<string, string>): void {
  const clipboardData = { types: Object.keys(data), getData: (kind: string) => data[kind] ?? '' };
  const event = Object.assign(new Event('paste', { bubbles: true, cancelable: true }), { clipboardData });
  handle.editor.view.dom.dispatchEvent(event);
}

// The order of the tests counts: each chunk loads once.
test('pastes before the chunk of pasting stand in front of what is typed meanwhile', async () => {
  handle = open(items('one two'));
  handle.editor.commands.setTextSelection(6);
  pasteEvent({ 'text/plain': ' first' });
  pasteEvent({ 'text/html': '<b>, second</b>', 'text/plain': ', second' });
  type(' typed');
  await untilRead(items('one first<strong>, second</strong> typed two'));
  expect(handle.editor.state.doc.textBetween(0, caret())).toMatch(/ typed$/);
});

test('Markdown before the chunk of its parser stands in front of what is typed meanwhile', async () => {
  handle = open(items('one'));
  handle.editor.commands.setTextSelection(6);
  pasteEvent({ 'text/plain': '**first**' });
  type('typed');
  expect(handle.read()).toBe(items('onetyped'));
  await untilRead(items('one<strong>first</strong>typed'));
});

describe('a held paste', () => {
  const hold = (text: string, at: number | { from: number; to: number }) => {
    handle.editor.commands.setTextSelection(at);
    const { promise, resolve } = Promise.withResolvers<void>();
    holdPaste(handle.editor.view, promise, () => pasteText(handle.editor.view, text));
    return resolve;
  };

  test('replaces the selection of its time, if it is as it was', async () => {
    handle = open(items('one two'));
    const land = hold('new', { from: 3, to: 6 });
    handle.editor.commands.setTextSelection(10);
    land();
    await untilRead(items('new two'));
    expect(caret()).toBe(10);
  });

  test('replaces nothing that was typed over the selection', async () => {
    handle = open(items('one two'));
    const land = hold('new', { from: 3, to: 6 });
    handle.editor.commands.insertContent('typed');
    land();
    await untilRead(items('newtyped two'));
  });

  test('leaves the caret where it has gone, and otherwise behind itself', async () => {
    handle = open(items('one', 'two'));
    hold('new', 6)();
    await untilRead(items('onenew', 'two'));
    expect(caret()).toBe(9);
    const land = hold('er', 9);
    handle.editor.commands.setTextSelection(16);
    land();
    await untilRead(items('onenewer', 'two'));
    expect(caret()).toBe(18);
  });

  test('arrives after earlier ones, whichever is ready first, and each in its item', async () => {
    handle = open(items('a'));
    const first = hold('1', 4);
    const second = hold('2', 4);
    handle.editor.commands.splitListItem('listItem');
    type('b');
    const third = hold('3', handle.editor.state.selection.from);
    third();
    second();
    first();
    await untilRead(items('a12', 'b3'));
  });

  test('waits no longer than a few seconds for its code', async () => {
    vi.useFakeTimers();
    handle = open(items('a'));
    hold('1', 4);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(handle.read()).toBe(items('a'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(handle.read()).toBe(items('a1'));
    vi.useRealTimers();
  });

  test('that fails leaves the caret to what is typed', async () => {
    handle = open(items('one two'));
    const hasFailed = vi.fn(() => {
      throw new Error('broken paste');
    });
    handle.editor.commands.setTextSelection(3);
    holdPaste(handle.editor.view, Promise.resolve(), hasFailed);
    const land = hold('new', 6);
    handle.editor.commands.setTextSelection(10);
    await expect.poll(() => hasFailed).toHaveBeenCalled();
    expect(caret()).toBe(10);
    handle.editor.commands.setTextSelection(6);
    type('typed');
    land();
    await untilRead(items('onenewtyped two'));
  });

  test.each([
    ['its day is left', () => landHeldPastes(handle.editor.view)],
    ['the page is closed', () => void dispatchEvent(new Event('pagehide'))],
    [
      'the page is hidden',
      () => {
        vi.spyOn(document, 'visibilityState', 'get').mockReturnValueOnce('hidden');
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      },
    ],
  ])('arrives at once when %s, and not again', async (_, leave) => {
    handle = open(items('one two'));
    const first = hold('a', 6);
    const second = hold('b', 10);
    leave();
    expect(handle.read()).toBe(items('onea twob'));
    first();
    second();
    hold('c', 2)();
    await untilRead(items('conea twob'));
  });

  test('waits for the end of a composition', async () => {
    handle = open(items('a'));
    const land = hold('1', 4);
    const composing = vi.spyOn(handle.editor.view, 'composing', 'get').mockReturnValue(true);
    land();
    await expect.poll(() => composing).toHaveBeenCalled();
    expect(handle.read()).toBe(items('a'));
    composing.mockReturnValue(false);
    await untilRead(items('a1'));
  });
});
