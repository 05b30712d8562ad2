/** The Find dialog: searches the user's open days for words, and parses dates. */
import { Lock, Search } from 'lucide-react';
import { useEffect, useEffectEvent, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { QUERY_MAX_LENGTH, type SearchTerm } from '#domain/match-search.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { parseDateQuery } from '#domain/day/parse-date-query.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { UpgradeLink } from '#client/ui/plan/upgrade-button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import styles from './find-dialog.module.css';
import { showFound } from './show-found.ts';
import { useFind, type SearchState, type FoundLog, type UnsavedLog } from './use-find.ts';

type FindDialogProps = {
  unsaved: readonly UnsavedLog[];
  onClose: () => void;
  /** Called for a locked day and by the upgrade link. */
  onUpgrade: () => void;
};

export function FindDialog({ unsaved, onClose, onUpgrade }: FindDialogProps) {
  const navigate = useNavigate();
  const premium = usePremium();
  const ids = useId();
  const [query, setQuery] = useState('');
  const [selectedIndex, setSelectedIndex] = useState(0);
  // Enter was pressed before the results arrived: open the first new result, never a stale one.
  const [isEnterPending, setEnterPending] = useState(false);
  const search = useFind(query, unsaved);
  const { found, words } = search;

  const today = useToday();
  const queryDate = parseDateQuery(query, today, useEntryDates().data);
  const isDateLocked = queryDate !== null && isLocked(queryDate, premium !== false, today);
  const count = found.length + (queryDate ? 1 : 0);
  const active = Math.min(selectedIndex, count - 1);
  const optionId = (index: number): string => `${ids}-${index}`;

  const open = (date: Day, searched: readonly SearchTerm[]): void => {
    onClose();
    void navigate(dayPath(date));
    showFound(date, searched);
  };
  const choose = (index: number): void => {
    if (queryDate && index === 0) return isDateLocked ? onUpgrade() : open(queryDate, []);
    const log = found[queryDate ? index - 1 : index];
    if (log) open(log.date, words);
  };

  const chooseFirst = useEffectEvent(() => choose(0));
  useEffect(() => {
    if (isEnterPending && search.state === 'done') chooseFirst();
  }, [isEnterPending, search.state]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setSelectedIndex(Math.min(active + 1, count - 1));
    else if (event.key === 'ArrowUp') setSelectedIndex(Math.max(active - 1, 0));
    else if (event.key === 'Enter' && search.state === 'busy' && !queryDate) setEnterPending(true);
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
            type="text"
            role="combobox"
            className={styles.input}
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setSelectedIndex(0);
              setEnterPending(false);
            }}
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
      <div id={`${ids}-list`} role="listbox" aria-label="Days found" className={styles.list} hidden={count === 0}>
        {queryDate && (
          <Option id={optionId(0)} selected={active === 0} onChoose={() => choose(0)}>
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
        {found.map((log, place) => {
          const index = queryDate ? place + 1 : place;
          return (
            <Option
              key={log.date}
              id={optionId(index)}
              selected={index === active}
              stale={search.state === 'busy'}
              onChoose={() => choose(index)}
            >
              <FoundLogItem log={log} />
            </Option>
          );
        })}
      </div>
      <div className={styles.status} role="status">
        <Outcome search={search} hasDate={queryDate !== null} />
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
          <UpgradeLink className={styles.link} onClick={onUpgrade} />
        </p>
      )}
    </Dialog>
  );
}

type OptionProps = {
  id: string;
  selected: boolean;
  /** A result of the previous query. */
  stale?: boolean;
  onChoose: () => void;
  children: ReactNode;
};

/** Options never receive focus: the combobox input handles the keyboard. */
function Option({ id, selected, stale = false, onChoose, children }: OptionProps) {
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
      onClick={onChoose}
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
  search: { state, found, more, complete, daysSearchedHere, reason },
  hasDate,
}: {
  search: SearchState;
  hasDate: boolean;
}) {
  switch (state) {
    case 'idle':
      return hasDate ? null : <>Search for words or a date: “14 March”, “last friday”, “3 weeks ago”, “2026-03-14”.</>;
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
          {found.length === 0 && !hasDate && 'Nothing found'}
          {found.length > 0 &&
            (more
              ? `Showing the newest ${found.length} days. Add a word to narrow your search.`
              : daysText(found.length))}
          {daysSearchedHere !== null && (
            <span className={styles.here}>Searched on this device only: {daysText(daysSearchedHere)}</span>
          )}
        </>
      );
  }
}

const daysText = (count: number): string => (count === 1 ? '1 day' : `${count} days`);
