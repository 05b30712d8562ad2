/**
 * Highlights the search words in an opened log until the log is edited or closed. Uses the CSS Custom Highlight API,
 * because only the editor may change the log's elements. Browsers without it show no highlights.
 */
import { findMatches } from '#domain/find/match-search.ts';
import type { SearchTerm } from '#domain/find/match-search.ts';
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';

/** The highlight name in find-dialog.module.css. */
const HIGHLIGHT_NAME = 'found-words';
/** How long to wait for the day to open. */
const OPEN_TIMEOUT_MS = 15_000;

let stopPrevious: () => void = () => undefined;

export function highlightFound(date: Day, words: readonly SearchTerm[]): void {
  stopPrevious();
  if (words.length === 0 || !('highlights' in CSS)) return;
  const listeners = new AbortController();
  let log: HTMLElement | null = null;

  const tryHighlight = (): void => {
    if (log) return void (log.isConnected || stop());
    log = document.querySelector<HTMLElement>(`.ProseMirror[aria-label="Log for ${dayLabel(date)}"]`);
    if (!log) return;
    clearTimeout(timeout);
    highlight(log, words);
    log.addEventListener('input', stop, { signal: listeners.signal });
  };
  const observer = new MutationObserver(tryHighlight);
  const timeout = setTimeout(() => log ?? stop(), OPEN_TIMEOUT_MS);
  const stop = (): void => {
    listeners.abort();
    observer.disconnect();
    clearTimeout(timeout);
    CSS.highlights.delete(HIGHLIGHT_NAME);
  };
  stopPrevious = stop;
  observer.observe(document.body, { childList: true, subtree: true });
  tryHighlight();
}

function highlight(log: HTMLElement, words: readonly SearchTerm[]): void {
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
  CSS.highlights.set(HIGHLIGHT_NAME, new Highlight(...ranges));
  const { top, bottom } = first.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) first.startContainer.parentElement?.scrollIntoView({ block: 'center' });
}
