/**
 * Scrolls to a cited line of the open log and highlights it until the log is edited, another line is shown or the
 * feedback closes. Uses the CSS Custom Highlight API, because only the editor may change the log's elements.
 */
import { dayLabel, type Day } from '#domain/day/day.ts';

/** The highlight name in coach-panel.module.css. */
const HIGHLIGHT_NAME = 'cited-line';

let clearHighlight: () => void = () => undefined;

/** `position`: 1-based, among the lines with text, as in `citableLines`. */
export function highlightLine(date: Day, position: number): void {
  clearHighlight();
  const log = document.querySelector<HTMLElement>(`.ProseMirror[aria-label="Log for ${dayLabel(date)}"]`);
  const range = log && linesIn(log)[position - 1];
  if (!log || !range) return;
  if ('highlights' in CSS) CSS.highlights.set(HIGHLIGHT_NAME, new Highlight(range));
  const listeners = new AbortController();
  clearHighlight = () => {
    listeners.abort();
    if ('highlights' in CSS) CSS.highlights.delete(HIGHLIGHT_NAME);
  };
  log.addEventListener('input', clearHighlight, { signal: listeners.signal });
  const reducesMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  range.startContainer.parentElement?.scrollIntoView({ block: 'center', behavior: reducesMotion ? 'auto' : 'smooth' });
}

export const clearLineHighlight = (): void => clearHighlight();

/** The same lines as `entryText`: each text block, split at line breaks. */
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
    // Code blocks contain newline characters instead of <br>.
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
