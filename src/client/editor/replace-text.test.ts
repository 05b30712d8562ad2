// @vitest-environment happy-dom
/** Tests `replace`: the text changes from elsewhere while the user writes. */
import { Selection } from '@tiptap/pm/state';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { editorLogs } from '../../../tests/support/log-arbitraries.ts';
import { counts, LIST, open, setUpEditor } from '../../../tests/support/journal-editor.ts';

setUpEditor();

const CHOSEN = { isUndoable: true, mapPosition: null };
const MERGED = { isUndoable: false, mapPosition: null };

describe('replacing the text', () => {
  test('is not an edit, keeps the caret in its sentence and is a separate undo step', () => {
    const { editor, read, replace } = open(LIST);
    editor.commands.setTextSelection(7);
    editor.commands.insertContent('X');
    const mine = read();
    const before = counts.edits;
    replace(mine.replace('<li><p>three</p></li>', '<li><p>three</p></li><li><p>four</p></li>'), CHOSEN);
    expect(counts.edits).toBe(before);
    expect(editor.state.selection.from).toBe(8);
    expect(read()).toContain('four');
    editor.commands.undo();
    expect(read()).toBe(mine);
    expect(counts.edits).toBe(before + 1);
  });

  test('by a merge keeps the caret, and undo reverts only typed text', () => {
    const { editor, read, replace } = open(LIST);
    editor.commands.setTextSelection(10);
    editor.commands.insertContent('X');
    const mine = read();
    const merged = mine.replace('<ol>', '<ol><li><p>zero</p></li>').replace('</ol>', '<li><p>four</p></li></ol>');
    const before = counts.edits;
    replace(merged, MERGED);
    expect(read()).toBe(merged);
    expect(counts.edits).toBe(before);
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

  test('turns any log into any other log', () => {
    fc.assert(
      fc.property(editorLogs, editorLogs, fc.nat(200), (from, to, at) => {
        const fresh = open(to);
        const expected = fresh.read();
        fresh.editor.destroy();
        // Excludes an empty paragraph: the editor opens it unchanged, but turns it into a list when it replaces text.
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

  test('keeps the old text if the new text has content outside the schema', () => {
    const { read, replace } = open(LIST);
    replace('<p>a</p><table><tbody><tr><td>cell</td></tr></tbody></table>', MERGED);
    expect(read()).toBe(LIST);
    expect(counts.unreadable).toBe(1);
    replace('<p>b</p>', MERGED);
    expect([read(), counts.unreadable]).toEqual(['<p>b</p>', 1]);
  });

  test('by an empty string creates an empty numbered list', () => {
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
