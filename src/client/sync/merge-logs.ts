/** Compares and merges two versions of a log by lines: paragraphs, headings and list items. */
import { entryText } from '#domain/log/entry-text.ts';

type Block = { tag: string; html: string; inner: string };

const TAG = /<(\/?)([a-z][a-z0-9]*)(?: [^<>]*)?>/g;

/** The top-level elements of clean HTML. Bare text between them becomes a paragraph. */
function blocksOf(html: string): Block[] {
  const found: Block[] = [];
  let depth = 0;
  let start = 0;
  let innerStart = 0;
  const addBareText = (end: number) => {
    const text = html.slice(start, end);
    if (text.trim() !== '') found.push({ tag: 'p', html: `<p>${text}</p>`, inner: text });
  };
  for (const match of html.matchAll(TAG)) {
    const [whole, slash, tag] = match;
    const end = match.index + whole.length;
    if (tag === 'br') continue;
    if (slash === '') {
      if (depth === 0) {
        addBareText(match.index);
        start = match.index;
        innerStart = end;
      }
      depth += 1;
    } else if ((depth -= 1) === 0) {
      found.push({ tag: tag!, html: html.slice(start, end), inner: html.slice(innerStart, match.index) });
      start = end;
    }
  }
  addBareText(html.length);
  return found;
}

const isList = (block: Block): boolean => block.tag === 'ol' || block.tag === 'ul';

type Line = { text: string; html: string; list: string | null };

/** The lines of a log. An item with its nested lists is one line. Omits lines without text. */
function linesOf(html: string): Line[] {
  return blocksOf(html)
    .flatMap((block): Line[] =>
      isList(block)
        ? blocksOf(block.inner).map((item) => ({ text: entryText(item.html), html: item.html, list: block.tag }))
        : [{ text: entryText(block.html), html: block.html, list: null }],
    )
    .filter((line) => line.text.trim() !== '');
}

/** True if each line of `part` is a line of `whole`, or begins the line of `whole` that has the same index. */
export function containsLog(whole: string, part: string): boolean {
  const wholeLines = linesOf(whole);
  const texts = new Set(wholeLines.map((line) => line.text));
  return linesOf(part).every(
    (line, index) => texts.has(line.text) || wholeLines[index]?.text.startsWith(line.text) === true,
  );
}

export const isSameText = (a: string, b: string): boolean => entryText(a) === entryText(b);

/**
 * Appends to `mine` the lines of `theirs` that `mine` lacks. An item joins the last block if that is a list of its
 * kind.
 */
export function mergeLogs(mine: string, theirs: string): string {
  const texts = new Set(linesOf(mine).map((line) => line.text));
  const missing = linesOf(theirs).filter((line) => !texts.has(line.text));
  const blocks = linesOf(mine).length === 0 ? [] : blocksOf(mine).map((block) => block.html);
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
