// @vitest-environment happy-dom
/** Tests the editor: its HTML, which the server must store unchanged, and empty logs. */
import { closeHistory } from '@tiptap/pm/history';
import { describe, expect, test } from 'vitest';
import { ENTRY_TAGS } from '#domain/log/entry-html.ts';
import { counts, expectStoredUnchanged, LIST, open, setUpEditor } from '../../../tests/support/journal-editor.ts';
import { BLOCK_ACTIONS, MARK_ACTIONS } from './toolbar/toolbar-actions.ts';

setUpEditor();

describe("the server stores the editor's HTML unchanged", () => {
  test('without control characters and broken surrogates', () => {
    const { editor, read } = open('<p></p>');
    editor.view.dispatch(editor.state.tr.insertText('a\u0007b\u009Bc\u007F\uD800', 1));
    expectStoredUnchanged(read());
    expect(read()).toBe('<p>abc\uFFFD</p>');
  });

  test('serialises like ProseMirror', () => {
    const { editor, read } = open(LIST);
    expect(read()).toBe(editor.getHTML());
    expect(read()).toBe(LIST);
  });

  test.each([...MARK_ACTIONS, ...BLOCK_ACTIONS].map((action) => [action.label, action] as const))(
    'after the button %s',
    (_label, action) => {
      const { editor, read } = open(LIST);
      editor.commands.setTextSelection({ from: 3, to: 6 });
      action.run(editor);
      const applied = read();
      expectStoredUnchanged(applied);
      expect(applied).toBe(editor.getHTML());
      if (action.name !== 'orderedList') {
        expect(applied).not.toBe(LIST);
        expect(action.isActive!(editor)).toBe(true);
      }
      action.run(editor);
      expectStoredUnchanged(read());
    },
  );

  test('round-trips every format together', () => {
    const everything =
      '<h1>One</h1><h2>Two</h2><h3>Three</h3><p>a &amp; b &lt;c&gt; "d"\u00a0e <strong>f<em>g<u>h<s>i</s></u></em></strong> <code>j &amp; k</code><br>l</p>' +
      '<ol start="7"><li><p>m</p><ul><li><p>n</p><ol><li><p>o</p></li></ol></li></ul></li></ol>' +
      '<blockquote><p>p</p><p>q</p></blockquote><pre><code>if (a &lt; b) {\n  c();\n}</code></pre><p></p>';
    const stored = everything.replace('\u00a0', '&nbsp;');
    const { read, editor } = open(stored);
    expect(read()).toBe(stored);
    expect(read()).toBe(editor.getHTML());
    expectStoredUnchanged(stored);
  });

  test('the schema has exactly the elements of the allow-list', () => {
    const { schema } = open('').editor;
    const blocks = [
      'blockquote',
      'bulletList',
      'codeBlock',
      'doc',
      'hardBreak',
      'heading',
      'listItem',
      'orderedList',
      'paragraph',
      'text',
    ];
    const names = [...Object.keys(schema.nodes), ...Object.keys(schema.marks)].sort();
    expect(names).toEqual([...blocks, 'bold', 'code', 'italic', 'strike', 'underline'].sort());
    for (const tag of ENTRY_TAGS) {
      const inner =
        tag === 'ol' || tag === 'ul'
          ? `<${tag}><li><p>x</p></li></${tag}>`
          : tag === 'li'
            ? `<ol><li><p>x</p></li></ol>`
            : `<${tag}>x</${tag}>`;
      const html = tag === 'br' ? '<p>a<br>b</p>' : inner;
      const { read, editor } = open(html);
      expect(read(), tag).toContain(tag === 'br' ? '<br>' : `<${tag}>`);
      editor.destroy();
    }
  });

  test('keeps runs of spaces and ignores white space between tags', () => {
    expect(open('<p>a  b</p>\n<p>c</p>').read()).toBe('<p>a  b</p><p>c</p>');
  });
});

describe('an empty log', () => {
  test('is a numbered list, and opening it is not an edit', () => {
    expect(open('').read()).toBe('<ol><li><p></p></li></ol>');
    expect(counts.edits).toBe(0);
  });

  test('becomes a numbered list again after everything is deleted', () => {
    const { editor, read } = open(LIST);
    editor.chain().selectAll().deleteSelection().run();
    expect(read()).toBe('<ol><li><p></p></li></ol>');
    editor.commands.insertContent('again');
    expect(read()).toBe('<ol><li><p>again</p></li></ol>');
  });

  test('becomes the previous log again by one undo', () => {
    const { editor, read } = open(LIST);
    editor.chain().selectAll().deleteSelection().run();
    editor.commands.undo();
    expect(read()).toBe(LIST);
  });

  test('stays a paragraph when undo or redo brings that paragraph back, and every later step follows', () => {
    const { editor, read } = open(LIST);
    const edits = [
      () => editor.chain().selectAll().deleteSelection().run(),
      () => editor.chain().setTextSelection(3).liftListItem('listItem').run(),
      () => editor.commands.insertContent('one'),
      () => editor.commands.toggleBulletList(),
    ];
    const states = [read()];
    for (const edit of edits) {
      edit();
      editor.view.dispatch(closeHistory(editor.state.tr));
      states.push(read());
    }
    expect(states[2]).toBe('<p></p>');
    const redone = states.slice(1);
    const undone = states.slice(0, -1).toReversed();
    expect(undone.map(() => (editor.commands.undo(), read()))).toEqual(undone);
    expect(redone.map(() => (editor.commands.redo(), read()))).toEqual(redone);
  });

  test.each(['<ol><li><p></p></li></ol>', '<h1></h1>', '<blockquote><p></p></blockquote>'])(
    'has its blocks again after undo with all text selected: %s',
    (empty) => {
      const { editor, read } = open(empty);
      editor.commands.insertContent('all of it');
      const typed = read();
      editor.commands.setTextSelection({ from: 0, to: editor.state.doc.content.size });
      editor.commands.undo();
      expect(read()).toBe(empty);
      editor.commands.redo();
      expect(read()).toBe(typed);
    },
  );

  test('gets no trailing empty paragraph from an edit', () => {
    const { editor, read } = open(LIST);
    editor.commands.insertContentAt(6, '!');
    expect(read()).toBe('<ol><li><p>one! two</p></li><li><p>three</p></li></ol>');
    expect(counts.edits).toBe(1);
  });
});

describe('with all text selected', () => {
  test.each([LIST, '<h1>Title</h1><p>a</p>', '<ul><li><p>a</p></li></ul>', ''])(
    'typing begins a numbered list: %s',
    (html) => {
      const { editor, read } = open(html);
      editor.commands.selectAll();
      editor.view.dispatch(editor.state.tr.insertText('n'));
      expect(read()).toBe('<ol><li><p>n</p></li></ol>');
      editor.view.dispatch(editor.state.tr.insertText('ew'));
      expect(read()).toBe('<ol><li><p>new</p></li></ol>');
      editor.commands.undo();
      expect(read()).toBe(html || '<ol><li><p></p></li></ol>');
    },
  );

  test('pasted lines become items', () => {
    const { editor, read } = open(LIST);
    editor.commands.selectAll();
    editor.view.pasteText('one\ntwo');
    expect(read()).toBe('<ol><li><p>one</p></li><li><p>two</p></li></ol>');
  });

  test('a button of the toolbar still takes the items out of the list', () => {
    const { editor, read } = open(LIST);
    editor.commands.selectAll();
    editor.commands.toggleOrderedList();
    expect(read()).toBe('<p>one two</p><p>three</p>');
  });

  test('text from another device stays as it arrived', () => {
    const handle = open(LIST);
    handle.editor.commands.selectAll();
    handle.replace('<p>elsewhere</p>', { isUndoable: false, mapPosition: null });
    expect(handle.read()).toBe('<p>elsewhere</p>');
  });
});

test.each([
  ['with the small letter of a Mac and Caps Lock', { key: 'z', keyCode: 90, shiftKey: true }],
  ['with a capital letter', { key: 'Z', keyCode: 90, shiftKey: true }],
  ['with Ctrl+Y', { key: 'y', keyCode: 89 }],
])('redo %s brings one step back and changes nothing without a step to redo', (_keys, key) => {
  const { editor, read } = open(LIST);
  editor.commands.insertContentAt(6, '!');
  const edited = read();
  const redo = () => editor.view.dom.dispatchEvent(new KeyboardEvent('keydown', { ...key, ctrlKey: true }));
  redo();
  expect(read()).toBe(edited);
  editor.commands.undo();
  expect(read()).toBe(LIST);
  redo();
  expect(read()).toBe(edited);
  redo();
  expect(read()).toBe(edited);
});

test.each([
  '<p>a</p><table><tbody><tr><td>b</td></tr></tbody></table>',
  '<p><a href="https://example.com">a</a></p>',
  '<hr>',
])('refuses a log with unknown content instead of dropping it: %s', (html) => {
  expect(() => open(html)).toThrow('refused');
});
