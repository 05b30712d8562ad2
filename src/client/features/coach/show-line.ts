/**
 * Shows a cited line of the open log: scrolls to it and marks it, until the log is edited or another line is shown.
 * With the browser's own highlights, because the log's elements are the editor's.
 */
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';

/** The name in coach-panel.module.css. */
const NAME = 'cited-line';

let stop: () => void = () => undefined;

/** `place`: among the lines of the log that hold text, from 1, as `citableLines` has them. */
export function showLine(date: Day, place: number): void {
  stop();
  const log = document.querySelector<HTMLElement>(`.ProseMirror[aria-label="Log for ${dayLabel(date)}"]`);
  const range = log && linesIn(log)[place - 1];
  if (!log || !range) return;
  if ('highlights' in CSS) CSS.highlights.set(NAME, new Highlight(range));
  const written = new AbortController();
  stop = () => {
    written.abort();
    if ('highlights' in CSS) CSS.highlights.delete(NAME);
  };
  log.addEventListener('input', stop, { signal: written.signal });
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  range.startContainer.parentElement?.scrollIntoView({ block: 'center', behavior: still ? 'auto' : 'smooth' });
}

export const hideLine = (): void => stop();

/** The lines that `entryText` makes of the same log: each block of text, and in it each part between line breaks. */
function linesIn(log: HTMLElement): Range[] {
  const lines: Range[] = [];
  let line: Range | null = null;
  let block: Element | null = null;
  const parts = document.createTreeWalker(log, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = parts.nextNode(); node; node = parts.nextNode()) {
    if (node.nodeName === 'BR') line = null;
    if (!(node instanceof Text)) continue;
    const inside = node.parentElement?.closest('p, h1, h2, h3, pre') ?? null;
    if (inside !== block) line = null;
    block = inside;
    // A code block keeps its line breaks as characters.
    let at = 0;
    for (const [index, text] of node.data.split('\n').entries()) {
      if (index > 0) line = null;
      if (line) line.setEnd(node, at + text.length);
      else if (text.trim() !== '') {
        line = new Range();
        line.setStart(node, at);
        line.setEnd(node, at + text.length);
        lines.push(line);
      }
      at += text.length + 1;
    }
  }
  return lines;
}
