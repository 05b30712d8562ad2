// @vitest-environment happy-dom
/** Tests typed Markdown, and the Backspace and undo that give the typed characters back. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { expectStoredUnchanged, open, pressKey, setUpEditor, typeAt } from '../../../tests/support/journal-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';

setUpEditor();

const item = (html: string): string => `<ol><li><p>${html}</p></li></ol>`;

const CONVERSIONS = [
  [item(''), 3, '**bold**', item('<strong>bold</strong>')],
  [item(''), 3, 'an *it*', item('an <em>it</em>')],
  [item(''), 3, '***both***', item('<strong><em>both</em></strong>')],
  [item(''), 3, '~~no~~', item('<s>no</s>')],
  [item(''), 3, '`npm ci`', item('<code>npm ci</code>')],
  [item('a<br>'), 5, '*it*', item('a<br><em>it</em>')],
  [item('see <code>*p</code> '), 10, '*it*', item('see <code>*p</code> <em>it</em>')],
  [item('<code>x</code> and '), 9, '**y**', item('<code>x</code> and <strong>y</strong>')],
  ['<p></p>', 1, '- ', '<ul><li><p></p></li></ul>'],
  ['<p></p>', 1, '12. ', '<ol start="12"><li><p></p></li></ol>'],
  ['<p></p>', 1, '## ', '<h2></h2>'],
  ['<p></p>', 1, '> ', '<blockquote><p></p></blockquote>'],
  ['<p></p>', 1, '``` ', '<pre><code></code></pre>'],
  [item(''), 3, '# ', '<h1></h1>'],
  ['<ul><li><p>a</p></li></ul><p>b</p>', 8, '- ', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
  ['<ol><li><p>a</p></li></ol><p>b</p>', 8, '2. ', '<ol><li><p>a</p></li><li><p>b</p></li></ol>'],
  ['<ol><li><p>a</p></li></ol><p>b</p>', 8, '3. ', '<ol><li><p>a</p></li></ol><ol start="3"><li><p>b</p></li></ol>'],
] as const;

/** The log after its last key would insert nothing but the character. */
function asTyped(html: string, at: number, typed: string): string {
  const handle = open(html);
  handle.editor.view.dispatch(handle.editor.state.tr.insertText(typed, at));
  const text = handle.read();
  handle.editor.destroy();
  return text;
}

const backspaces: readonly [string, (handle: JournalEditorHandle) => boolean][] = [
  ['the key Backspace', (handle) => pressKey(handle, 'Backspace')],
  ['undo', ({ editor }) => editor.commands.undo()],
  [
    'the Backspace of a phone',
    ({ editor: { view } }) => {
      const event = new InputEvent('beforeinput', { inputType: 'deleteContentBackward', cancelable: true });
      view.dom.dispatchEvent(event);
      return event.defaultPrevented;
    },
  ],
];

describe.each(CONVERSIONS)('in %j at %d, %j', (html, at, typed, result) => {
  test('becomes formatting', () => {
    const handle = open(html);
    typeAt(handle, at, typed);
    expect(handle.read()).toBe(result);
    expectStoredUnchanged(result);
  });

  test.each(backspaces)('%s gives the typed characters back, and more typing keeps them', (_name, goBack) => {
    const handle = open(html);
    typeAt(handle, at, typed);
    expect(goBack(handle)).toBe(true);
    expect(handle.read()).toBe(asTyped(html, at, typed));
    const caret = at + typed.length;
    expect(handle.editor.state.selection).toMatchObject({ from: caret, to: caret });
    typeAt(handle, caret, 'x y');
    expect(handle.read()).toBe(asTyped(html, at, `${typed}x y`));
  });
});

/** The Backspace of an input method that changes the page without an event that names it. */
function deleteUnasked({ editor: { view } }: JournalEditorHandle): void {
  const { to } = view.state.selection;
  view.dispatch(view.state.tr.delete(to - 1, to));
}

test.each(CONVERSIONS.filter(([, , typed]) => !typed.endsWith(' ')))(
  'undo after the Backspace of a phone passes only through texts that were on the page: %j at %d, %j',
  (html, at, typed, result) => {
    for (const pauseMs of [0, 2_000]) {
      const handle = open(html);
      typeAt(handle, at, typed);
      vi.setSystemTime(Date.now() + pauseMs);
      deleteUnasked(handle);
      expect(handle.read()).toBe(asTyped(html, at, typed));
      const undone: string[] = [];
      while (handle.editor.commands.undo()) undone.push(handle.read());
      expect(undone).toEqual([result, asTyped(html, at, typed), html]);
      const redone: string[] = [];
      while (handle.editor.commands.redo() && redone.length < 5) redone.push(handle.read());
      expect(redone.at(-1)).toBe(asTyped(html, at, typed));
      handle.editor.destroy();
    }
  },
);

test.each([
  '2 * 3 * 4',
  'call __init__ now',
  'rm *.log *.tmp',
  'set _private_name and _id_token',
  '_1_000 rows',
  '2026. A good year',
  '1000. visitor',
  '#1 done',
  '-5 degrees',
])('%j stays as typed, in an item and in a paragraph', (typed) => {
  for (const [html, at] of [
    [item(''), 3],
    ['<p></p>', 1],
  ] as const) {
    const handle = open(html);
    typeAt(handle, at, typed);
    expect(handle.read()).toBe(asTyped(html, at, typed));
    handle.editor.destroy();
  }
});

test('any text stays as typed if Backspace follows every conversion', () => {
  const signs = fc.constantFrom(
    '*',
    '**',
    '_',
    '__',
    '~~',
    '`',
    '```',
    '#',
    '>',
    '-',
    '1',
    '.',
    ' ',
    ' ',
    'a',
    'über',
    '日本',
    '!',
    '/',
  );
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 14 }), (parts) => {
      const typed = parts.join('');
      const handle = open(item(''));
      for (let end = 1; end <= typed.length; end += 1) {
        const before = handle.read();
        typeAt(handle, 3 + end - 1, typed[end - 1]!);
        const { doc } = handle.editor.state;
        if (doc.textContent === typed.slice(0, end)) continue;
        expect(pressKey(handle, 'Backspace'), `${before} and ${typed[end - 1]}`).toBe(true);
      }
      expect(handle.editor.state.doc.textContent).toBe(typed);
      expect(handle.read()).toBe(asTyped(item(''), 3, typed));
      handle.editor.destroy();
    }),
    { numRuns: 60 },
  );
});

test('Backspace deletes as usual once something else was typed, or the caret has moved', () => {
  const handle = open(item(''));
  typeAt(handle, 3, '**bold** x');
  expect(pressKey(handle, 'Backspace')).toBe(false);
  typeAt(handle, 3, '*it*');
  handle.editor.commands.setTextSelection(4);
  expect(pressKey(handle, 'Backspace')).toBe(false);
});

test('Enter converts a code fence only, and Backspace gives the fence back', () => {
  const handle = open('<p>```js</p>');
  handle.editor.commands.setTextSelection(6);
  expect(pressKey(handle, 'Enter')).toBe(true);
  expect(handle.read()).toBe('<pre><code></code></pre>');
  pressKey(handle, 'Backspace');
  expect(handle.read()).toBe('<p>```js</p>');

  const list = open('<p>1.</p>');
  list.editor.commands.setTextSelection(3);
  pressKey(list, 'Enter');
  expect(list.read()).toBe('<p>1.</p><p></p>');
});

test('code stays as typed', () => {
  const block = open('<pre><code></code></pre>');
  typeAt(block, 1, '**x** - ');
  expect(block.read()).toBe('<pre><code>**x** - </code></pre>');
  block.editor.destroy();
  const span = open(item('<code>a b</code>'));
  typeAt(span, 5, '**x**');
  expect(span.read()).toBe(item('<code>a **x**b</code>'));
});

test.each([
  ['gives a composed name its underscores back', '', item('_id_token')],
  ['keeps words that arrived since the composition began', 'new ', item('<em>new id</em>token')],
])('%s', async (_title, arrived, expected) => {
  const handle = open(item(''));
  const { view } = handle.editor;
  typeAt(handle, 3, '_id_');
  view.dom.dispatchEvent(new CompositionEvent('compositionstart'));
  view.dispatch(view.state.tr.insertText('token'));
  if (arrived !== '') view.dispatch(view.state.tr.insertText(arrived, 3));
  view.dom.dispatchEvent(new CompositionEvent('compositionend'));
  // The rule runs in a task of its own.
  await new Promise((resolve) => setTimeout(resolve));
  expect(handle.read()).toBe(expected);
});
