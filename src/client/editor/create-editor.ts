/** Creates the editor of one day's log, independent of React and of saving. */
import { createDocument, Editor } from '@tiptap/core';
import { closeHistory } from '@tiptap/pm/history';
import { DOMSerializer, type Node, type Schema } from '@tiptap/pm/model';
import { Selection } from '@tiptap/pm/state';
import { EMPTY_LOG_HTML, withoutControls } from '#domain/log/entry-html.ts';
import { journalExtensions } from './extensions.ts';
import { KEYBOARD_HELP_ID } from './editor-keys.ts';
import { loadedDeferredPlugins } from './load-deferred-plugins.ts';
import type { TextPosition } from './replace-blocks.ts';
import { replaceRange } from './replace-range.ts';

export type EditorCallbacks = {
  /** The placeholder of an empty log, read on every draw. */
  placeholder: () => string;
  /** Called on every edit, so it must be cheap. Call `read` only when the text is needed. */
  onEdit: () => void;
  /** The new text of a `replace` has content outside the schema. The editor keeps its old text and must be closed. */
  onUnreadable: () => void;
};

export type EditorOptions = EditorCallbacks & {
  element: HTMLElement;
  /** The log without its date header; an empty string starts an empty numbered list. */
  html: string;
  label: string;
  className: string;
  autofocus: boolean;
};

/** `isUndoable`: undo reverts the change as one step. Otherwise undo skips the change and reverts only typed text. */
type TextChange = { isUndoable: boolean; mapPosition: ((position: TextPosition) => TextPosition) | null };

export type JournalEditorHandle = {
  editor: Editor;
  read: () => string;
  replace: (html: string, change: TextChange) => void;
  isComposing: () => boolean;
  /** Moves the editor and its caret to another element and replaces its callbacks. Not during a composition. */
  moveTo: (element: HTMLElement, callbacks: EditorCallbacks) => void;
  /** Focuses the end of the paragraph at this height of the window; below the text, the end of the log. */
  focusAtHeight: (clientY: number) => void;
};

/** Keeps runs of spaces, but not line breaks between tags. */
const PARSE_OPTIONS = { preserveWhitespace: true } as const;

/** Null if the log has content outside the schema: editing the log would drop it silently. */
export function createJournalEditor(options: EditorOptions): JournalEditorHandle | null {
  let hasUnknownContent = false;
  let callbacks: EditorCallbacks = options;
  const editor = new Editor({
    element: options.element,
    extensions: journalExtensions(() => callbacks.placeholder()),
    content: options.html || EMPTY_LOG_HTML,
    parseOptions: PARSE_OPTIONS,
    enableContentCheck: true,
    onContentError: () => void (hasUnknownContent = true),
    // The content security policy forbids injected stylesheets; log-text.module.css replaces TipTap's.
    injectCSS: false,
    // `paste.ts` and `input-rules.ts` decide which text is Markdown. TipTap's rules also convert ambiguous asterisks.
    enablePasteRules: false,
    enableInputRules: false,
    // TipTap's delete extension diffs the document after every change, for an event that nothing here listens to.
    enableCoreExtensions: { delete: false },
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': options.label,
        'aria-describedby': KEYBOARD_HELP_ID,
        class: options.className,
      },
      handleDOMEvents: { focus: restoreCaret, keydown: readCaret },
    },
    onUpdate: () => callbacks.onEdit(),
  });
  if (hasUnknownContent) {
    editor.destroy();
    return null;
  }
  if (options.autofocus) focusAtEnd(editor);
  const serialise = createSerialiser();
  return {
    editor,
    read: () => serialise(editor.state.doc),
    replace(html, change) {
      if (!replaceText(editor, html, change)) callbacks.onUnreadable();
    },
    isComposing: () => editor.view.composing,
    moveTo(element, owner) {
      callbacks = owner;
      moveKeepingCaret(editor.view.dom, element);
    },
    focusAtHeight: (clientY) => focusAtHeight(editor, clientY),
  };
}

/**
 * When focus is restored, the browser puts the caret at the start. ProseMirror corrects that after 20 ms, and a key in
 * between would insert text there, so correct it at once. A pointer press sets the caret itself.
 */
function restoreCaret(view: Editor['view']): void {
  if (!view.dom.matches(':active')) view.focus();
}

/**
 * Browsers report a moved caret in a later task. A key may come first, and ProseMirror would split or delete at the old
 * caret. This event makes ProseMirror read the caret now.
 */
function readCaret(view: Editor['view']): void {
  if (!view.composing) view.dom.ownerDocument.dispatchEvent(new Event('selectionchange'));
}

/** Synchronous, unlike TipTap's autofocus, which waits for a frame in which a key would be lost. */
function focusAtEnd(editor: Editor): void {
  focusAt(editor, Selection.atEnd(editor.state.doc));
}

function focusAt({ state, view }: Editor, selection: Selection): void {
  view.dispatch(state.tr.setSelection(selection).scrollIntoView());
  view.focus();
}

/** A height above the text focuses the first line: the end of a long log may be out of view. */
function focusAtHeight(editor: Editor, clientY: number): void {
  const { dom } = editor.view;
  const { top, right } = dom.getBoundingClientRect();
  const isBelow = clientY > dom.lastElementChild!.getBoundingClientRect().bottom;
  const position = isBelow ? null : editor.view.posAtCoords({ left: right - 1, top: Math.max(clientY, top + 1) });
  if (!position) return focusAtEnd(editor);
  const at = editor.state.doc.resolve(position.pos);
  const end = at.parent.isTextblock ? at.doc.resolve(at.end()) : at;
  focusAt(editor, Selection.near(end, -1));
}

/**
 * Replaces the text by changing only what differs, so that the caret stays in its sentence. `preventUpdate` suppresses
 * `onEdit`: the user has not edited the text. False if the schema does not know all of the text.
 */
function replaceText({ state, schema, view }: Editor, html: string, { isUndoable, mapPosition }: TextChange): boolean {
  const next = parseKnown(html || EMPTY_LOG_HTML, schema);
  if (!next) return false;
  let transaction = loadedDeferredPlugins()?.replaceBlocks(state, next, mapPosition);
  if (!transaction) replaceRange((transaction = state.tr), state.doc, next, 0);
  if (!transaction.docChanged) return true;
  if (isUndoable) closeHistory(transaction);
  else transaction.setMeta('addToHistory', false);
  view.dispatch(transaction.setMeta('preventUpdate', true));
  return true;
}

function parseKnown(html: string, schema: Schema): Node | null {
  try {
    return createDocument(html, schema, PARSE_OPTIONS, { errorOnInvalidContent: true });
  } catch {
    return null;
  }
}

/**
 * Appends a connected element to another parent in the same document and restores the focus and the selection inside
 * it.
 */
export function moveKeepingCaret(element: HTMLElement, parent: HTMLElement): void {
  const selection = getSelection();
  const { anchorNode, anchorOffset = 0, focusNode, focusOffset = 0 } = selection ?? {};
  const hasFocus = element.contains(document.activeElement);
  // `moveBefore` keeps the focus, so that a phone's keyboard stays open; not every browser has it. Every move resets
  // the selection.
  const { moveBefore }: Partial<HTMLElement> = parent;
  if (moveBefore) moveBefore.call(parent, element, null);
  else parent.append(element);
  if (hasFocus && !element.contains(document.activeElement)) element.focus({ preventScroll: true });
  if (anchorNode && focusNode && element.contains(anchorNode) && element.contains(focusNode))
    selection!.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
}

const WRAPPERS: Record<string, string> = { bulletList: 'ul', listItem: 'li', blockquote: 'blockquote' };

function openingTag(node: Node): string {
  if (node.type.name !== 'orderedList') return `<${WRAPPERS[node.type.name]!}>`;
  const start = node.attrs['start'] as number;
  return start === 1 ? '<ol>' : `<ol start="${start}">`;
}

const closingTag = (node: Node): string => `</${WRAPPERS[node.type.name] ?? 'ol'}>`;

/**
 * Creates the editor's serialiser to HTML. ProseMirror's nodes are immutable and an edit replaces only the nodes on its
 * path, so the HTML of all other nodes is cached: after an edit of a long log, only the changed nodes are serialised.
 */
function createSerialiser(): (document: Node) => string {
  const cache = new WeakMap<Node, string>();

  /** ProseMirror serialises text and marks, because nesting marks is complex. */
  const textBlock = (node: Node): string => {
    const element = DOMSerializer.fromSchema(node.type.schema).serializeNode(node) as HTMLElement;
    // The server strips control characters and lone surrogates, which a broken input method leaves.
    return withoutControls(element.outerHTML).toWellFormed();
  };

  const children = (node: Node): string => {
    let html = '';
    node.forEach((child) => (html += block(child)));
    return html;
  };

  const block = (node: Node): string => {
    let html = cache.get(node);
    if (html === undefined) {
      html = node.isTextblock ? textBlock(node) : openingTag(node) + children(node) + closingTag(node);
      cache.set(node, html);
    }
    return html;
  };

  return children;
}
