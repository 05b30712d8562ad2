/**
 * The offers of an empty page: under today's, a line about the same day a month or some years ago
 * (docs/specification/year.md 3); on a past day, four predefined logs (docs/specification/screens.md 6).
 */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore, useCallback } from 'react';
import { nearestAnniversary } from '#domain/year.ts';
import type { Day } from '#domain/day/day.ts';
import { isEmptyLog, entryText } from '#domain/log/entry-text.ts';
import { summarizeLog } from '#domain/log/log-outline.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { entryQuery } from '#client/sync/entries/entry-queries.ts';
import styles from './journal.module.css';
import { escapeHtml, EMPTY_LOG_HTML } from '#domain/log/entry-html.ts';
import { QUICK_SAVE_DELAY_MS } from '#domain/log/entry.ts';
import { matchQuickEntry, MAX_QUICK_ENTRY_LENGTH, QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import type { JournalEditorHandle } from '#client/editor/create-editor.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';

type EarlierDayProps = PageText & { date: Day };

export function EarlierDay({ date: today, ...page }: EarlierDayProps) {
  const { saver, editor: handle } = page;
  const isEmpty = usePageValue(page, () =>
    handle ? handle.editor.state.doc.textContent.trim() === '' : isEmptyLog(saver.text()),
  );
  const { data: dates } = useEntryDates();
  const earlier = useMemo(() => dates && nearestAnniversary(today, dates), [dates, today]);
  const { savers } = useJournal();
  // `UnsavedDays` lists these days in the place of the earlier day.
  const hasUnsavedDays = useSyncExternalStore(savers.subscribe, () =>
    savers.unsavedDays().some((day) => day !== today),
  );
  if (!isEmpty || !earlier || hasUnsavedDays) return null;
  return <EarlierLog key={earlier.date} {...earlier} today={today} />;
}

function EarlierLog({ date, label, today }: { date: Day; label: string; today: Day }) {
  const journal = useJournal();
  const premium = usePremium();
  const { profileState } = useSession();
  // If the plan could not be read, the copy on this device may be shown: it is deleted once the plan is known to have
  // ended.
  const isPlanKnown = premium !== null || profileState === 'unavailable';
  const isClosed = premium === false && isLocked(date, false, today);
  const { data, isError } = useQuery({
    ...entryQuery(journal, date),
    enabled: isPlanKnown && !isClosed,
    refetchOnWindowFocus: false,
  });
  const isUnread = isClosed || (isError && !data);
  const summary = data?.stored ? summarizeLog(data.stored.html) : null;
  if (!isUnread && !summary) return null;
  return (
    <p className={styles.earlier}>
      <Link to={dayPath(date)}>
        <span>{label}: </span>
        {summary ? (
          <>
            <bdi>{summary.first}</bdi>
            {summary.more > 0 && <span> and {summary.more} more</span>}
          </>
        ) : (
          <span>you kept a log</span>
        )}
      </Link>
    </p>
  );
}

/** A log with one item, as the editor writes it. */
const logOf = (text: string): string => EMPTY_LOG_HTML.replace('<p></p>', () => `<p>${escapeHtml(text)}</p>`);

/** The quick entry that a log consists of, `''` for a log without words; null for a log with words of the user. */
const quickEntryOf = (html: string): string | null => (isEmptyLog(html) ? '' : matchQuickEntry(entryText(html)));

function useQuickEntry(page: PageText): string | null {
  const { saver, editor: handle } = page;
  return usePageValue(page, () => {
    if (!handle) return quickEntryOf(saver.text());
    // Avoids serialising a long log at every keystroke.
    const isLong = handle.editor.state.doc.textContent.trim().length > MAX_QUICK_ENTRY_LENGTH;
    return isLong ? null : quickEntryOf(handle.read());
  });
}

/** The quick entries. Shown while the page is empty or consists of one of them, so that the user can choose another. */
export function QuickOptions({ saver, editor }: PageText) {
  const selected = useQuickEntry({ saver, editor });
  if (selected === null) return null;
  const choose = (text: string): void =>
    saver.rewrite((current) => (quickEntryOf(current) === null ? null : logOf(text)), QUICK_SAVE_DELAY_MS);
  return (
    <section className={styles.options} aria-labelledby="quick-options">
      <h2 id="quick-options" className={styles.title}>
        Quick options for this day:
      </h2>
      <p className={styles.hint}>You can type your own entry above or select a quick option below</p>
      <ul className={styles.list}>
        {QUICK_ENTRIES.map(({ emoji, text }) => (
          <li key={text}>
            <button
              type="button"
              className={styles.option}
              aria-pressed={text === selected}
              onClick={() => choose(text)}
            >
              <span aria-hidden="true">{emoji}</span> {text}
            </button>
          </li>
        ))}
      </ul>
      <p className={styles.selected} role="status">
        {selected !== '' && `Currently selected: ${selected}`}
      </p>
    </section>
  );
}

type PageText = { saver: DaySaver; editor: JournalEditorHandle | null };

/**
 * Reads a value of the page's text, saved or not, at every change of the text. The editor reports a change to the saver
 * only after its `transaction` event, so `read` asks the editor first.
 */
function usePageValue<Value>({ saver, editor: handle }: PageText, read: () => Value): Value {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const stop = saver.subscribe(onChange);
      handle?.editor.on('transaction', onChange);
      return () => {
        stop();
        handle?.editor.off('transaction', onChange);
      };
    },
    [handle, saver],
  );
  return useSyncExternalStore(subscribe, read);
}
