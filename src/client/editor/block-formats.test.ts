// @vitest-environment happy-dom
/** Tests headings, quotes and code in a list, by Markdown, button and shortcut. */
import { describe, expect, test } from 'vitest';
import { expectStoredUnchanged, LIST, open, setUpEditor, typeAt } from '../../../tests/support/journal-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';
import { BLOCK_ACTIONS } from './toolbar/toolbar-actions.ts';

setUpEditor();

const cleanText = (html: string): string => html.replace(/<[^>]*>/g, '').replaceAll('&gt;', '>');

describe('typing Markdown in a list', () => {
  test.each([
    ['', 3, '# Title', '<h1>Title</h1>'],
    ['<ol><li><p>a</p></li><li><p></p></li></ol>', 8, '## T', '<ol><li><p>a</p></li></ol><h2>T</h2>'],
    [
      '<ol><li><p>a</p></li><li><p>words</p></li><li><p>c</p></li></ol>',
      8,
      '### ',
      '<ol><li><p>a</p></li></ol><h3>words</h3><ol start="2"><li><p>c</p></li></ol>',
    ],
    [
      '<ol><li><p></p><ol><li><p>b</p></li></ol></li><li><p>c</p></li></ol>',
      3,
      '# T',
      '<h1>T</h1><ol><li><p>b</p></li><li><p>c</p></li></ol>',
    ],
    ['<ul><li><p>a</p><ul><li><p></p></li></ul></li></ul>', 8, '# T', '<ul><li><p>a</p></li></ul><h1>T</h1>'],
    ['<p>a</p><p></p>', 4, '# T', '<p>a</p><h1>T</h1>'],
    ['', 3, '> Q', '<blockquote><p>Q</p></blockquote>'],
    [
      '<ol><li><p>a</p></li><li><p>b</p></li><li><p>c</p></li></ol>',
      8,
      '> ',
      '<ol><li><p>a</p></li></ol><blockquote><p>b</p></blockquote><ol start="2"><li><p>c</p></li></ol>',
    ],
    ['<ol><li><p>a</p></li><li><p></p></li></ol>', 8, '``` x', '<ol><li><p>a</p></li></ol><pre><code>x</code></pre>'],
    ['<ol><li><p>a<br>b</p></li></ol>', 3, '```js ', '<pre><code>a\nb</code></pre>'],
  ])('%j at %d: %j', (html, at, typed, result) => {
    const handle = open(html);
    typeAt(handle, at, typed);
    expect(handle.read()).toBe(result);
    expectStoredUnchanged(handle.read());
    // The last undo but one restores the typed characters, the last one the text before them.
    const undone: string[] = [];
    while (handle.editor.commands.undo()) undone.push(handle.read());
    expect(cleanText(undone.at(-2)!)).toContain(/^[^ ]+ /.exec(typed)![0]);
    expect(undone.at(-1)).toBe(html || '<ol><li><p></p></li></ol>');
  });

  test.each(['#1 and # x', '>5 and > x', '``x and ``` x'])('%s stays text', (typed) => {
    const handle = open('<ol><li><p></p></li></ol>');
    typeAt(handle, 3, typed);
    expect(cleanText(handle.read())).toBe(typed);
    expect(handle.read()).toMatch(/^<ol><li><p>/);
  });
});

describe('the button or shortcut for a heading, a quote or code', () => {
  const press = (handle: JournalEditorHandle, from: number, to: number, name: string): string => {
    handle.editor.commands.setTextSelection({ from, to });
    BLOCK_ACTIONS.find((action) => action.name === name)!.run(handle.editor);
    expectStoredUnchanged(handle.read());
    return handle.read();
  };
  const THREE = '<ol><li><p>one</p></li><li><p>two</p></li><li><p>three</p></li><li><p>four</p></li></ol>';
  const splitWith = (block: string) => `<ol><li><p>one</p></li></ol>${block}<ol start="2"><li><p>four</p></li></ol>`;

  test.each([
    ['heading2', '<h2>two</h2><h2>three</h2>'],
    ['blockquote', '<blockquote><p>two</p><p>three</p></blockquote>'],
    ['codeBlock', '<pre><code>two\nthree</code></pre>'],
  ])('%s splits the list, continues its numbers below and keeps the selection', (name, block) => {
    const handle = open(THREE);
    expect(press(handle, 11, 19, name)).toBe(splitWith(block));
    const { from, to } = handle.editor.state.selection;
    expect(handle.editor.state.doc.textBetween(from, to, ' ').replace('\n', ' ')).toBe('wo th');
    handle.editor.commands.undo();
    expect(handle.read()).toBe(THREE);
  });

  test('lifts the children of a nested item', () => {
    const nested = '<ol><li><p>a</p><ol><li><p>b</p><ol><li><p>c</p></li></ol></li></ol></li><li><p>d</p></li></ol>';
    expect(press(open(nested), 8, 8, 'heading1')).toBe(
      '<ol><li><p>a</p></li></ol><h1>b</h1><ol start="2"><li><p>c</p></li><li><p>d</p></li></ol>',
    );
  });

  test('turns all lines of two lists and a paragraph into headings', () => {
    const handle = open(`${LIST}<p>x</p>`);
    expect(press(handle, 1, handle.editor.state.doc.content.size, 'heading3')).toBe(
      '<h3>one two</h3><h3>three</h3><h3>x</h3>',
    );
  });
});

test.each([
  ['b', {}, '<strong>'],
  ['i', {}, '<em>'],
  ['u', {}, '<u>'],
  ['S', { shiftKey: true }, '<s>'],
  ['e', {}, '<code>'],
  ['2', { altKey: true }, '<h2>'],
  ['*', { shiftKey: true, keyCode: 56 }, '<ul>'],
  ['B', { shiftKey: true }, '<blockquote>'],
  ['c', { altKey: true }, '<pre>'],
])('the shortcut Ctrl+%s with %j works in a numbered list', (key, more, tag) => {
  const { editor, read } = open(LIST);
  editor.commands.setTextSelection({ from: 3, to: 6 });
  const keyCode = key.toUpperCase().charCodeAt(0);
  const event = new KeyboardEvent('keydown', { key, ctrlKey: true, keyCode, ...more });
  editor.view.someProp('handleKeyDown', (handle) => handle(editor.view, event));
  expect(read()).toContain(tag);
  expectStoredUnchanged(read());
});
