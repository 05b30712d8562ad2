// @vitest-environment happy-dom
/** Tests that a key moves the items of the selection. */
import { describe, expect, test } from 'vitest';
import { expectStoredUnchanged, open, setUpEditor } from '../../../tests/support/journal-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';

setUpEditor();

const items = (...texts: string[]): string => texts.map((text) => `<li><p>${text}</p></li>`).join('');
const ABC = `<ol>${items('a', 'b', 'c')}</ol>`;

/** Selects from the first letter of `from` to behind the first letter of `to`. */
function select({ editor }: JournalEditorHandle, from: string, to: string): void {
  const positionOf = (text: string): number => {
    let found = -1;
    editor.state.doc.descendants((node, at) => {
      if (node.isText && node.text!.startsWith(text)) found = at;
    });
    return found;
  };
  editor.commands.setTextSelection({ from: positionOf(from), to: positionOf(to) + 1 });
}

const press = ({ editor }: JournalEditorHandle, key: string): boolean =>
  !editor.view.dom.dispatchEvent(new KeyboardEvent('keydown', { key, altKey: true, bubbles: true, cancelable: true }));

describe('Alt with an arrow key', () => {
  test.each([
    ['moves an item up', ABC, 'b', 'b', 'ArrowUp', `<ol>${items('b', 'a', 'c')}</ol>`],
    ['moves an item down', ABC, 'b', 'b', 'ArrowDown', `<ol>${items('a', 'c', 'b')}</ol>`],
    ['moves all selected items', ABC, 'b', 'c', 'ArrowUp', `<ol>${items('b', 'c', 'a')}</ol>`],
    [
      'moves an item with its nested items',
      `<ol start="4"><li><p>a</p><ul>${items('n', 'o')}</ul></li>${items('b')}</ol>`,
      'a',
      'a',
      'ArrowDown',
      `<ol start="4">${items('b')}<li><p>a</p><ul>${items('n', 'o')}</ul></li></ol>`,
    ],
    [
      'moves a nested item within its list',
      `<ol><li><p>a</p><ul>${items('n', 'o')}</ul></li>${items('b')}</ol>`,
      'o',
      'o',
      'ArrowUp',
      `<ol><li><p>a</p><ul>${items('o', 'n')}</ul></li>${items('b')}</ol>`,
    ],
    ['leaves the first item where it is', ABC, 'a', 'b', 'ArrowUp', ABC],
    ['leaves the last item where it is', ABC, 'c', 'c', 'ArrowDown', ABC],
  ])('%s', (_what, html, from, to, key, result) => {
    const handle = open(html);
    select(handle, from, to);
    expect(press(handle, key), 'the browser does not move the caret').toBe(true);
    expect(handle.read()).toBe(result);
    expectStoredUnchanged(result);
    const { selection, doc } = handle.editor.state;
    expect(doc.textBetween(selection.from, selection.to, ' ')).toMatch(
      new RegExp(`^${from}.*${to === from ? '' : to}$`),
    );
    handle.editor.commands.undo();
    expect(handle.read()).toBe(html);
  });

  test('does nothing outside a list', () => {
    const handle = open('<p>a</p><p>b</p>');
    select(handle, 'b', 'b');
    expect(press(handle, 'ArrowUp')).toBe(false);
    expect(handle.read()).toBe('<p>a</p><p>b</p>');
  });

  test('is a step of undo of its own', () => {
    const handle = open(ABC);
    select(handle, 'c', 'c');
    press(handle, 'ArrowUp');
    press(handle, 'ArrowUp');
    handle.editor.commands.undo();
    expect(handle.read()).toBe(`<ol>${items('a', 'c', 'b')}</ol>`);
  });
});
