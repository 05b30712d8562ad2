/** Handles paste: in a list, pasted lines and paragraphs become items. */
import { closeHistory } from '@tiptap/pm/history';
import { DOMParser, Fragment, Slice } from '@tiptap/pm/model';
import type { Node, ResolvedPos, Schema } from '@tiptap/pm/model';
import { Plugin } from '@tiptap/pm/state';
import type { EditorState, Transaction } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';
import { looksLikeMarkdown } from '#domain/log/pasted-markdown.ts';
import { parseInert } from '#client/lib/log-html/inert-html.ts';
import { splitList } from '../split-list.ts';
import { cleanPastedHtml } from './paste-html.ts';
import { parsePastedText, withoutMarker } from './paste-text.ts';
import type { PastedLine } from './paste-text.ts';

type MarkdownParser = typeof import('#domain/markdown/parse-markdown.ts');
let markdownParser: MarkdownParser | null = null;

/** The parser is a chunk of its own, loaded by the first paste of Markdown. If that fails, the text is pasted as lines. */
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

/** Items of the outermost level, each with the deeper lines that follow it. */
function createItems(lines: PastedLine[], schema: Schema): Node[] {
  const level = Math.min(...lines.map((line) => line.level));
  const items: Node[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!;
    let end = index + 1;
    while (end < lines.length && lines[end]!.level > level) end += 1;
    const deeper = lines.slice(index + 1, end);
    const nested = deeper.length > 0 ? [createList(deeper, schema)] : [];
    items.push(schema.nodes['listItem']!.create(null, [paragraph(schema, line.text), ...nested]));
    index = end;
  }
  return items;
}

function createList(lines: PastedLine[], schema: Schema): Node {
  const type = lines[0]!.marker === 'bullet' ? 'bulletList' : 'orderedList';
  return schema.nodes[type]!.create(null, createItems(lines, schema));
}

const isProse = (node: Node): boolean =>
  node.isInline || ['paragraph', 'orderedList', 'bulletList'].includes(node.type.name);

/**
 * Returns a slice whose first and last line merge with the text at the caret if the HTML has only paragraphs and lists.
 * With a heading, quote or code block, all blocks stay whole.
 */
function markdownToSlice(html: string, schema: Schema): Slice {
  const { content } = DOMParser.fromSchema(schema).parse(parseInert(html), { preserveWhitespace: true });
  return content.content.every(isProse) ? Slice.maxOpen(content) : new Slice(content, 0, 0);
}

/**
 * Parses plain text as Markdown if `looksLikeMarkdown` recognises it, otherwise as lines. Several lines become items
 * if they have markers or the caret is in a list, otherwise paragraphs. `plain`: pasted with Shift, so Markdown is
 * literal.
 */
export function textToSlice(text: string, at: ResolvedPos, plain = false): Slice {
  const { schema } = at.doc.type;
  if (!plain && markdownParser && looksLikeMarkdown(text))
    return markdownToSlice(markdownParser.parseMarkdown(text, { softBreaks: 'keep' }), schema);
  const lines = parsePastedText(text);
  if (lines.length === 0) return new Slice(Fragment.from(text === '' ? [] : [paragraph(schema, ' ')]), 1, 1);
  if (lines.length === 1) {
    // In the middle of a sentence "- " and "1. " are text.
    const line = at.parent.content.size === 0 ? withoutMarker(text).text : text.replace(/[\r\n]+/g, '');
    return new Slice(Fragment.from(paragraph(schema, line)), 1, 1);
  }
  const asList = isInList(at, schema) || lines.some((line) => line.marker !== null);
  const nodes = asList ? [createList(lines, schema)] : lines.map((line) => paragraph(schema, line.text));
  return Slice.maxOpen(Fragment.from(nodes));
}

/** Turns several paragraphs pasted into a list item into items. Lists among them keep their items. */
export function paragraphsToItems(slice: Slice, at: ResolvedPos): Slice {
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

function pasteSlice(state: EditorState, slice: Slice): Transaction {
  const { tr } = state;
  const blocks = slice.content.content;
  if (hasBlockFormat(slice) && isInList(state.selection.$from, state.schema) && blocks.every(isValid)) {
    tr.deleteSelection();
    const at = tr.selection.from;
    if (splitList(tr, at, at, blocks)) return tr;
  }
  return tr.replaceSelection(slice);
}

/** Pastes as a separate undo step. */
function dispatchPaste(view: EditorView, slice: Slice): void {
  const tr = pasteSlice(view.state, slice).setMeta('paste', true).setMeta('uiEvent', 'paste');
  view.dispatch(closeHistory(tr).scrollIntoView());
  view.dispatch(closeHistory(view.state.tr));
}

/** Pastes plain text without a paste event, for a caller that has prevented the event's default. */
export function pasteText(view: EditorView, text: string): void {
  const { $from } = view.state.selection;
  if ($from.parent.type.spec.code === true) view.pasteText(text);
  else if (isWaitingForParser(text)) pasteOnceLoaded(view, text);
  else dispatchPaste(view, paragraphsToItems(textToSlice(text, $from), $from));
}

const isWaitingForParser = (text: string): boolean => markdownParser === null && looksLikeMarkdown(text);

function pasteOnceLoaded(view: EditorView, text: string): void {
  void loadMarkdownParser().then(() => {
    if (view.isDestroyed) return;
    const { $from } = view.state.selection;
    dispatchPaste(view, paragraphsToItems(textToSlice(text, $from), $from));
  });
}

export function pastePlugin(): Plugin {
  /** Pasted Markdown that waits for its parser, between the two handlers of a paste. */
  let waiting: string | null = null;
  return new Plugin({
    props: {
      clipboardTextParser(text, at, plain) {
        waiting = !plain && isWaitingForParser(text) ? text : null;
        return textToSlice(text, at, plain);
      },
      transformPastedHTML: (html) => cleanPastedHtml(html),
      transformPasted: (slice, view) => paragraphsToItems(slice, view.state.selection.$from),
      handlePaste(view, _event, slice) {
        if (waiting === null) dispatchPaste(view, slice);
        else pasteOnceLoaded(view, waiting);
        waiting = null;
        return true;
      },
    },
  });
}
