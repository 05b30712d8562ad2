/**
 * Marks the words of a search in the log that was opened by it, until somebody writes there or leaves the day.
 *
 * With the browser's own highlights: the log's elements are the editor's, and nothing may be put between them. A browser
 * without highlights shows the day without marks.
 */
import { findMatches } from '#domain/find/search.ts';
import type { SearchTerm } from '#domain/find/search.ts';
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';

/** The name in find-dialog.module.css. */
const NAME = 'found-words';
/** A day that did not open by then did not open by this search. */
const PATIENCE_MS = 15_000;

let stopBefore: () => void = () => undefined;

export function markFound(date: Day, words: readonly SearchTerm[]): void {
  stopBefore();
  if (words.length === 0 || !('highlights' in CSS)) return;
  const ends = new AbortController();
  let log: HTMLElement | null = null;

  const look = (): void => {
    if (log) return void (log.isConnected || stop());
    log = document.querySelector<HTMLElement>(`.ProseMirror[aria-label="Log for ${dayLabel(date)}"]`);
    if (!log) return;
    clearTimeout(patience);
    mark(log, words);
    log.addEventListener('input', stop, { signal: ends.signal });
  };
  const watch = new MutationObserver(look);
  const patience = setTimeout(() => log ?? stop(), PATIENCE_MS);
  const stop = (): void => {
    ends.abort();
    watch.disconnect();
    clearTimeout(patience);
    CSS.highlights.delete(NAME);
  };
  stopBefore = stop;
  watch.observe(document.body, { childList: true, subtree: true });
  look();
}

function mark(log: HTMLElement, words: readonly SearchTerm[]): void {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(log, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const { from, to } of findMatches(words, node.nodeValue ?? '')) {
      const range = new Range();
      range.setStart(node, from);
      range.setEnd(node, to);
      ranges.push(range);
    }
  }
  const [first] = ranges;
  if (!first) return;
  CSS.highlights.set(NAME, new Highlight(...ranges));
  const { top, bottom } = first.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) first.startContainer.parentElement?.scrollIntoView({ block: 'center' });
}
