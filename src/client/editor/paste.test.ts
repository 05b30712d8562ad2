// @vitest-environment happy-dom
import { Fragment, Slice } from '@tiptap/pm/model';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectStoredUnchanged, open, setUpEditor } from '../../../tests/support/journal-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';
import { loadMarkdownParser, paragraphsToItems, pasteClipboard, pasteText, textToSlice } from './paste.ts';

setUpEditor();

describe('pasting', () => {
  const paste = (html: string, at: number, text: string): string => {
    const { editor, read } = open(html);
    editor.commands.setTextSelection(at);
    pasteText(editor.view, text);
    return read();
  };
  const items = (...texts: string[]) => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;

  test('turns lines into items in an empty log', () => {
    expect(paste('', 3, 'a\nb\n\nc')).toBe(items('a', 'b', 'c'));
  });

  test('splits an item around lines pasted into its middle', () => {
    expect(paste(items('onetwo', 'z'), 6, 'a\nb')).toBe(items('onea', 'btwo', 'z'));
  });

  test('inserts a single line with its marker into a sentence', () => {
    expect(paste(items('one '), 7, '- a')).toBe(items('one - a'));
    expect(paste('', 3, '- a')).toBe(items('a'));
  });

  test('keeps nested lists nested', () => {
    expect(paste('', 3, '1. a\n  - b\n2. c')).toBe(
      '<ol><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ol>',
    );
  });

  test('turns plain lines into paragraphs in prose and keeps a list', () => {
    expect(paste('<p></p>', 1, 'a\nb')).toBe('<p>a</p><p>b</p>');
    expect(paste('<p></p>', 1, '- a\n- b')).toBe('<ul><li><p>a</p></li><li><p>b</p></li></ul>');
  });

  test('keeps the numbers of a list, in an empty log and in a list', () => {
    const numbered = `<ol start="21">${items('November', 'December').slice(4)}`;
    expect(paste('', 3, '21. November\n22. December')).toBe(numbered);
    expect(paste(items('a', 'b'), 4, '21. November\n22. December')).toBe(
      `${items('a')}${numbered}<ol start="2"><li><p>b</p></li></ol>`,
    );
  });

  test('keeps the beginning of a sentence', () => {
    for (const text of ['21. November', 'e. coli', '— Hola', '- 5 °C']) expect(paste('', 3, text)).toBe(items(text));
  });

  test('prefers the plain text beside HTML without structure, if it shows the same', () => {
    const lines = 'Plan:\n - a\n - b';
    const html = `<div style="white-space: pre-wrap;"><span>${lines}</span></div>`;
    const pasteBoth = (text: string, source = html): string => {
      const { editor, read } = open('<p></p>');
      pasteClipboard(editor.view, { html: source, text, hasFiles: false });
      return read();
    };
    expect(pasteBoth(lines)).toBe('<p>Plan:</p><ul><li><p>a</p></li><li><p>b</p></li></ul>');
    expect(pasteBoth('Plan:\nother')).toBe('<p>Plan:<br> - a<br> - b</p>');
    expect(pasteBoth('')).toBe('<p>Plan:<br> - a<br> - b</p>');
    expect(pasteBoth('$\nls', '<div><div style="display: inline">$</div> ls</div>')).toBe('<p>$ ls</p>');
  });

  test('turns paragraphs of another program into items', () => {
    const { editor, read } = open('');
    editor.commands.setTextSelection(3);
    const { schema } = editor;
    const paragraphs = ['a', 'b'].map((text) => schema.nodes['paragraph']!.create(null, schema.text(text)));
    const pasted = new Slice(Fragment.from(paragraphs), 1, 1);
    const slice = paragraphsToItems(pasted, editor.state.selection.$from);
    editor.view.dispatch(editor.state.tr.replaceSelection(slice));
    expect(read()).toBe(items('a', 'b'));
  });

  test('produces HTML that the server stores unchanged', () => {
    for (const text of ['a\tb\n<script>x</script>', '- [ ] a\n\t- b\n\t\t- c\n- d', '\u202eabc\nעברית\ne\u0301'])
      expectStoredUnchanged(paste('', 3, text));
  });
});

describe('pasting Markdown', () => {
  beforeAll(loadMarkdownParser);
  const items = (...texts: string[]) => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;
  const pasteInto = (html: string, at: number, text: string): JournalEditorHandle => {
    const handle = open(html);
    handle.editor.commands.setTextSelection(at);
    pasteText(handle.editor.view, text);
    expectStoredUnchanged(handle.read());
    return handle;
  };

  test.each([
    ['**a** and *b*', items('<strong>a</strong> and <em>b</em>')],
    ['1. **a**\n2. b', items('<strong>a</strong>', 'b')],
    ['**a**\nb', items('<strong>a</strong>', 'b')],
    ['# A\n\n- b\n- c', '<h1>A</h1><ul><li><p>b</p></li><li><p>c</p></li></ul>'],
    ['Run:\n\n```\nnpm ci\n```', '<p>Run:</p><pre><code>npm ci</code></pre>'],
    ['- a **b**\n  ```\n  c\n  ```', '<ol><li><p>a <strong>b</strong></p><pre><code>c</code></pre></li></ol>'],
  ])('into an empty log: %j', (text, html) => {
    expect(pasteInto('', 3, text).read()).toBe(html);
  });

  test('splits the list at a heading and continues its numbers below', () => {
    expect(pasteInto(items('a', 'b', 'c'), 9, '# T\n\nx').read()).toBe(
      `${items('a', 'b')}<h1>T</h1><p>x</p><ol start="3"><li><p>c</p></li></ol>`,
    );
    expect(pasteInto(items('ab', 'c'), 4, '# T').read()).toBe(
      `${items('a')}<h1>T</h1><ol start="2"><li><p>b</p></li><li><p>c</p></li></ol>`,
    );
  });

  test('lifts the children of a nested item that a quote splits', () => {
    const nested =
      '<ol><li><p>a</p><ul><li><p>bc</p><ul><li><p>d</p></li></ul></li><li><p>e</p></li></ul></li><li><p>f</p></li></ol>';
    expect(pasteInto(nested, 9, '> **Q**').read()).toBe(
      '<ol><li><p>a</p><ul><li><p>b</p></li></ul></li></ol><blockquote><p><strong>Q</strong></p></blockquote>' +
        '<ol start="2"><li><p>c</p><ul><li><p>d</p></li></ul></li><li><p>e</p></li><li><p>f</p></li></ol>',
    );
  });

  test('is one undo step, also between two keystrokes', () => {
    const { editor, read } = open('');
    editor.commands.setTextSelection(3);
    editor.commands.insertContent('typed ');
    const before = read();
    pasteText(editor.view, '# T\n\n**b**');
    const pasted = read();
    expect(pasted).not.toBe(before);
    editor.commands.insertContent('!');
    editor.commands.undo();
    expect(read()).toBe(pasted);
    editor.commands.undo();
    expect(read()).toBe(before);
  });

  test('is literal with Shift or inside code', () => {
    const { editor } = open('');
    const slice = textToSlice('# T\n**b**', editor.state.doc.resolve(3), true);
    expect(slice.content.textBetween(0, slice.content.size, '\n')).toBe('# T\n**b**');
    expect(pasteInto('<pre><code></code></pre>', 1, '# T\n**b**').read()).toBe('<pre><code># T\n**b**</code></pre>');
    expect(pasteInto('<pre><code></code></pre>', 1, 'a\u2028b\u0007').read()).toBe('<pre><code>a\nb</code></pre>');
  });

  test('turns a table of another program into lines', () => {
    const handle = open('');
    handle.editor.commands.setTextSelection(3);
    handle.editor.view.pasteHTML('<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>');
    expect(handle.read()).toBe(items('a · b', 'c · d'));
  });

  test.each([
    ['words', '<span>new</span>', 'new'],
    ['a link', '<a href="https://example.com">new</a>', 'new (https://example.com)'],
    ['formatted words and a line break', '<b>new</b> words<br>below', '<strong>new</strong> words<br>below'],
  ])('%s copied from within a paragraph stay in the line of the caret', (_what, html, pasted) => {
    const handle = open(items('one', 'midword'));
    handle.editor.commands.setTextSelection(13);
    handle.editor.view.pasteHTML(html);
    expect(handle.read()).toBe(items('one', `mid${pasted}word`));
  });
});
