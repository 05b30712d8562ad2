// @vitest-environment happy-dom
/** Tests that the editor shows addresses as links, stores them as text and opens them. */
import { closeHistory } from '@tiptap/pm/history';
import { TextSelection } from '@tiptap/pm/state';
import fc from 'fast-check';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { findLinks } from '#domain/log/links.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { createJournalEditor, type JournalEditorHandle } from './create-editor.ts';
import { linkAt } from './link-plugin.ts';
import { loadDeferredPlugins } from './load-deferred-plugins.ts';

beforeAll(loadDeferredPlugins);
let made: JournalEditorHandle | null = null;
afterEach(() => {
  made?.editor.destroy();
  vi.restoreAllMocks();
});

function open(html: string): JournalEditorHandle {
  const element = document.body.appendChild(document.createElement('div'));
  const options = { element, html, label: 'Log', className: 'log', autofocus: false, placeholder: () => '' };
  made = createJournalEditor({ ...options, onEdit: () => {}, onUnreadable: () => {} })!;
  return made;
}

const anchors = ({ editor }: JournalEditorHandle): HTMLAnchorElement[] => [...editor.view.dom.querySelectorAll('a')];

test('shows addresses as links and stores them as text', () => {
  const html = '<ol><li><p>see https://a.example/x.</p></li><li><p>b@c.example</p></li></ol>';
  const handle = open(html);
  expect(anchors(handle).map((link) => [link.textContent, link.getAttribute('href'), link.rel])).toEqual([
    ['https://a.example/x', 'https://a.example/x', 'noopener noreferrer nofollow'],
    ['b@c.example', 'mailto:b@c.example', 'noopener noreferrer nofollow'],
  ]);
  expect(handle.read()).toBe(html);
});

test('turns a typed address into a link without redrawing other blocks', () => {
  const handle = open('<p>https://a.example/x</p><p>go to </p>');
  const [first] = anchors(handle);
  handle.editor.commands.insertContentAt(handle.editor.state.doc.content.size - 1, 'https://b.example/y');
  expect(anchors(handle).map((link) => link.textContent)).toEqual(['https://a.example/x', 'https://b.example/y']);
  expect(anchors(handle)[0]).toBe(first);
});

test('links an address that is partly bold', () => {
  const handle = open('<p>https://a.<strong>example/x</strong></p>');
  expect(new Set(anchors(handle).map((link) => link.getAttribute('href')))).toEqual(new Set(['https://a.example/x']));
});

test('keeps the links equal to those of the text after any edits', () => {
  const words = fc.constantFrom('https://a.example/x', 'b@c.example', ' ', '.', '(', ')', 'word', '://', 'mailto:');
  const edits = fc.record({
    kind: fc.constantFrom('insert', 'delete', 'split', 'undo'),
    at: fc.nat(),
    to: fc.nat(12),
    words,
  });
  fc.assert(
    fc.property(fc.array(edits, { maxLength: 12 }), (list) => {
      const { editor } = open('<ol><li><p>see https://a.example/x.</p></li><li><p>b@c.example</p></li></ol>');
      for (const { kind, at, to, words: text } of list) {
        const { state, view } = editor;
        const from = at % state.doc.content.size;
        const $from = TextSelection.near(state.doc.resolve(from)).$from;
        if (kind === 'insert') view.dispatch(closeHistory(state.tr.insertText(text, $from.pos)));
        else if (kind === 'delete') view.dispatch(state.tr.delete($from.pos, Math.min($from.pos + to, $from.end())));
        else if (kind === 'split') editor.chain().setTextSelection($from.pos).splitListItem('listItem').run();
        else editor.commands.undo();
      }
      const expected: string[] = [];
      editor.state.doc.descendants((node) => {
        if (node.isTextblock) expected.push(...findLinks(node.textContent).map(({ href }) => href));
      });
      expect([...editor.view.dom.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(expected);
      editor.destroy();
    }),
    { numRuns: fuzzBudget(60) },
  );
});

test('offers to open a tapped link beside the editor, also after the editor has moved', () => {
  vi.spyOn(globalThis, 'matchMedia').mockReturnValue({ matches: true } as MediaQueryList);
  const handle = open('<p>https://a.example/x</p>');
  const { view } = handle.editor;
  vi.spyOn(view, 'coordsAtPos').mockReturnValue({ left: 0, right: 0, top: 0, bottom: 0 });
  const place = document.body.appendChild(document.createElement('div'));
  handle.moveTo(place, { placeholder: () => '', onEdit: () => {}, onUnreadable: () => {} });
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, 5)));
  const button = place.querySelector('button');
  expect(button?.hidden).toBe(false);
  expect(button?.getAttribute('aria-label')).toBe('Open link https://a.example/x');
});

test('opens the link at the caret with Alt+Enter, without an opener', () => {
  const { editor } = open('<p>a https://a.example/x b</p>');
  const opened = vi.spyOn(window, 'open').mockReturnValue(null);
  const press = (at: number) => {
    editor.commands.setTextSelection(at);
    const event = new KeyboardEvent('keydown', { key: 'Enter', altKey: true });
    return editor.view.someProp('handleKeyDown', (handle) => handle(editor.view, event)) ?? false;
  };
  press(2);
  expect(opened).not.toHaveBeenCalled();
  expect(linkAt(editor.state)).toBeNull();
  expect(press(8)).toBe(true);
  expect(opened).toHaveBeenCalledExactlyOnceWith('https://a.example/x', '_blank', 'noopener,noreferrer');
});
