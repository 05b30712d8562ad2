/**
 * Puts the caret into an opened log, behind the first search word, and highlights the words until the log is edited or
 * closed. Uses the CSS Custom Highlight API, because only the editor may change the log's elements. Browsers without it
 * show no highlights.
 */
import { findMatches, type SearchTerm } from '#domain/match-search.ts';
import { dayLabel, type Day } from '#domain/day/day.ts';

/** The highlight name in find-dialog.module.css. */
const HIGHLIGHT_NAME = 'found-words';
/** How long to wait for the day to open. */
const OPEN_TIMEOUT_MS = 15_000;

let stopPrevious: () => void = () => undefined;

export function showFound(date: Day, words: readonly SearchTerm[]): void {
  stopPrevious();
  const listeners = new AbortController();
  let log: HTMLElement | null = null;

  const tryShow = (): void => {
    if (log) return void (log.isConnected || stop());
    // The page below an open dialog is inert and takes no focus.
    if (document.querySelector('dialog:modal')) return;
    log = document.querySelector<HTMLElement>(`.ProseMirror[aria-label="Log for ${dayLabel(date)}"]`);
    if (!log) return;
    clearTimeout(timeout);
    const ranges = findRanges(log, words);
    placeCaret(log, ranges[0]);
    if ('highlights' in CSS) highlight(ranges);
    log.addEventListener('input', stop, { signal: listeners.signal });
  };
  const observer = new MutationObserver(tryShow);
  const timeout = setTimeout(() => log ?? stop(), OPEN_TIMEOUT_MS);
  const stop = (): void => {
    listeners.abort();
    observer.disconnect();
    clearTimeout(timeout);
    if ('highlights' in CSS) CSS.highlights.delete(HIGHLIGHT_NAME);
  };
  stopPrevious = stop;
  observer.observe(document.body, { childList: true, subtree: true });
  tryShow();
}

function findRanges(log: HTMLElement, words: readonly SearchTerm[]): Range[] {
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
  return ranges;
}

/** Without a found word at the end of the log. Not on a phone, where the focus opens the keyboard over the found words. */
function placeCaret(log: HTMLElement, found: Range | undefined): void {
  if (!matchMedia('(pointer: fine)').matches) return;
  const caret = new Range();
  caret.selectNodeContents([...log.querySelectorAll('p, h1, h2, h3, pre')].at(-1) ?? log);
  if (found) caret.setEnd(found.endContainer, found.endOffset);
  caret.collapse(false);
  log.focus({ preventScroll: true });
  // Set after the focus, with which the editor restores its own caret. The editor reads this one before the next key.
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(caret);
}

function highlight(ranges: readonly Range[]): void {
  const [first] = ranges;
  if (!first) return;
  CSS.highlights.set(HIGHLIGHT_NAME, new Highlight(...ranges));
  const { top, bottom } = first.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) first.startContainer.parentElement?.scrollIntoView({ block: 'center' });
}
