/** Handles paste and drop: in a list, pasted lines and paragraphs become items. */
import { closeHistory } from '@tiptap/pm/history';
import {
  DOMParser,
  Fragment,
  Slice,
  type Node,
  type ParseOptions,
  type ResolvedPos,
  type Schema,
} from '@tiptap/pm/model';
import { Plugin, Selection, type EditorState, type Transaction } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';
import { looksLikeMarkdown } from '#domain/log/pasted-markdown.ts';
import { normalizeText, textToLog } from '#domain/log/text-to-log.ts';
import { isTooComplex } from '#client/lib/html-to-log/complex-html.ts';
import { htmlToLog } from '#client/lib/html-to-log/html-to-log.ts';
import { parseInert } from '#client/lib/html-to-log/inert-html.ts';
import { holdPaste } from './held-pastes.ts';
import { splitList } from './split-list.ts';
import { ENTRY_TAGS } from '#domain/log/entry-html.ts';

type MarkdownParser = typeof import('#domain/markdown/parse-markdown.ts');
let markdownParser: MarkdownParser | null = null;

/** The parser is a chunk of its own, loaded by the first paste of Markdown. If that fails, lines are pasted. */
export const loadMarkdownParser = (): Promise<void> =>
  import('#domain/markdown/parse-markdown.ts').then(
    (module) => void (markdownParser = module),
    () => {},
  );

const isInList = (at: ResolvedPos, schema: Schema): boolean => {
  for (let depth = at.depth; depth > 0; depth -= 1) if (at.node(depth).type === schema.nodes['listItem']) return true;
  return false;
};

const paragraph = (schema: Schema, text: string): Node =>
  schema.nodes['paragraph']!.create(null, text === '' ? null : schema.text(text));

const isProse = (node: Node): boolean =>
  node.isInline || ['paragraph', 'orderedList', 'bulletList'].includes(node.type.name);

/**
 * Returns a slice whose first and last line merge with the text at the caret if the HTML has only paragraphs and lists.
 * With a heading, quote or code block, all blocks stay whole.
 */
function htmlToSlice(html: string, schema: Schema): Slice {
  const { content } = DOMParser.fromSchema(schema).parse(parseInert(html), { preserveWhitespace: true });
  return content.content.every(isProse) ? Slice.maxOpen(content) : new Slice(content, 0, 0);
}

/**
 * Parses plain text as Markdown if `looksLikeMarkdown` recognises it, otherwise as lines. Several lines become items
 * if they have markers or the caret is in a list, otherwise paragraphs. `plain`: pasted with Shift, so Markdown is
 * literal.
 */
export function textToSlice(source: string, at: ResolvedPos, plain = false): Slice {
  const { schema } = at.doc.type;
  const text = normalizeText(source);
  if (!plain && markdownParser && looksLikeMarkdown(text))
    return htmlToSlice(markdownParser.parseMarkdown(text, { softBreaks: 'keep' }), schema);
  const { html, lines } = textToLog(text);
  if (lines === 0) return new Slice(Fragment.from(text === '' ? [] : [paragraph(schema, ' ')]), 1, 1);
  // In the middle of a sentence "- " is text.
  if (lines === 1 && at.parent.content.size > 0)
    return new Slice(Fragment.from(paragraph(schema, text.replaceAll('\n', ''))), 1, 1);
  return paragraphsToItems(htmlToSlice(html, schema), at);
}

/** Whether the numbers would change if the items joined the list at the caret. */
function hasOwnNumbers({ content }: Slice): boolean {
  const lists = content.content.filter((node) => node.type.name === 'orderedList');
  return lists.length > 1 || lists.some((list) => list.attrs['start'] !== 1);
}

/** Turns several paragraphs pasted into a list item into items. Lists among them keep their items. */
export function paragraphsToItems(slice: Slice, at: ResolvedPos): Slice {
  if (hasOwnNumbers(slice)) return slice;
  const { schema } = at.doc.type;
  const { listItem, orderedList } = schema.nodes;
  const blocks: Node[] = [];
  slice.content.forEach((node) => void blocks.push(node));
  const hasParagraph = blocks.some((node) => node.type.name === 'paragraph');
  if (!blocks.every(isProse) || blocks.length < 2 || !hasParagraph || !isInList(at, schema)) return slice;
  const items = blocks.flatMap((node) => {
    if (node.type.name === 'paragraph') return node.content.size === 0 ? [] : [listItem!.create(null, node)];
    return [...node.children];
  });
  return items.length === 0 ? slice : Slice.maxOpen(Fragment.from(orderedList!.create(null, items)));
}

/** Whether the slice has blocks other than paragraphs and lists. Text copied from inside one heading counts as text. */
const hasBlockFormat = ({ content, openStart }: Slice): boolean =>
  !content.content.every(isProse) && (openStart === 0 || content.childCount > 1);

function isValid(node: Node): boolean {
  try {
    node.check();
    return true;
  } catch {
    return false;
  }
}

/** `isOwn`: copied from a log, whose items join any list. Other lists with numbers of their own split the list. */
function pasteSlice(state: EditorState, slice: Slice, isOwn: boolean): Transaction {
  const { tr } = state;
  const blocks = slice.content.content;
  const splits = hasBlockFormat(slice) || (!isOwn && hasOwnNumbers(slice));
  if (splits && isInList(state.selection.$from, state.schema) && blocks.every(isValid)) {
    tr.deleteSelection();
    const at = tr.selection.from;
    if (splitList(tr, at, at, blocks)) return tr;
  }
  return tr.replaceSelection(slice);
}

/** Pastes as a separate undo step. */
function dispatchPaste(view: EditorView, slice: Slice, isOwn = false): void {
  const tr = pasteSlice(view.state, slice, isOwn).setMeta('paste', true).setMeta('uiEvent', 'paste');
  view.dispatch(closeHistory(tr).scrollIntoView());
  view.dispatch(closeHistory(view.state.tr));
}

/** Pastes plain text without a paste event, for a caller that has prevented the event's default. */
export function pasteText(view: EditorView, text: string): void {
  const { $from } = view.state.selection;
  if ($from.parent.type.spec.code === true) view.pasteText(text);
  else if (isWaitingForParser(text)) pasteOnceLoaded(view, text);
  else pasteLines(view, text);
}

function pasteLines(view: EditorView, text: string): void {
  const { $from } = view.state.selection;
  dispatchPaste(view, paragraphsToItems(textToSlice(text, $from), $from));
}

const isWaitingForParser = (text: string): boolean => markdownParser === null && looksLikeMarkdown(text);

/** Loads the parser for a paste that has waited for this chunk already, so that the paste needn't wait twice. */
export const loadParserFor = async (text: string): Promise<void> => {
  if (isWaitingForParser(text)) await loadMarkdownParser();
};

const pasteOnceLoaded = (view: EditorView, text: string): void =>
  holdPaste(view, loadMarkdownParser(), () => pasteLines(view, text));

/**
 * Returns the HTML unchanged if it was copied from an editor with a log's elements, because ProseMirror reads the
 * slice's open ends from an attribute. Null for other HTML.
 */
function readSliceHtml(source: string): string | null {
  if (!/\sdata-pm-slice=/.test(source) || isTooComplex(source)) return null;
  const body = parseInert(source);
  return [...body.querySelectorAll('*')].every(isLogElement) ? body.innerHTML : null;
}

const LOG_TAGS: ReadonlySet<string> = new Set(ENTRY_TAGS);
const isLogElement = ({ localName, attributes }: Element): boolean =>
  LOG_TAGS.has(localName) && [...attributes].every(({ name }) => name === 'start' || name === 'data-pm-slice');

/**
 * Matches HTML with an element that has a meaning of its own, such as a list. Editors, terminals and chats copy lines
 * of text in other elements. An inline `div` counts as structure, because Firefox breaks the plain text at it.
 */
const STRUCTURED =
  /<(?!(?:html|head|body|meta|style|title|span|div|br|img|wbr)\b)[a-z]|<div\b[^<>]*\bdisplay\s*:\s*inline/i;

/**
 * Whether the plain text beside the HTML says more: the HTML has no structure, and the text has several lines or is
 * Markdown. False if the HTML shows other characters than the text, for example because its emoji are pictures.
 */
function prefersText(html: string, text: string): boolean {
  if (STRUCTURED.test(html) || !(/[\r\n]/.test(text.trim()) || looksLikeMarkdown(text))) return false;
  const shown = parseInert(htmlToLog(html).html).textContent;
  return withoutSpaces(shown) === withoutSpaces(text);
}

const withoutSpaces = (text: string): string => text.replace(/\s|\u200B|\uFE0F/g, '');

export type ClipboardContent = { html: string; text: string; hasFiles: boolean };

export const readClipboard = (data: DataTransfer): ClipboardContent => ({
  html: data.getData('text/html'),
  text: data.getData('text/plain'),
  hasFiles: data.types.includes('Files'),
});

/** Pastes what a caller has read from the clipboard, after it has prevented the event's default. */
export function pasteClipboard(view: EditorView, { html, text, hasFiles }: ClipboardContent): void {
  const isInCode = view.state.selection.$from.parent.type.spec.code === true;
  if (html !== '' && !(isInCode && text !== '') && !prefersText(html, text)) view.pasteHTML(html);
  else if (text !== '') pasteText(view, text);
  else if (hasFiles) reportLeftOut(view, 'files');
}

/** Keeps runs of spaces: the converter has collapsed those that the source collapses. */
class PasteParser extends DOMParser {
  override parseSlice(dom: globalThis.Node, options?: ParseOptions): Slice {
    return super.parseSlice(dom, { ...options, preserveWhitespace: true });
  }
}

export function pastePlugin(schema: Schema): Plugin {
  /** Pasted Markdown that waits for its parser, between the two handlers of a paste. */
  let waiting: string | null = null;
  let isOwn = false;
  return new Plugin({
    props: {
      handleDOMEvents: {
        paste(view, event) {
          const content = event.clipboardData && readClipboard(event.clipboardData);
          if (!content) return false;
          const { html, text } = content;
          const isForEditor = html === '' ? text !== '' : !prefersText(html, text);
          if (isForEditor) return false;
          event.preventDefault();
          pasteClipboard(view, content);
          return true;
        },
        /** Pastes what comes from elsewhere where it is dropped. ProseMirror moves what is dragged within the log. */
        drop(view, event) {
          const content = event.dataTransfer && readClipboard(event.dataTransfer);
          if (!content || view.dragging || (content.html === '' && content.text === '')) return false;
          const place = view.posAtCoords({ left: event.clientX, top: event.clientY });
          if (!place) return false;
          event.preventDefault();
          view.dispatch(view.state.tr.setSelection(Selection.near(view.state.doc.resolve(place.pos))));
          view.focus();
          pasteClipboard(view, content);
          return true;
        },
      },
      transformPastedText: (text) => normalizeText(text),
      clipboardParser: new PasteParser(schema, DOMParser.fromSchema(schema).rules),
      clipboardTextParser(text, at, plain) {
        waiting = !plain && isWaitingForParser(text) ? text : null;
        isOwn = false;
        return textToSlice(text, at, plain);
      },
      transformPastedHTML(source, view) {
        const slice = readSliceHtml(source);
        isOwn = slice !== null;
        const { html, pictures } = slice === null ? htmlToLog(source) : { html: slice, pictures: 0 };
        if (pictures > 0) reportLeftOut(view, 'pictures');
        return html;
      },
      transformPasted: (slice, view) => paragraphsToItems(slice, view.state.selection.$from),
      handlePaste(view, _event, slice) {
        if (waiting === null) dispatchPaste(view, slice, isOwn);
        else pasteOnceLoaded(view, waiting);
        waiting = null;
        return true;
      },
    },
  });
}

/** `pictures`: pictures in pasted HTML. `files`: a paste with files and without text. */
export type LeftOut = 'pictures' | 'files';

type Listener = (what: LeftOut) => void;

const listeners = new WeakMap<EditorView, Listener>();
const unheard = new WeakMap<EditorView, LeftOut>();

/**
 * Reports what a paste leaves out of the log to the toolbar, which shows it. The first paste may come before the
 * toolbar.
 */
function reportLeftOut(view: EditorView, what: LeftOut): void {
  const listener = listeners.get(view);
  if (listener) listener(what);
  else unheard.set(view, what);
}

/** Calls the listener with a report that came before it, too. Returns a function that removes the listener. */
export function onLeftOut(view: EditorView, listener: Listener): () => void {
  listeners.set(view, listener);
  const missed = unheard.get(view);
  unheard.delete(view);
  if (missed !== undefined) listener(missed);
  return () => void listeners.delete(view);
}
