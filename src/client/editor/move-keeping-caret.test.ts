// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { moveKeepingCaret } from './create-editor.ts';

let editor: HTMLElement;
let target: HTMLElement;
beforeEach(() => {
  document.body.innerHTML = '<div><div id="editor" tabindex="0"><p>words</p></div></div><div id="target"></div>';
  editor = document.getElementById('editor')!;
  target = document.getElementById('target')!;
});
afterEach(() => vi.restoreAllMocks());
const caret = (): (string | number | null)[] => {
  const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection()!;
  return [anchorNode && anchorNode.textContent, anchorOffset, focusNode && focusNode.textContent, focusOffset];
};
/** Resets the selection, as browsers do at every move. */
const moveLike = (parent: HTMLElement, keepsFocus: boolean) => (node: Node) => {
  getSelection()!.removeAllRanges();
  if (!keepsFocus) (document.activeElement as HTMLElement).blur();
  parent.insertBefore(node, null);
};

describe.each([
  ['with moveBefore', true],
  ['without moveBefore', false],
])('%s, a move', (_name, hasMoveBefore) => {
  beforeEach(() => {
    const method = hasMoveBefore ? 'moveBefore' : 'append';
    Object.assign(target, { [method]: moveLike(target, hasMoveBefore) });
  });

  test('keeps the focus and the selection', () => {
    const text = editor.firstChild!.firstChild!;
    editor.focus();
    getSelection()!.setBaseAndExtent(text, 4, text, 1);
    moveKeepingCaret(editor, target);
    expect(editor.parentElement).toBe(target);
    expect(document.activeElement).toBe(editor);
    expect(caret()).toEqual(['words', 4, 'words', 1]);
  });

  test('leaves the focus and the selection of another element alone', () => {
    const other = document.body.appendChild(document.createElement('input'));
    other.focus();
    getSelection()!.setBaseAndExtent(document.body, 0, document.body, 0);
    const setSelection = vi.spyOn(getSelection()!, 'setBaseAndExtent');
    Object.assign(target, { append: (node: Node) => target.insertBefore(node, null), moveBefore: undefined });
    moveKeepingCaret(editor, target);
    expect(document.activeElement).toBe(other);
    expect(setSelection).not.toHaveBeenCalled();
  });
});
