/** Makes the editor for one day's log. Knows nothing of React or of saving. */
import { createDocument, Editor } from '@tiptap/core';
import { closeHistory } from '@tiptap/pm/history';
import { Selection } from '@tiptap/pm/state';
import { EMPTY_LOG_HTML } from './stored/empty-log-html.ts';
import { journalExtensions } from './extensions.ts';
import { createSerialiser } from './serialise.ts';

export type EditorOptions = {
  element: HTMLElement;
  /** The log without its date header; an empty text starts the numbered list. */
  html: string;
  label: string;
  describedBy: string;
  className: string;
  /** What an empty log asks, read whenever it is drawn. */
  placeholder: () => string;
  autofocus: boolean;
  /** The user changed the text. Called at every key, so it must be cheap; `read` when the text is needed. */
  onEdit: () => void;
};

export type JournalEditorHandle = {
  editor: Editor;
  read: () => string;
  replace: (html: string) => void;
  isComposing: () => boolean;
  /** Puts the caret at the end of the paragraph at this height of the window; below the text, of the log. */
  writeAt: (clientY: number) => void;
};

/** Runs of spaces are kept, line breaks between tags are not text. */
const PARSE_OPTIONS = { preserveWhitespace: true } as const;

/** Null when the log holds something that the schema does not know: editing it would lose that silently. */
export function createJournalEditor(options: EditorOptions): JournalEditorHandle | null {
  let unknown = false;
  const editor = new Editor({
    element: options.element,
    extensions: journalExtensions(options.placeholder),
    content: options.html || EMPTY_LOG_HTML,
    parseOptions: PARSE_OPTIONS,
    enableContentCheck: true,
    onContentError: () => void (unknown = true),
    // A strict policy allows no injected style sheet; ours is log-text.module.css.
    injectCSS: false,
    // Asterisks and underscores in pasted text are text.
    enablePasteRules: false,
    // Diffs the document after every deletion for an event that nobody here listens to.
    enableCoreExtensions: { delete: false },
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': options.label,
        'aria-describedby': options.describedBy,
        class: options.className,
      },
      handleDOMEvents: { focus: bringCaretBack },
    },
    onUpdate: () => options.onEdit(),
  });
  if (unknown) {
    editor.destroy();
    return null;
  }
  if (options.autofocus) focusAtEnd(editor);
  const serialise = createSerialiser();
  return {
    editor,
    read: () => serialise(editor.state.doc),
    replace: (html) => replaceText(editor, html),
    isComposing: () => editor.view.composing,
    writeAt: (clientY) => writeAt(editor, clientY),
  };
}

/**
 * A browser that gives the focus back puts the caret at the start. ProseMirror corrects that 20 ms later: a key in between
 * would be written there. A pointer says itself where the caret goes.
 */
function bringCaretBack(view: Editor['view']): void {
  if (!view.dom.matches(':active')) view.focus();
}

/** At once, where TipTap's own autofocus waits for a frame: the first key must not fall beside the page. */
function focusAtEnd(editor: Editor): void {
  focusAt(editor, Selection.atEnd(editor.state.doc));
}

function focusAt({ state, view }: Editor, selection: Selection): void {
  view.dispatch(state.tr.setSelection(selection).scrollIntoView());
  view.focus();
}

/** Above the text the first line is meant: the end of a long log would be out of sight. */
function writeAt(editor: Editor, clientY: number): void {
  const { dom } = editor.view;
  const { top, right } = dom.getBoundingClientRect();
  const isBelow = clientY > dom.lastElementChild!.getBoundingClientRect().bottom;
  const beside = isBelow ? null : editor.view.posAtCoords({ left: right - 1, top: Math.max(clientY, top + 1) });
  if (!beside) return focusAtEnd(editor);
  const at = editor.state.doc.resolve(beside.pos);
  const end = at.parent.isTextblock ? at.doc.resolve(at.end()) : at;
  focusAt(editor, Selection.near(end, -1));
}

/**
 * Puts another version in by changing only what differs, so that the caret stays where its sentence stays, and as one
 * step of its own, so that undo brings the old version back. `preventUpdate`: this is no edit of the user's.
 */
function replaceText(editor: Editor, html: string): void {
  const { doc, tr } = editor.state;
  const next = createDocument(html || EMPTY_LOG_HTML, editor.schema, PARSE_OPTIONS);
  const start = doc.content.findDiffStart(next.content);
  const end = doc.content.findDiffEnd(next.content);
  if (start === null || end === null) return;
  // Where the same words stand twice, the two ends may meet before the start.
  const overlap = Math.max(0, start - Math.min(end.a, end.b));
  tr.replace(start, end.a + overlap, next.slice(start, end.b + overlap));
  editor.view.dispatch(closeHistory(tr).setMeta('preventUpdate', true));
}
