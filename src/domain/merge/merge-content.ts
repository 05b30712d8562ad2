/** Merges the words, marks and block tag of one line. */
import { isBlank, type Line, type TextTag, type Unit } from './read-lines.ts';

export type Content = { readonly tag: TextTag; readonly html: string; readonly text: string };

/** `content` is the merged line. If both edits are kept, `content` has mine, and `other` has theirs. */
export type MergedContent = { readonly content: Content; readonly other: Content | null };

/** Up to this product of both lengths the whole text is searched, which may take quadratic time. */
const MAX_SEARCH = 4_000_000;

/** True if `long` contains the trimmed `short`. In long texts, only the beginning and the end are searched. */
export function containsText(long: string, short: string): boolean {
  const part = short.trim();
  if (part.length * long.length <= MAX_SEARCH) return long.includes(part);
  return long.trimStart().startsWith(part) || long.trimEnd().endsWith(part);
}

/** Three-way merge of a value; mine if both versions changed it. */
const mergeValue = <T>(base: T, mine: T, theirs: T): T => (mine === base ? theirs : mine);

/** The content of a unit that has at least one of `mine` and `theirs`. */
export function mergeContent(unit: Unit): MergedContent {
  const { base, mine, theirs } = unit;
  if (!mine || !theirs) return { content: (mine ?? theirs)!, other: null };
  if (!base) return { content: longerOf(mine, theirs), other: null };
  // Emptying a line counts as deleting it: if the other version has changed the line, the changed line is kept.
  if (isBlank(mine) && isChanged(unit, 'theirs')) return { content: theirs, other: null };
  if (isBlank(theirs) && isChanged(unit, 'mine')) return { content: mine, other: null };
  if (isCodeChange(base, mine, theirs)) return mergeWhole(base, mine, theirs);
  const tag = mergeValue(base.tag, mine.tag, theirs.tag);
  if (mine.html === theirs.html || theirs.html === base.html) return { content: { ...mine, tag }, other: null };
  if (mine.html === base.html) return { content: { ...theirs, tag }, other: null };
  if (mine.text === base.text && theirs.text !== base.text)
    return { content: { ...theirs, tag, html: withMarksOf(base, mine, theirs) }, other: null };
  if (theirs.text === base.text && mine.text !== base.text)
    return { content: { ...mine, tag, html: withMarksOf(base, theirs, mine) }, other: null };
  if (isContained(mine, theirs)) return { content: { ...longerOf(mine, theirs), tag }, other: null };
  return { content: { ...mine, tag }, other: { ...theirs, tag } };
}

const isContained = (a: Line, b: Line): boolean =>
  a.text.length < b.text.length ? containsText(b.text, a.text) : containsText(a.text, b.text);

/**
 * The longer text, or of equally long texts the one with more markup. The order by HTML makes the result the same
 * whichever version is mine.
 */
function longerOf(a: Line, b: Line): Line {
  const difference = a.text.trim().length - b.text.trim().length || a.html.length - b.html.length;
  return difference > 0 || (difference === 0 && a.html >= b.html) ? a : b;
}

/** A code block has line feeds instead of `<br>`, so its content never gets the tag of another block, or vice versa. */
const isCodeChange = (base: Line, mine: Line, theirs: Line): boolean =>
  new Set([base, mine, theirs].map(({ tag }) => tag === 'pre')).size > 1;

function mergeWhole(base: Line, mine: Line, theirs: Line): MergedContent {
  const isSame = (a: Line, b: Line): boolean => a.tag === b.tag && a.html === b.html;
  if (isSame(theirs, base)) return { content: mine, other: null };
  if (isSame(mine, base)) return { content: theirs, other: null };
  if (theirs.text === base.text || mine.text === theirs.text) return { content: mine, other: null };
  if (mine.text === base.text) return { content: theirs, other: null };
  if (isContained(mine, theirs)) return { content: longerOf(mine, theirs), other: null };
  return { content: mine, other: theirs };
}

const ONLY_TAGS = /^(?:<[^<>]+>)*$/;

/**
 * The edited text with the marks that the other version put around the whole line, or took off it. Other marks of that
 * version are dropped: the words win.
 */
function withMarksOf(base: Line, marked: Line, edited: Line): string {
  const added = splitAround(marked.html, base.html);
  if (added) {
    const isMarked = edited.html.startsWith(added.before) && edited.html.endsWith(added.after);
    return isMarked ? edited.html : added.before + edited.html + added.after;
  }
  const removed = splitAround(base.html, marked.html);
  if (!removed || !edited.html.startsWith(removed.before) || !edited.html.endsWith(removed.after)) return edited.html;
  const html = edited.html.slice(removed.before.length, edited.html.length - removed.after.length);
  return isBalanced(html) ? html : edited.html;
}

/** The tags before and after `inner` in `html`. Null if `html` has no tags around `inner`, or anything besides tags. */
function splitAround(html: string, inner: string): { before: string; after: string } | null {
  const at = html.length > inner.length ? html.indexOf(inner) : -1;
  if (at === -1) return null;
  const before = html.slice(0, at);
  const after = html.slice(at + inner.length);
  return ONLY_TAGS.test(before) && ONLY_TAGS.test(after) ? { before, after } : null;
}

function isBalanced(html: string): boolean {
  const open: string[] = [];
  for (const [, slash, tag] of html.matchAll(/<(\/?)([a-z]+)>/g)) {
    if (tag === 'br') continue;
    if (slash === '') open.push(tag!);
    else if (open.pop() !== tag) return false;
  }
  return open.length === 0;
}

/** True if a version changed the words, the marks, the block tag, the depth or the position of its line. */
export function isChanged(unit: Unit, version: 'mine' | 'theirs'): boolean {
  const { base, [version]: line } = unit;
  if (!base || !line) return false;
  const isMoved = version === 'mine' ? unit.isMovedInMine : unit.isMovedInTheirs;
  return isMoved || line.html !== base.html || line.tag !== base.tag || line.path.length !== base.path.length;
}

/** True if the base line has words: only then is a merge of the line reported as a doubt. */
export const isNotable = (base: Line | null): base is Line => base !== null && !isBlank(base);
