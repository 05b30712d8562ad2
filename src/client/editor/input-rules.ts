/**
 * Converts typed Markdown to formatting. One Backspace or undo right after a conversion gives the typed characters
 * back.
 *
 * Replaces TipTap's input rules: they convert formulas and globs, and their Backspace loses the characters where
 * another extension handles the key first and on phones whose keyboard sends no key.
 */
import { Extension } from '@tiptap/core';
import { closeHistory } from '@tiptap/pm/history';
import type { Attrs, Mark, Node, ResolvedPos } from '@tiptap/pm/model';
import { Plugin, PluginKey, TextSelection, type EditorState, type Selection, type Transaction } from '@tiptap/pm/state';
import { canJoin, findWrapping } from '@tiptap/pm/transform';
import type { EditorView } from '@tiptap/pm/view';
import { replaceRange } from './replace-range.ts';
import { formatTypedBlock } from './split-list.ts';

/** Changes a transaction; false if the schema does not allow the format here. */
type Conversion = (tr: Transaction) => boolean;

/**
 * Wraps the paragraph at `from`, and joins it with a list or quote of the same kind above it; with a numbered list only
 * if its number continues that list.
 */
function wrapTypedBlock(tr: Transaction, from: number, name: string, attributes: Attrs | null = null): boolean {
  const type = tr.doc.type.schema.nodes[name]!;
  const range = tr.doc.resolve(from).blockRange();
  const wrapping = range && findWrapping(range, type, attributes);
  if (!wrapping) return false;
  tr.wrap(range, wrapping);
  const above = tr.doc.resolve(from - 1).nodeBefore;
  const start: unknown = attributes?.['start'];
  const continues = start === undefined || start === Number(above?.attrs['start']) + (above?.childCount ?? 0);
  if (above?.type === type && continues && canJoin(tr.doc, from - 1)) tr.join(from - 1);
  return true;
}

type BlockRule = readonly [marker: RegExp, convert: (tr: Transaction, from: number, marker: string) => boolean];

const FENCE: BlockRule = [/^(```|~~~)[a-z]*\s$/, (tr, from) => formatTypedBlock(tr, from, 'codeBlock')];
const BLOCK_RULES: readonly BlockRule[] = [
  FENCE,
  [/^(#{1,3})\s$/, (tr, from, { length }) => formatTypedBlock(tr, from, 'heading', { level: length as 1 | 2 | 3 })],
  [/^\s*(>)\s$/, (tr, from) => formatTypedBlock(tr, from, 'blockquote') || wrapTypedBlock(tr, from, 'blockquote')],
  [/^\s*([-+*])\s$/, (tr, from) => wrapTypedBlock(tr, from, 'bulletList')],
  // At most three digits: `2026. A good year` is a sentence.
  [/^(\d{1,3})\.\s$/, (tr, from, number) => wrapTypedBlock(tr, from, 'orderedList', { start: Number(number) })],
];

const hasCode = (marks: readonly Mark[] | undefined): boolean => marks?.some(({ type }) => type.spec.code) === true;

/** The text from the start of the paragraph. Code and line breaks are masked: their signs are no Markdown. */
function textBefore({ parent, parentOffset }: ResolvedPos): string {
  let text = '';
  parent.forEach((node, offset) => {
    if (offset < parentOffset)
      text += node.isText && !hasCode(node.marks) ? node.text! : '\ufffc'.repeat(node.nodeSize);
  });
  return text.slice(0, parentOffset);
}

type MarkName = 'bold' | 'italic' | 'strike' | 'code';

type TypedMark = {
  marks: readonly MarkName[];
  /** The offset of the opening delimiter. */
  from: number;
  size: number;
};

const MARKS: Readonly<Record<string, readonly MarkName[]>> = {
  '*': ['italic'],
  _: ['italic'],
  '**': ['bold'],
  __: ['bold'],
  '***': ['bold', 'italic'],
  ___: ['bold', 'italic'],
  '~~': ['strike'],
  '`': ['code'],
};

const CLOSER = /([*_~`])\1*$/;
/** A letter or digit of a script that puts spaces between words. In the others a mark may follow any letter. */
const IN_WORD = /(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}])[\p{L}\p{M}\p{N}]$/u;
const SIGN_OF_CODE = /[/\\.$=+<>&%#@^|]$/;
const WORD_START = /^[\p{L}\p{M}\p{N}]/u;
const CANNOT_BEGIN = /^[\s.,;:!?/\\|)\]}]/;
const CANNOT_END = /[\s/\\|([{]$/;
const IDENTIFIER = /^\w+$/;

/**
 * Finds the Markdown mark that a typed character completes; null if none. `before` ends with that character, `after` is
 * what follows the caret. The delimiters follow CommonMark's flanking rules (spec 0.31, section 6.2) and are stricter
 * where a work log has formulas, globs and identifiers: `2*3*4`, `*.log`, `__init__`.
 */
export function findTypedMark(before: string, after: string): TypedMark | null {
  const [run, sign] = CLOSER.exec(before) ?? [];
  const marks = MARKS[run ?? ''];
  if (run === undefined || sign === undefined || !marks || after.startsWith(sign)) return null;
  const size = run.length;
  const end = before.length - size;
  const isCode = sign === '`';
  if (/^\s$/.test(before[end - 1] ?? ' ') || (!isCode && CANNOT_END.test(before.slice(0, end)))) return null;
  if (sign === '_' && WORD_START.test(after)) return null;
  for (let last = end; (last = before.slice(0, last).lastIndexOf(sign)) >= 0;) {
    const content = before.slice(last + 1, end);
    while (before[last - 1] === sign) last -= 1;
    const outside = before.slice(0, last);
    // A sign between spaces, as in `2 * 3`, is no delimiter. Any other one ends the search.
    const isLoose = /^\s/.test(content) && /(?:^|\s)$/.test(outside);
    if (isLoose && !isCode) continue;
    const canBegin = isCode ? /^\S/.test(content) : !CANNOT_BEGIN.test(content);
    const canFollow = !IN_WORD.test(outside) && !SIGN_OF_CODE.test(outside);
    const isWhole = end - content.length - last === size;
    const isName = sign === '_' && size > 1 && IDENTIFIER.test(content);
    return content !== '' && isWhole && canBegin && canFollow && !isName ? { marks, from: last, size } : null;
  }
  return null;
}

/**
 * Returns the conversion that `typed` completes when it follows the text before the position; null if none. The
 * conversion expects that `typed` is not in the document: run it only for an empty text, or a key that inserts nothing.
 */
function findConversion(
  $at: ResolvedPos,
  $after: ResolvedPos,
  typed: string,
  rules: readonly BlockRule[],
): Conversion | null {
  const text = textBefore($at) + typed;
  const start = $at.start();
  for (const [marker, convert] of rules) {
    const match = marker.exec(text);
    if (match) return (tr) => convert(tr.delete(start, $at.pos), start, match[1]!);
  }
  const found = findTypedMark(text, $after.nodeAfter?.text ?? '');
  if (!found) return null;
  const { from, size, marks } = found;
  const end = $at.pos;
  return (tr) => {
    tr.delete(end - size, end).delete(start + from, start + from + size);
    for (const name of marks) {
      const type = tr.doc.type.schema.marks[name]!;
      tr.addMark(start + from, end - 2 * size, type.create()).removeStoredMark(type);
    }
    return true;
  };
}

/** The log before the last conversion. */
type Converted = {
  doc: Node;
  selection: Selection;
  /** The caret after the conversion. */
  caret: number;
  /** The user has deleted the end of the converted text without a key event, as some input methods do. */
  isDeleted?: boolean;
};

/** `restored` once Backspace has given the typed characters back: a composition's end must not convert them again. */
type RuleState = Converted | 'restored' | null;
const stateKey = new PluginKey<RuleState>('inputRules');

const convertedIn = (state: EditorState): Converted | null => {
  const value = stateKey.getState(state);
  return value && value !== 'restored' ? value : null;
};

function convertTyped(view: EditorView, typed: string, rules = BLOCK_RULES): boolean {
  const { doc, selection, tr } = view.state;
  const { $cursor } = selection as TextSelection;
  if (!$cursor || view.composing || isCode($cursor, view.state)) return false;
  if (!findConversion($cursor, $cursor, typed, rules)?.(tr)) return false;
  view.dispatch(closeHistory(tr).setMeta(stateKey, { doc, selection, caret: tr.selection.to }).scrollIntoView());
  // Typing after the conversion is an undo step of its own. Otherwise, undo would skip a Backspace that gave the typed
  // characters back.
  view.dispatch(closeHistory(view.state.tr));
  return true;
}

const isCode = ($at: ResolvedPos, { storedMarks }: EditorState): boolean =>
  $at.parent.type.spec.code === true || hasCode(storedMarks ?? $at.marks());

/** Gives the typed characters back. Null if there is nothing to give back. */
function restoreTyped(state: EditorState, converted = convertedIn(state)): Transaction | null {
  if (!converted) return null;
  const { tr } = state;
  replaceRange(tr, tr.doc, converted.doc, 0);
  const { anchor, head } = converted.selection;
  return tr
    .setSelection(TextSelection.create(tr.doc, anchor, head))
    .setMeta(stateKey, 'restored')
    .scrollIntoView();
}

/** Whether `text` continues a word that the conversion has ended at a `_`: `_id_token` is an identifier. */
function continuesName(converted: Converted | null, text: string): boolean {
  const { from } = converted?.selection ?? {};
  return from !== undefined && converted!.doc.textBetween(from - 1, from) === '_' && /^[\p{L}\p{M}\p{N}_]/u.test(text);
}

/**
 * Restores the `_` signs of a name that a composition has continued. `doc`: the log before the composition. No-op if
 * something else has changed since, such as words from another device, which would be lost.
 */
function restoreComposedName({ state, dispatch }: EditorView, converted: Converted, doc: Node): boolean {
  const { caret } = converted;
  const end = state.selection.to;
  const text = end > caret ? state.doc.textBetween(caret, end) : '';
  if (!continuesName(converted, text) || !state.tr.delete(caret, end).doc.eq(doc)) return false;
  dispatch(closeHistory(restoreTyped(state, converted)!.insertText(text)));
  return true;
}

function dispatchRestored(view: EditorView): boolean {
  const tr = restoreTyped(view.state);
  if (tr) view.dispatch(closeHistory(tr));
  return tr !== null;
}

export const inputRules = Extension.create({
  name: 'inputRules',
  // Above all keymaps: Backspace must not leave the list first.
  priority: 1_000,

  addProseMirrorPlugins() {
    /** True in the task of a composition's event. An input method may then select a converted word to change it. */
    let isComposed = false;
    /** The conversion whose text an input method may still compose. */
    let continued: { converted: Converted; doc: Node } | null = null;
    const expectComposition = (): void => {
      isComposed = true;
      setTimeout(() => (isComposed = false));
    };
    return [
      new Plugin<RuleState>({
        key: stateKey,
        state: {
          init: () => null,
          apply(tr, value, before, after) {
            const meta = tr.getMeta(stateKey) as RuleState | undefined;
            if (meta !== undefined) return meta;
            if (value === null || value === 'restored') return tr.docChanged ? null : value;
            const { to } = after.selection;
            if (!tr.docChanged) return isComposed || after.selection.eq(before.selection) ? value : null;
            if ((tr.getMeta('appendedTransaction') as Transaction | undefined)?.getMeta(stateKey)) return value;
            const removed = value.caret - to;
            const isBackspace =
              removed > 0 && removed <= 2 && before.doc.content.size - after.doc.content.size === removed;
            return isBackspace ? { ...value, isDeleted: true } : null;
          },
        },
        /** Appended, so that undo takes the deletion back together with the restored characters. */
        appendTransaction: (_transactions, _before, state) =>
          convertedIn(state)?.isDeleted ? restoreTyped(state) : null,
        props: {
          handleTextInput(view, from, to, text, insert) {
            const { doc } = view.state;
            const $from = doc.resolve(from);
            if (view.composing || isCode($from, view.state)) return false;
            if (continuesName(convertedIn(view.state), text) && dispatchRestored(view)) {
              view.dispatch(view.state.tr.insertText(text).scrollIntoView());
              return true;
            }
            if (!findConversion($from, doc.resolve(to), text, BLOCK_RULES)) return false;
            // A step of its own, so that undo gives the typed characters back.
            view.dispatch(insert());
            convertTyped(view, '');
            return true;
          },
          handleKeyDown(view, { key }) {
            if (key === 'Backspace') return dispatchRestored(view);
            return key === 'Enter' && convertTyped(view, '\n', [FENCE]);
          },
          handleDOMEvents: {
            /** Some keyboards of phones send no Backspace key. */
            beforeinput(view, event) {
              const isBackspace = event.inputType === 'deleteContentBackward' && event.cancelable;
              if (!isBackspace || view.composing || !dispatchRestored(view)) return false;
              event.preventDefault();
              return true;
            },
            compositionstart({ state }) {
              expectComposition();
              const converted = convertedIn(state);
              continued = converted && { converted, doc: state.doc };
            },
            compositionupdate: expectComposition,
            /** ProseMirror reads the composed text in this event, but after the plugins: the rules wait for a task. */
            compositionend(view) {
              const before = continued;
              setTimeout(() => {
                if (view.isDestroyed || stateKey.getState(view.state) === 'restored') return;
                if (!before || !restoreComposedName(view, before.converted, before.doc)) convertTyped(view, '');
              });
            },
          },
        },
      }),
    ];
  },
});
