/** The Find dialog: searches the user's open days for words, lists their tags, and parses dates. */
import Lock from 'lucide-react/icons/lock';
import Search from 'lucide-react/icons/search';
import {
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { replaceTypedTag, typedTag } from '#domain/log/tags.ts';
import { QUERY_MAX_LENGTH, findMatches, type SearchTerm } from '#domain/match-search.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { parseDateQuery } from '#domain/day/parse-date-query.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { useNavigate, useSearchParam } from '#client/lib/navigation.ts';
import { usePremium, useUpgrade } from '#client/lib/plan/premium.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { UpgradeLink } from '#client/ui/plan/upgrade-button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { useFind, type SearchState, type FoundLog, type UnsavedLog } from './use-find.ts';
import styles from './find-dialog.module.css';

type FindDialogProps = { unsaved: readonly UnsavedLog[]; onClose: () => void };

export function FindDialog({ unsaved, onClose }: FindDialogProps) {
  const upgrade = useUpgrade();
  const navigate = useNavigate();
  const premium = usePremium();
  const ids = useId();
  const wanted = useSearchParam('find');
  const [query, setQuery] = useState((wanted ?? '').slice(0, QUERY_MAX_LENGTH));
  const [selectedIndex, setSelectedIndex] = useState(0);
  // Enter was pressed before the results arrived: open the first new result, never a stale one.
  const [isEnterPending, setEnterPending] = useState(false);
  const search = useFind(query, unsaved);
  const { found, words } = search;
  const tags = search.tags ?? [];
  const input = useRef<HTMLInputElement>(null);

  const today = useToday();
  const queryDate = parseDateQuery(query, today, useEntryDates().data);
  const isDateLocked = queryDate !== null && isLocked(queryDate, premium !== false, today);
  const firstTag = queryDate ? 1 : 0;
  const firstDay = firstTag + tags.length;
  const count = firstDay + found.length;
  const active = Math.min(selectedIndex, count - 1);
  const optionId = (index: number): string => `${ids}-${index}`;

  const open = (date: Day, searched: readonly SearchTerm[]): void => {
    onClose();
    void navigate(dayPath(date));
    showFound(date, searched);
  };
  const choose = (index: number): void => {
    if (queryDate && index === 0) return isDateLocked ? upgrade('historical-logs') : open(queryDate, []);
    const tag = tags[index - firstTag];
    if (tag) {
      type(replaceTypedTag(query, tag.text));
      return input.current?.focus();
    }
    const log = found[index - firstDay];
    if (log) open(log.date, words);
  };
  const type = (text: string): void => {
    setQuery(text.slice(0, QUERY_MAX_LENGTH));
    setSelectedIndex(0);
    setEnterPending(false);
  };

  const press = useSteadyPress([
    ...(queryDate ? [`Go to ${queryDate}`] : []),
    ...tags.map(({ text }) => text),
    ...found.map(({ date }) => date),
  ]);

  const chooseFirst = useEffectEvent(() => choose(0));
  useEffect(() => {
    if (isEnterPending && search.state === 'done') chooseFirst();
  }, [isEnterPending, search.state]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setSelectedIndex(Math.min(active + 1, count - 1));
    else if (event.key === 'ArrowUp') setSelectedIndex(Math.max(active - 1, 0));
    else if (event.key === 'Enter' && search.state === 'busy' && !queryDate && !tags[active]) setEnterPending(true);
    else if (event.key === 'Enter') choose(active);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog
      title="Find"
      onClose={onClose}
      className={styles.dialog}
      heading={
        <div className={styles.box}>
          <Search aria-hidden />
          <input
            ref={input}
            type="text"
            role="combobox"
            className={styles.input}
            value={query}
            onChange={(event) => type(event.target.value)}
            onKeyDown={onKeyDown}
            maxLength={QUERY_MAX_LENGTH}
            placeholder="Words or a date"
            aria-label="Find words or a date"
            aria-expanded={count > 0}
            aria-controls={`${ids}-list`}
            aria-autocomplete="list"
            aria-activedescendant={active >= 0 ? optionId(active) : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            enterKeyHint="go"
            data-autofocus
          />
        </div>
      }
    >
      <div
        id={`${ids}-list`}
        role="listbox"
        aria-label={tags.length > 0 ? 'Tags' : 'Days found'}
        ref={press.list}
        className={styles.list}
        data-below={search.state === 'idle'}
        hidden={count === 0}
      >
        {queryDate && (
          <Option id={optionId(0)} selected={active === 0} {...press.row(0, choose)}>
            <span className={styles.day}>
              Go to {dayLabel(queryDate)}
              {isDateLocked && (
                <span className={styles.note}>
                  <Lock aria-hidden /> Closer only
                </span>
              )}
            </span>
          </Option>
        )}
        {tags.map((tag, place) => (
          <Option
            key={tag.text}
            id={optionId(firstTag + place)}
            selected={active === firstTag + place}
            {...press.row(firstTag + place, choose)}
          >
            <span className={styles.tag}>
              <bdi>{tag.text}</bdi> <span className={styles.note}>{daysText(tag.days)}</span>
            </span>
          </Option>
        ))}
        {found.map((log, place) => {
          const index = firstDay + place;
          return (
            <Option
              key={log.date}
              id={optionId(index)}
              selected={index === active}
              stale={search.state === 'busy'}
              {...press.row(index, choose)}
            >
              <FoundLogItem log={log} />
            </Option>
          );
        })}
      </div>
      <div className={styles.status} role="status">
        <Outcome search={search} query={query} hasDate={queryDate !== null} />
      </div>
      {(search.state === 'failed' || search.state === 'offline' || search.daysSearchedHere !== null) && (
        <p className={styles.again}>
          <button type="button" className={styles.link} onClick={search.retry}>
            Try again
          </button>
        </p>
      )}
      {premium === false && (
        <p className={styles.plan}>
          Find searches the last 30 days. Closers can search every day.{' '}
          <UpgradeLink feature="historical-logs" className={styles.link} />
        </p>
      )}
    </Dialog>
  );
}

/** A click within this time was aimed at the rows before they changed. */
const SETTLE_MS = 300;

/**
 * Results arrive while the user clicks. A row that was not in its place when the user aimed or pressed opens nothing;
 * the next click on it does. A click without a pointer, such as a screen reader's, always counts.
 *
 * @param rows the names of the rows, from the top
 */
function useSteadyPress(rows: readonly string[]) {
  const list = useRef<HTMLDivElement>(null);
  const shown = useRef({ rows, movedAt: -Infinity, wasUnderPointer: false });
  const pressed = useRef<string | null>(null);
  useLayoutEffect(() => {
    const { current: before } = shown;
    const hasMoved = rows.some((row, index) => row !== (before.rows[index] ?? row));
    shown.current = hasMoved
      ? { rows, movedAt: performance.now(), wasUnderPointer: list.current!.matches(':hover') }
      : { ...before, rows };
  });
  const isSettled = (isFinger: boolean): boolean => {
    const { movedAt, wasUnderPointer } = shown.current;
    return performance.now() - movedAt >= SETTLE_MS || !(isFinger || wasUnderPointer);
  };
  const row = (index: number, choose: (index: number) => void) => ({
    onPointerDown: ({ pointerType }: PointerEvent) =>
      void (pressed.current = isSettled(pointerType === 'touch') ? rows[index]! : null),
    onClick: ({ detail }: { detail: number }) =>
      void ((detail === 0 || pressed.current === rows[index]) && choose(index)),
  });
  return { list, row };
}

type OptionProps = {
  id: string;
  selected: boolean;
  /** A result of the previous query. */
  stale?: boolean;
  onPointerDown: (event: PointerEvent) => void;
  onClick: (event: { detail: number }) => void;
  children: ReactNode;
};

/** Options never receive focus: the combobox input handles the keyboard. */
function Option({ id, selected, stale = false, children, ...press }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected) element.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    // oxlint-disable-next-line click-events-have-key-events -- the combobox handles the keys
    <div
      ref={element}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={selected}
      data-stale={stale}
      className={styles.option}
      {...press}
    >
      {children}
    </div>
  );
}

function FoundLogItem({ log }: { log: FoundLog }) {
  return (
    <>
      <span className={styles.day}>
        {dayLabel(log.date)}
        {log.unsaved && <span className={styles.note}>Not saved yet</span>}
      </span>
      <span className={styles.snippet} dir="auto">
        {log.snippet.map((part, place) => (part.marked ? <mark key={place}>{part.text}</mark> : part.text))}
      </span>
    </>
  );
}

function Outcome({
  search: { state, found, tags, more, complete, daysSearchedHere, reason },
  query,
  hasDate,
}: {
  search: SearchState;
  query: string;
  hasDate: boolean;
}) {
  const here = daysSearchedHere !== null && (
    <span className={styles.here}>Searched on this device only: {daysText(daysSearchedHere)}</span>
  );
  switch (state) {
    case 'idle':
      if (hasDate) return null;
      if (query.trim() !== '' && typedTag(query) !== null)
        return tags?.length === 0 && complete ? <>No tags yet. “#billing” in a log makes one.{here}</> : here;
      return (
        <>
          Search for words or a date: “14 March”, “last friday”, “3 weeks ago”, “2026-03-14”. Or for a tag: “#billing”.
          {here}
        </>
      );
    case 'busy':
      return found.length === 0 ? <span className={styles.late}>Searching...</span> : null;
    case 'offline':
      return <>You are offline. Your logs are safe, but search needs a connection.</>;
    case 'failed':
      return <>{reason ?? "Couldn't search your logs. They are safe."}</>;
    case 'done':
      if (!complete) return <>Preparing your older logs...</>;
      return (
        <>
          {found.length === 0 && !hasDate && !tags?.length && 'Nothing found'}
          {found.length > 0 &&
            (more
              ? `Showing the newest ${found.length} days. Add a word to narrow your search.`
              : daysText(found.length))}
          {here}
        </>
      );
  }
}

const daysText = (count: number): string => (count === 1 ? '1 day' : `${count} days`);

/** The highlight name in find-dialog.module.css. */
const HIGHLIGHT_NAME = 'found-words';
/** After this time without the opened day, its words are not highlighted. */
const OPEN_TIMEOUT_MS = 15_000;

let stopPrevious: () => void = () => undefined;

/**
 * Puts the caret into an opened log, behind the first search word, and highlights the words until the log is edited or
 * closed. Uses the CSS Custom Highlight API, because only the editor may change the log's elements. Browsers without it
 * show no highlights.
 */
function showFound(date: Day, words: readonly SearchTerm[]): void {
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

/**
 * Puts the caret behind the found word, or else at the end of the log. No-op on a phone, where the focus would open the
 * keyboard over the found words.
 */
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
