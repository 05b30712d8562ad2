// @vitest-environment happy-dom
/** The editor itself: what it makes is exactly what the server keeps, and an emptied log is a numbered list again. */
import { Fragment, Slice } from '@tiptap/pm/model';
import { afterEach, describe, expect, test } from 'vitest';
import { ENTRY_TAGS, isCleanLog } from '#domain/entry-html.ts';
import { cleanLog } from '#server/data/clean-entry.ts';
import { createJournalEditor } from './create-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';
import { textToSlice, paragraphsToItems } from './paste.ts';
import { BLOCK_ACTIONS, MARK_ACTIONS } from './toolbar-actions.ts';

let made: JournalEditorHandle | null = null;
afterEach(() => made?.editor.destroy());

let edits = 0;
function open(html: string): JournalEditorHandle {
  const element = document.body.appendChild(document.createElement('div'));
  edits = 0;
  made = createJournalEditor({
    element,
    html,
    label: 'Log',
    describedBy: 'help',
    className: 'log',
    autofocus: false,
    onEdit: () => (edits += 1),
  });
  if (!made) throw new Error('the editor refused the log');
  return made;
}

const LIST = '<ol><li><p>one two</p></li><li><p>three</p></li></ol>';

/** What the server would store of it. */
function expectKept(html: string): void {
  expect(isCleanLog(html), html).toBe(true);
  expect(cleanLog(html)).toBe(html);
}

describe('what the editor writes, the server keeps as it is', () => {
  test('its own serialisation is what ProseMirror would write', () => {
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
      expectKept(applied);
      expect(applied).toBe(editor.getHTML());
      if (action.name !== 'orderedList') {
        expect(applied).not.toBe(LIST);
        expect(action.isActive(editor)).toBe(true);
      }
      action.run(editor);
      expectKept(read());
    },
  );

  test('all of it at once, and it reads back the same', () => {
    const everything =
      '<h1>One</h1><h2>Two</h2><h3>Three</h3><p>a &amp; b &lt;c&gt; "d"\u00a0e <strong>f<em>g<u>h<s>i</s></u></em></strong> <code>j &amp; k</code><br>l</p>' +
      '<ol start="7"><li><p>m</p><ul><li><p>n</p><ol><li><p>o</p></li></ol></li></ul></li></ol>' +
      '<blockquote><p>p</p><p>q</p></blockquote><pre><code>if (a &lt; b) {\n  c();\n}</code></pre><p></p>';
    const stored = everything.replace('\u00a0', '&nbsp;');
    const { read, editor } = open(stored);
    expect(read()).toBe(stored);
    expect(read()).toBe(editor.getHTML());
    expectKept(stored);
  });

  test('its schema has the elements of the list and no others', () => {
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

  test('runs of spaces are kept, and space between tags is none', () => {
    expect(open('<p>a  b</p>\n<p>c</p>').read()).toBe('<p>a  b</p><p>c</p>');
  });
});

describe('an empty log', () => {
  test('is a numbered list, and opening it changes nothing', () => {
    expect(open('').read()).toBe('<ol><li><p></p></li></ol>');
    expect(edits).toBe(0);
  });

  test('select all and delete bring the list back', () => {
    const { editor, read } = open(LIST);
    editor.chain().selectAll().deleteSelection().run();
    expect(read()).toBe('<ol><li><p></p></li></ol>');
    editor.commands.insertContent('again');
    expect(read()).toBe('<ol><li><p>again</p></li></ol>');
  });

  test('undo brings the words back in one step', () => {
    const { editor, read } = open(LIST);
    editor.chain().selectAll().deleteSelection().run();
    editor.commands.undo();
    expect(read()).toBe(LIST);
  });

  test('an edit leaves no empty paragraph at the end', () => {
    const { editor, read } = open(LIST);
    editor.commands.insertContentAt(6, '!');
    expect(read()).toBe('<ol><li><p>one! two</p></li><li><p>three</p></li></ol>');
    expect(edits).toBe(1);
  });
});

describe('replacing the text', () => {
  test('is no edit, keeps the caret in its sentence, and can be undone on its own', () => {
    const { editor, read, replace } = open(LIST);
    editor.commands.setTextSelection(7);
    editor.commands.insertContent('X');
    const mine = read();
    const before = edits;
    replace(mine.replace('<li><p>three</p></li>', '<li><p>three</p></li><li><p>four</p></li>'));
    expect(edits).toBe(before);
    expect(editor.state.selection.from).toBe(8);
    expect(read()).toContain('four');
    editor.commands.undo();
    expect(read()).toBe(mine);
    expect(edits).toBe(before + 1);
  });

  test('by nothing starts the list', () => {
    const { read, replace } = open(LIST);
    replace('');
    expect(read()).toBe('<ol><li><p></p></li></ol>');
  });

  test.each([
    ['aa', 'aaa'],
    ['aaa', 'aa'],
    ['abab', 'ab'],
    ['x', 'y'],
  ])('%s by %s', (from, to) => {
    const { read, replace } = open(`<p>${from}</p>`);
    replace(`<p>${to}</p>`);
    expect(read()).toBe(`<p>${to}</p>`);
  });
});

test.each([
  '<p>a</p><table><tbody><tr><td>b</td></tr></tbody></table>',
  '<p><a href="https://example.com">a</a></p>',
  '<hr>',
])('a log with something unknown is refused, not emptied: %s', (html) => {
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

  test('lines into an empty log are items', () => {
    expect(paste('', 3, 'a\nb\n\nc')).toBe(items('a', 'b', 'c'));
  });

  test('lines into the middle of an item split it around them', () => {
    expect(paste(items('onetwo', 'z'), 6, 'a\nb')).toBe(items('onea', 'btwo', 'z'));
  });

  test('one line goes into the sentence, marker and all', () => {
    expect(paste(items('one '), 7, '- a')).toBe(items('one - a'));
    expect(paste('', 3, '- a')).toBe(items('a'));
  });

  test('nested lists stay nested', () => {
    expect(paste('', 3, '1. a\n  - b\n2. c')).toBe(
      '<ol><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ol>',
    );
  });

  test('plain lines into prose are paragraphs, a list stays a list', () => {
    expect(paste('<p></p>', 1, 'a\nb')).toBe('<p>a</p><p>b</p>');
    expect(paste('<p></p>', 1, '- a\n- b')).toBe('<ul><li><p>a</p></li><li><p>b</p></li></ul>');
  });

  test('paragraphs of another program are items too', () => {
    const { editor, read } = open('');
    editor.commands.setTextSelection(3);
    const { schema } = editor;
    const paragraphs = ['a', 'b'].map((text) => schema.nodes['paragraph']!.create(null, schema.text(text)));
    const pasted = new Slice(Fragment.from(paragraphs), 1, 1);
    const slice = paragraphsToItems(pasted, editor.state.selection.$from);
    editor.view.dispatch(editor.state.tr.replaceSelection(slice));
    expect(read()).toBe(items('a', 'b'));
  });

  test('whatever is pasted, the server keeps what comes of it', () => {
    for (const text of ['a\tb\n<script>x</script>', '- [ ] a\n\t- b\n\t\t- c\n- d', '\u202eabc\nעברית\ne\u0301'])
      expectKept(paste('', 3, text));
  });
});
