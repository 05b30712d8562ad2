/** A log as lines (paragraphs, headings, list items), so that two versions of a day can be compared and put together. */
import { entryText } from '#domain/log/entry-text.ts';

type Piece = { tag: string; html: string; inner: string };

const TAG = /<(\/?)([a-z][a-z0-9]*)(?: [^<>]*)?>/g;

/** The elements that stand side by side at the top of a piece of clean HTML. Bare text between them is a piece as well. */
function pieces(html: string): Piece[] {
  const found: Piece[] = [];
  let depth = 0;
  let start = 0;
  let inside = 0;
  const bare = (end: number) => {
    const text = html.slice(start, end);
    if (text.trim() !== '') found.push({ tag: 'p', html: `<p>${text}</p>`, inner: text });
  };
  for (const match of html.matchAll(TAG)) {
    const [whole, slash, tag] = match;
    const end = match.index + whole.length;
    if (tag === 'br') continue;
    if (slash === '') {
      if (depth === 0) {
        bare(match.index);
        start = match.index;
        inside = end;
      }
      depth += 1;
    } else if ((depth -= 1) === 0) {
      found.push({ tag: tag!, html: html.slice(start, end), inner: html.slice(inside, match.index) });
      start = end;
    }
  }
  bare(html.length);
  return found;
}

const isList = (piece: Piece): boolean => piece.tag === 'ol' || piece.tag === 'ul';

type Line = { text: string; html: string; list: string | null };

/** The lines of a log: an item with everything nested in it is one line. Lines without words are left out. */
function linesOf(html: string): Line[] {
  return pieces(html)
    .flatMap((piece): Line[] =>
      isList(piece)
        ? pieces(piece.inner).map((item) => ({ text: entryText(item.html), html: item.html, list: piece.tag }))
        : [{ text: entryText(piece.html), html: piece.html, list: null }],
    )
    .filter((line) => line.text.trim() !== '');
}

/** Nothing in `part` would be lost if `whole` were kept: each line is there, or was only written further in its place. */
export function containsLog(whole: string, part: string): boolean {
  const kept = linesOf(whole);
  const texts = new Set(kept.map((line) => line.text));
  return linesOf(part).every((line, index) => texts.has(line.text) || kept[index]?.text.startsWith(line.text) === true);
}

export const sameWords = (a: string, b: string): boolean => entryText(a) === entryText(b);

/** Mine, with every line of theirs that it lacks added at the end: in my last list where both are items of one. */
export function mergeLogs(mine: string, theirs: string): string {
  const texts = new Set(linesOf(mine).map((line) => line.text));
  const missing = linesOf(theirs).filter((line) => !texts.has(line.text));
  const blocks = linesOf(mine).length === 0 ? [] : pieces(mine).map((piece) => piece.html);
  for (const line of missing) {
    if (line.list === null) blocks.push(line.html);
    else appendItem(blocks, line.list, line.html);
  }
  return blocks.join('');
}

function appendItem(blocks: string[], list: string, item: string): void {
  const last = blocks.at(-1);
  const end = `</${list}>`;
  if (last?.startsWith(`<${list}`) && last.endsWith(end))
    blocks[blocks.length - 1] = last.slice(0, -end.length) + item + end;
  else blocks.push(`<${list}>${item}${end}`);
}
