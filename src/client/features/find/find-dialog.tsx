/** Find: words in every day open to the plan, and days by their names. Typing searches, Enter opens. */
import { useNavigate } from '@tanstack/react-router';
import { Lock, Search } from 'lucide-react';
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { QUERY_MAX_LENGTH } from '#domain/find/search.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { ROUTES } from '#domain/routes.ts';
import { parseDateQuery } from '#domain/day/parse-date-query.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { UpgradeLink } from '#client/ui/plan/upgrade-button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import styles from './find-dialog.module.css';
import { markFound } from './mark-found.ts';
import { useFind } from './use-find.ts';
import type { Finding, FoundLog, UnsavedLog } from './use-find.ts';

type FindDialogProps = {
  unsaved: readonly UnsavedLog[];
  onClose: () => void;
  /** A day, or a search, that is a Closer's alone. */
  onUpgrade: () => void;
};

export function FindDialog({ unsaved, onClose, onUpgrade }: FindDialogProps) {
  const navigate = useNavigate();
  const premium = usePremium();
  const ids = useId();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  // Enter came before the answer: the first day that comes is opened, and never one of the search before.
  const [entered, setEntered] = useState(false);
  const finding = useFind(query, unsaved);
  const { found, words } = finding;

  const today = useToday();
  const named = parseDateQuery(query, today);
  const locked = named !== null && isLocked(named, premium !== false, today);
  const count = found.length + (named ? 1 : 0);
  const active = Math.min(chosen, count - 1);
  const optionId = (index: number): string => `${ids}-${index}`;

  const open = (date: Day): void => {
    onClose();
    void navigate({ to: ROUTES.journal.path, search: { date } as never });
  };
  const choose = (index: number): void => {
    if (named && index === 0) return locked ? onUpgrade() : open(named);
    const log = found[named ? index - 1 : index];
    if (!log) return;
    open(log.date);
    markFound(log.date, words);
  };

  const chooseFirst = useEffectEvent(() => choose(0));
  useEffect(() => {
    if (entered && finding.state === 'done') chooseFirst();
  }, [entered, finding.state]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setChosen(Math.min(active + 1, count - 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(active - 1, 0));
    else if (event.key === 'Enter' && finding.state === 'busy' && !named) setEntered(true);
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
              setChosen(0);
              setEntered(false);
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
        {named && (
          <Option id={optionId(0)} selected={active === 0} onChoose={() => choose(0)}>
            <span className={styles.day}>
              Go to {dayLabel(named)}
              {locked && (
                <span className={styles.note}>
                  <Lock aria-hidden /> Closer only
                </span>
              )}
            </span>
          </Option>
        )}
        {found.map((log, place) => {
          const index = named ? place + 1 : place;
          return (
            <Option
              key={log.date}
              id={optionId(index)}
              selected={index === active}
              stale={finding.state === 'busy'}
              onChoose={() => choose(index)}
            >
              <LogFound log={log} />
            </Option>
          );
        })}
      </div>
      <div className={styles.status} role="status">
        <Outcome finding={finding} named={named !== null} />
      </div>
      {(finding.state === 'failed' || finding.state === 'offline') && (
        <p className={styles.again}>
          <button type="button" className={styles.link} onClick={finding.retry}>
            Try again
          </button>
        </p>
      )}
      {premium === false && (
        <p className={styles.plan}>
          Find looks in the last 30 days. Older days are a Closer&apos;s.{' '}
          <UpgradeLink className={styles.link} onClick={onUpgrade} />
        </p>
      )}
    </Dialog>
  );
}

type OptionProps = {
  id: string;
  selected: boolean;
  /** Found for what was typed before. */
  stale?: boolean;
  onChoose: () => void;
  children: ReactNode;
};

/** The keyboard is the input's, as a combobox has it: an option is never focused itself. */
function Option({ id, selected, stale = false, onChoose, children }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected) element.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    // oxlint-disable-next-line click-events-have-key-events -- the keys are heard by the combobox
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

function LogFound({ log }: { log: FoundLog }) {
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

function Outcome({ finding: { state, found, more, complete, reason }, named }: { finding: Finding; named: boolean }) {
  switch (state) {
    case 'idle':
      return named ? null : <>Words you wrote, or a day: “14 March”, “last friday”, “3 weeks ago”, “2026-03-14”.</>;
    case 'busy':
      return found.length === 0 ? <span className={styles.late}>Searching...</span> : null;
    case 'offline':
      return <>You are offline. What you wrote is safe; finding it needs a connection.</>;
    case 'failed':
      return <>{reason ?? 'The search got no answer. What you wrote is safe.'}</>;
    case 'done':
      if (!complete) return <>Still reading your older logs...</>;
      if (found.length === 0) return named ? null : <>Nothing found</>;
      if (more) return <>The newest {found.length} days. Add a word to narrow it down.</>;
      return <>{found.length === 1 ? '1 day' : `${found.length} days`}</>;
  }
}
