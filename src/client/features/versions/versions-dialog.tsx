/** The dialog "Earlier versions": lists a log's versions, compares one with a later text, and brings it back. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore, type CSSProperties } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { VERSION_DAYS, VERSION_INTERVAL_MINUTES } from '#domain/log/entry.ts';
import { LOCKED_DAY_MESSAGE } from '#domain/messages.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import { replaceUndoably, TEXT_IS_BACK } from '#client/sync/entries/restore-log.ts';
import { formatTime } from '#client/sync/save-status.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast, type Toast } from '#client/ui/toast.tsx';
import { compareLogs, hasChanges, type Change, type ComparedLine, type Part } from './compare-logs.ts';
import { LoadProblem, versionQuery, versionsQuery, type ListedVersion } from './version-queries.tsx';
import styles from './versions.module.css';

type VersionsDialogProps = { date: Day | null; onClose: () => void };

export function VersionsDialog({ date, onClose }: VersionsDialogProps) {
  const { savers } = useJournal();
  const today = useToday();
  const isPremium = usePremium() === true;
  const saver = date && savers.get(date);
  return (
    <Dialog title="Earlier versions" onClose={onClose} className={styles.dialog}>
      {!saver || isLocked(saver.date, isPremium, today) ? (
        <p>{LOCKED_DAY_MESSAGE}</p>
      ) : (
        <Versions saver={saver} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Versions({ saver, onClose }: { saver: DaySaver; onClose: () => void }) {
  const { date } = saver;
  const data = useData();
  const { id: userId } = useUser();
  const request = useQuery(versionsQuery(data, userId, date));
  const [chosen, setChosen] = useState<string | null>(null);
  const versions = request.data;

  const { refetch } = request;

  // Sends unsaved text. The server may then keep the text before it as another version.
  useEffect(() => {
    if (!saver.view().unsaved) return;
    // The list may have been read before the server kept that text.
    void saver.flush().then((isSaved) => void (isSaved && refetch()));
  }, [saver, refetch]);

  if (request.isError) return <LoadProblem what="earlier versions" request={request} />;
  if (!versions) return <LoadingText />;
  const index = Math.max(
    0,
    versions.findIndex(({ id }) => id === chosen),
  );
  const version = versions[index];
  if (!version) {
    return (
      <p className={styles.none}>
        {dayLabel(date)} has no earlier versions. While you write, one is kept every {VERSION_INTERVAL_MINUTES} minutes,
        and always before most of a log is removed. They stay for {VERSION_DAYS} days.
      </p>
    );
  }
  return (
    <>
      <p className={styles.hint}>{dayLabel(date)}</p>
      <div className={styles.columns}>
        <VersionList versions={versions} chosen={version.id} onChoose={setChosen} />
        <ChosenVersion
          key={version.id}
          saver={saver}
          version={version}
          next={versions[index - 1] ?? null}
          onClose={onClose}
        />
      </div>
    </>
  );
}

/** Names the change that replaced a version. An ordinary edit is not named. */
const REASONS: Readonly<Record<ListedVersion['replaced_by'], string>> = {
  edit: '',
  drop: 'before most of it was removed',
  restore: 'before an earlier version came back',
  deletion: 'before it was deleted',
};

const timeOf = (iso: string): string => formatTime(Date.parse(iso), Date.now());

type VersionListProps = { versions: readonly ListedVersion[]; chosen: string; onChoose: (id: string) => void };

function VersionList({ versions, chosen, onChoose }: VersionListProps) {
  return (
    <ul className={styles.list} aria-label="Versions, newest first">
      {versions.map(({ id, written_at: writtenAt, replaced_by: change }) => (
        <li key={id}>
          <button type="button" className={styles.version} aria-pressed={id === chosen} onClick={() => onChoose(id)}>
            <time dateTime={writtenAt}>{timeOf(writtenAt)}</time>
            {REASONS[change] && <span className={styles.reason}>{REASONS[change]}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

type ChosenVersionProps = {
  saver: DaySaver;
  version: ListedVersion;
  /** The next newer version that is kept; null for the newest one. */
  next: ListedVersion | null;
  onClose: () => void;
};

function ChosenVersion({ saver, version, next, onClose }: ChosenVersionProps) {
  const data = useData();
  const { id: userId } = useUser();
  const [isAgainstNext, setAgainstNext] = useState(false);
  const view = useSyncExternalStore(saver.subscribe, saver.view);
  const request = useQuery(versionQuery(data, userId, version.id));
  const nextRequest = useQuery({
    ...versionQuery(data, userId, next?.id ?? ''),
    enabled: isAgainstNext && next !== null,
  });
  const { bringBack, busy, problem } = useBringBack(saver, onClose);

  const later = isAgainstNext && next ? nextRequest : { data: saver.text(), isError: false };
  const label = `Version of ${timeOf(version.written_at)}, compared with ${isAgainstNext && next ? 'the next version' : 'now'}`;
  const failed = request.isError ? request : nextRequest.isError && isAgainstNext ? nextRequest : null;
  const html = request.data;
  const canBringBack = !view.conflict && view.status.kind !== 'locked';
  return (
    <section className={styles.chosen} aria-label={label}>
      {next && (
        <fieldset className={styles.choice}>
          <legend>Compared with</legend>
          {[false, true].map((value) => (
            <label key={String(value)}>
              <input
                type="radio"
                name="compared-with"
                checked={isAgainstNext === value}
                onChange={() => setAgainstNext(value)}
              />
              {value ? 'the next version' : 'now'}
            </label>
          ))}
        </fieldset>
      )}
      {failed && <LoadProblem what="this version" request={failed} />}
      {html === null && <Notice kind="info">This version is no longer kept.</Notice>}
      {!failed &&
        html !== null &&
        (html === undefined || typeof later.data !== 'string' ? (
          <LoadingText />
        ) : (
          <Comparison lines={compareLogs(html, later.data)} label={label} isSameFormatting={html === later.data} />
        ))}
      {typeof html === 'string' && (
        <div className={styles.actions}>
          <Button
            tone="primary"
            busy={busy}
            busyLabel="Saving..."
            disabled={!canBringBack}
            softDisabled={html === saver.text()}
            onClick={() => void bringBack(html)}
          >
            Bring back this version
          </Button>
          <p className={styles.hint}>
            {canBringBack
              ? 'Your current text is kept as a version.'
              : view.conflict
                ? 'This day was changed somewhere else. First choose what to keep of it.'
                : LOCKED_DAY_MESSAGE}
          </p>
        </div>
      )}
      <div role="status">{problem && <Notice kind="error">{problem}</Notice>}</div>
    </section>
  );
}

/** Brings a version back like an edit of the user: it is one undo step in the editor, and the saver sends it. */
function useBringBack(saver: DaySaver, onDone: () => void) {
  const { savers } = useJournal();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function bringBack(html: string): Promise<void> {
    setBusy(true);
    setProblem(null);
    // Save the current text first: the server can keep it as an earlier version only if the server has it.
    const isSaved = await saver.flush();
    if (!isSaved) {
      setBusy(false);
      return setProblem("Your latest changes aren't saved yet, so nothing was brought back. Try again once they are.");
    }
    const undo = replaceUndoably(savers, saver, () => saver.rewrite(() => html, 0));
    await saver.flush();
    setBusy(false);
    onDone();
    const show = (text: string, more?: Pick<Toast, 'action'>): void =>
      toast({ kind: 'success', topic: saver.date, text, ...more });
    const run = (): void => void undo().then(() => show(TEXT_IS_BACK));
    show('Brought back the earlier version.', { action: { label: 'Undo', run } });
  }
  return { bringBack, busy, problem };
}

const SIGNS = { same: '', edited: '±', removed: '−', added: '+' } as const;
/** Screen readers ignore or garble signs, and few announce `<ins>` and `<del>`. */
const SPOKEN: Readonly<Record<ComparedLine['change'], string>> = {
  same: '',
  edited: 'Edited: ',
  removed: 'Removed: ',
  added: 'Added: ',
};

type ComparisonProps = { lines: readonly ComparedLine[]; label: string; isSameFormatting: boolean };

/** Shows how two texts differ: removed words struck out, added words underlined, each changed line with a sign. */
function Comparison({ lines, label, isSameFormatting }: ComparisonProps) {
  const isChanged = hasChanges(lines);
  return (
    <div className={styles.comparison}>
      {!isChanged && (
        <p className={styles.note}>{isSameFormatting ? 'No difference.' : 'Only the formatting differs.'}</p>
      )}
      {/* Focusable, because it scrolls (WCAG 2.1.1). */}
      <ol className={styles.lines} aria-label={label} tabIndex={0}>
        {lines.map((line, index) => (
          <li
            key={index}
            className={styles.line}
            // Takes the direction of the user's words: the app's own words are in `bdi`, which does not count.
            dir="auto"
            data-heading={line.isHeading}
            style={{ '--depth': Math.min(line.depth, 4) } as CSSProperties}
          >
            <span className={styles.sign} aria-hidden="true">
              {SIGNS[line.change]}
            </span>
            <span className={styles.marker}>{line.marker}</span>
            <p>
              {line.change !== 'same' && <bdi className="unseen">{SPOKEN[line.change]}</bdi>}
              {line.parts.map((part, at) => (
                <ComparedPart key={at} part={part} isSpoken={line.change === 'edited'} />
              ))}
            </p>
          </li>
        ))}
      </ol>
      {isChanged && (
        <p className={styles.legend}>
          <del>Struck out</del>: gone since this version. <ins>Underlined</ins>: added since.
        </p>
      )}
    </div>
  );
}

const ELEMENTS = { same: 'span', removed: 'del', added: 'ins' } as const satisfies Record<Change, string>;

function ComparedPart({ part: { change, text }, isSpoken }: { part: Part; isSpoken: boolean }) {
  const Element = ELEMENTS[change];
  if (change === 'same' || !isSpoken) return <Element>{text}</Element>;
  return (
    <Element>
      <bdi className="unseen">{change === 'removed' ? ' (removed: ' : ' (added: '}</bdi>
      {text}
      <bdi className="unseen">) </bdi>
    </Element>
  );
}
