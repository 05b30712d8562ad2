// @vitest-environment happy-dom
/** Tests the editor: its HTML, which the server must store unchanged, empty logs, pasting, Markdown and shortcuts. */
import { Fragment, Slice } from '@tiptap/pm/model';
import { Selection } from '@tiptap/pm/state';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ENTRY_TAGS, isCleanLog } from '#domain/log/entry-html.ts';
import { sanitizeLog } from '#server/data/rows/sanitize-log.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { editorLogs } from '../../../tests/support/log-arbitraries.ts';
import { createJournalEditor } from './create-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';
import { loadDeferredPlugins } from './load-deferred-plugins.ts';
import { pasteText, textToSlice, paragraphsToItems } from './paste/paste.ts';
import { BLOCK_ACTIONS, MARK_ACTIONS } from './toolbar/toolbar-actions.ts';

beforeAll(loadDeferredPlugins);
let made: JournalEditorHandle | null = null;
afterEach(() => made?.editor.destroy());

let edits = 0;
let unreadable = 0;
function open(html: string): JournalEditorHandle {
  const element = document.body.appendChild(document.createElement('div'));
  edits = 0;
  unreadable = 0;
  made = createJournalEditor({
    element,
    html,
    label: 'Log',
    className: 'log',
    placeholder: () => 'What have you done today?',
    autofocus: false,
    onEdit: () => (edits += 1),
    onUnreadable: () => (unreadable += 1),
  });
  if (!made) throw new Error('the editor refused the log');
  return made;
}

const LIST = '<ol><li><p>one two</p></li><li><p>three</p></li></ol>';

const cleanText = (html: string): string => html.replace(/<[^>]*>/g, '').replaceAll('&gt;', '>');

function expectStoredUnchanged(html: string): void {
  expect(isCleanLog(html), html).toBe(true);
  expect(sanitizeLog(html)).toBe(html);
}

describe("the server stores the editor's HTML unchanged", () => {
  test('serialises like ProseMirror', () => {
    const { editor, read } = open(LIST);
    expect(read()).toBe(editor.getHTML());
    expect(read()).toBe(LIST);
  });

  test.each([...MARK_ACTIONS, ...BLOCK_ACTIONS].map((action) => [action.label, action] as const))(
    '%s',
    (_label, action) => {
      const { editor, read } = open(LIST);
      editor.commands.setTextSelection({ from: 3, to: 6 });
      action.run(editor);
      const applied = read();
      expectStoredUnchanged(applied);
      expect(applied).toBe(editor.getHTML());
      if (action.name !== 'orderedList') {
        expect(applied).not.toBe(LIST);
        expect(action.isActive(editor)).toBe(true);
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
      expect(open(html).read(), tag).toContain(tag === 'br' ? '<br>' : `<${tag}>`);
      made!.editor.destroy();
    }
  });

  test('keeps runs of spaces and ignores white space between tags', () => {
    expect(open('<p>a  b</p>\n<p>c</p>').read()).toBe('<p>a  b</p><p>c</p>');
  });
});

describe('an empty log', () => {
  test('is a numbered list, and opening it is not an edit', () => {
    expect(open('').read()).toBe('<ol><li><p></p></li></ol>');
    expect(edits).toBe(0);
  });

  test('becomes a numbered list again after everything is deleted', () => {
    const { editor, read } = open(LIST);
    editor.chain().selectAll().deleteSelection().run();
    expect(read()).toBe('<ol><li><p></p></li></ol>');
    editor.commands.insertContent('again');
    expect(read()).toBe('<ol><li><p>again</p></li></ol>');
  });

  test('is restored by one undo', () => {
    const { editor, read } = open(LIST);
    editor.chain().selectAll().deleteSelection().run();
    editor.commands.undo();
    expect(read()).toBe(LIST);
  });

  test('gets no trailing empty paragraph from an edit', () => {
    const { editor, read } = open(LIST);
    editor.commands.insertContentAt(6, '!');
    expect(read()).toBe('<ol><li><p>one! two</p></li><li><p>three</p></li></ol>');
    expect(edits).toBe(1);
  });
});

const CHOSEN = { isUndoable: true, mapPosition: null };
const MERGED = { isUndoable: false, mapPosition: null };

describe('replacing the text', () => {
  test('is not an edit, keeps the caret in its sentence and is a separate undo step', () => {
    const { editor, read, replace } = open(LIST);
    editor.commands.setTextSelection(7);
    editor.commands.insertContent('X');
    const mine = read();
    const before = edits;
    replace(mine.replace('<li><p>three</p></li>', '<li><p>three</p></li><li><p>four</p></li>'), CHOSEN);
    expect(edits).toBe(before);
    expect(editor.state.selection.from).toBe(8);
    expect(read()).toContain('four');
    editor.commands.undo();
    expect(read()).toBe(mine);
    expect(edits).toBe(before + 1);
  });

  test('by a merge keeps the caret and what undo takes back, between two changes from elsewhere', () => {
    const { editor, read, replace } = open(LIST);
    editor.commands.setTextSelection(10);
    editor.commands.insertContent('X');
    const mine = read();
    const merged = mine.replace('<ol>', '<ol><li><p>zero</p></li>').replace('</ol>', '<li><p>four</p></li></ol>');
    const before = edits;
    replace(merged, MERGED);
    expect(read()).toBe(merged);
    expect(edits).toBe(before);
    expect(editor.state.selection.$from.parent.textContent).toContain('X');
    editor.commands.insertContent('Y');
    expect(read()).toBe(merged.replace('X', 'XY'));
    editor.commands.undo();
    editor.commands.undo();
    expect(read()).toBe(merged.replace('X', ''));
    editor.commands.undo();
    expect(read()).toBe(merged.replace('X', ''));
    editor.commands.redo();
    expect(read()).toContain('X');
  });

  test('by a merge that moved the line puts the selection where the merge says', () => {
    const { editor, replace } = open('<ol><li><p>one</p></li><li><p>two</p></li><li><p>three</p></li></ol>');
    editor.commands.setTextSelection({ from: 18, to: 20 });
    expect(editor.state.selection.$from.parent.textContent).toBe('three');
    const [anchor, head] = [editor.state.selection.$from.parentOffset, editor.state.selection.$to.parentOffset];
    replace('<ol><li><p>three</p></li><li><p>one</p></li><li><p>two</p></li></ol>', {
      isUndoable: false,
      mapPosition: ({ line, offset }) => ({ line: line === 2 ? 0 : line + 1, offset }),
    });
    const { $from, $to } = editor.state.selection;
    expect($from.parent.textContent).toBe('three');
    expect([$from.parentOffset, $to.parentOffset]).toEqual([anchor, head]);
  });

  test('between any two logs gives the other log, with a caret inside', () => {
    fc.assert(
      fc.property(editorLogs, editorLogs, fc.nat(200), (from, to, at) => {
        const fresh = open(to);
        const expected = fresh.read();
        fresh.editor.destroy();
        // Excludes the empty log, because the editor turns an emptied log into a list.
        fc.pre(expected !== '<p></p>');
        const { editor, read, replace } = open(from);
        const { doc, tr } = editor.state;
        editor.view.dispatch(tr.setSelection(Selection.near(doc.resolve(Math.min(at, doc.content.size)))));
        replace(to, MERGED);
        expect(read()).toBe(expected);
        editor.state.doc.check();
        editor.destroy();
      }),
      { numRuns: fuzzBudget(60) },
    );
  });

  test('a replaced text with content outside the schema is not taken', () => {
    const { read, replace } = open(LIST);
    replace('<p>a</p><table><tbody><tr><td>cell</td></tr></tbody></table>', MERGED);
    expect(read()).toBe(LIST);
    expect(unreadable).toBe(1);
    replace('<p>b</p>', MERGED);
    expect([read(), unreadable]).toEqual(['<p>b</p>', 1]);
  });

  test('by an empty string starts the list', () => {
    const { read, replace } = open(LIST);
    replace('', CHOSEN);
    expect(read()).toBe('<ol><li><p></p></li></ol>');
  });

  test.each([
    ['aa', 'aaa'],
    ['aaa', 'aa'],
    ['abab', 'ab'],
    ['x', 'y'],
  ])('%s by %s', (from, to) => {
    const { read, replace } = open(`<p>${from}</p>`);
    replace(`<p>${to}</p>`, CHOSEN);
    expect(read()).toBe(`<p>${to}</p>`);
  });
});

test.each([
  '<p>a</p><table><tbody><tr><td>b</td></tr></tbody></table>',
  '<p><a href="https://example.com">a</a></p>',
  '<hr>',
])('refuses a log with unknown content instead of dropping it: %s', (html) => {
  expect(() => open(html)).toThrow('refused');
  made = null;
});

describe('pasting', () => {
  const paste = (html: string, at: number, text: string): string => {
    const { editor, read } = open(html);
    editor.commands.setTextSelection(at);
    const slice = textToSlice(text, editor.state.selection.$from);
    editor.view.dispatch(editor.state.tr.replaceSelection(slice));
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
  });

  test('turns a table of another program into lines', () => {
    const handle = open('');
    handle.editor.commands.setTextSelection(3);
    handle.editor.view.pasteHTML('<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>');
    expect(handle.read()).toBe(items('a · b', 'c · d'));
  });
});

describe('typing Markdown in a list', () => {
  const type = (handle: JournalEditorHandle, at: number, text: string): void => {
    const { view, commands } = handle.editor;
    commands.setTextSelection(at);
    for (const letter of text) {
      const { from, to } = view.state.selection;
      const deflt = () => view.state.tr.insertText(letter, from, to);
      if (!view.someProp('handleTextInput', (handles) => handles(view, from, to, letter, deflt)))
        view.dispatch(deflt());
    }
  };

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
    type(handle, at, typed);
    expect(handle.read()).toBe(result);
    expectStoredUnchanged(handle.read());
    // The first undo restores the typed characters, the second the text before them.
    handle.editor.commands.undo();
    expect(cleanText(handle.read())).toContain(/^[^ ]+ /.exec(typed)![0]);
    handle.editor.commands.undo();
    expect(handle.read()).toBe(html || '<ol><li><p></p></li></ol>');
  });

  test.each(['#1 and # x', '>5 and > x', '``x and ``` x'])('%s stays text', (typed) => {
    const handle = open('<ol><li><p></p></li></ol>');
    type(handle, 3, typed);
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
