/** One wins document: its title and lines, the lines to pick, and the ways to hand it in. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { memo, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { earlierOf, isDay, type Day } from '#domain/day/day.ts';
import {
  candidateKey,
  lineKey,
  toWinLine,
  type Candidate,
  type CandidateDay,
} from '#domain/documents/win-candidates.ts';
import {
  authorOf,
  lineDate,
  periodLabel,
  sectionsOf,
  TITLE_MAX_LENGTH,
  titleOf,
  type DocumentLine,
  type WinLine,
  type WinsDocument,
} from '#domain/documents/wins-document.ts';
import { ROUTES } from '#domain/routes.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { focusHeading, Link, useTitle } from '#client/lib/navigation.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice, NoticeButtons } from '#client/ui/notice.tsx';
import { Page } from '#client/ui/page/page.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { LoadError, Quiet, Stack } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { createDocumentSaver, type DocumentSaver, type SaveState } from './document-saver.ts';
import { documentBackend, documentsKey, draftStore, takeDraft } from './documents.ts';
import { insertByDate, insertHeading, putBack, removeLine, GrowingText, LineList } from './line-list.tsx';
import { HandIn } from './hand-in.tsx';
import { readCandidates, PickLines } from './pick-lines.tsx';
import { Summary } from '#client/ui/page/folded-section.tsx';
import paper from './paper.module.css';
import styles from './wins.module.css';
import ArrowLeft from 'lucide-react/icons/arrow-left';
import { Field } from '#client/ui/form/form.tsx';

/** Moves the focus to the heading. The router does so only if the path changes, and here only the query does. */
export function useHeadingFocus(hasNavigated: boolean): void {
  useEffect(() => {
    if (hasNavigated) focusHeading();
  }, [hasNavigated]);
}

/** Reads the document, or takes it from this browser if the server does not have it yet. */
export function DocumentScreen({ id, hasNavigated }: { id: string; hasNavigated: boolean }) {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const backend = useMemo(() => documentBackend(data, userId, id), [data, userId, id]);
  // The row and the draft are read once. From then on the saver has the document.
  const once = { staleTime: Infinity, gcTime: 0, networkMode: 'always' } as const;
  const stored = useQuery({ queryKey: ['document', userId, id], queryFn: () => backend.read(), ...once });
  const taken = useQuery({ queryKey: ['document-draft', userId, id], queryFn: () => takeDraft(userId, id), ...once });
  const [saver, setSaver] = useState<DocumentSaver | null>(null);
  const draft = taken.data ?? null;
  const isSettled = !taken.isPending && !stored.isPending;
  if (saver === null && isSettled) {
    if (stored.data || draft !== null) {
      setSaver(
        createDocumentSaver({ backend, draft: draftStore(userId, id), stored: stored.data ?? null, leftover: draft }),
      );
    }
  }
  useEffect(() => {
    if (saver === null) return;
    const onHide = (): void => void (document.visibilityState === 'hidden' ? saver.flush() : saver.refresh());
    const onReturn = (): void => void saver.refresh();
    const onOnline = (): void => void saver.flush();
    document.addEventListener('visibilitychange', onHide);
    addEventListener('focus', onReturn);
    addEventListener('online', onOnline);
    return () => {
      document.removeEventListener('visibilitychange', onHide);
      removeEventListener('focus', onReturn);
      removeEventListener('online', onOnline);
      saver.close();
      void saver.flush().then(() => queries.invalidateQueries({ queryKey: documentsKey(userId) }));
    };
  }, [saver, queries, userId]);

  if (saver !== null) return <DocumentEditor id={id} saver={saver} hasNavigated={hasNavigated} />;
  return (
    <Page title="Wins" back={<BackTo path={ROUTES.wins.path}>All documents</BackTo>}>
      <Stack above="s4">
        {stored.isError ? (
          <LoadError request={stored}>Couldn't load this document. It is safe.</LoadError>
        ) : stored.data === null ? (
          <Quiet>This document is not there. It may have been deleted.</Quiet>
        ) : (
          <LoadingText />
        )}
      </Stack>
    </Page>
  );
}

const newId = (): string => crypto.randomUUID();

type DocumentEditorProps = { id: string; saver: DocumentSaver; hasNavigated: boolean };

function DocumentEditor({ id, saver, hasNavigated }: DocumentEditorProps) {
  useHeadingFocus(hasNavigated);
  const { document, state, theirs } = useSyncExternalStore(saver.subscribe, saver.getSnapshot);
  useTitle(titleOf(document));
  const premium = usePremium();
  const canEdit = premium === true;
  const toast = useToast();
  const [pane, setPane] = useState<'document' | 'pick'>('document');
  const [focused, setFocused] = useState<string | null>(null);
  const [announcement, announce] = useState('');
  const candidates = useCandidates(document, canEdit);
  const current = useRef(document);
  current.current = document;

  const change = useCallback(
    (changes: Partial<WinsDocument>) => saver.edit({ ...saver.getSnapshot().document, ...changes }),
    [saver],
  );
  const changeLines = useCallback(
    (next: (lines: readonly DocumentLine[]) => readonly DocumentLine[]) =>
      change({ lines: next(saver.getSnapshot().document.lines) }),
    [change, saver],
  );
  const remove = useCallback(
    (line: DocumentLine) => {
      const index = saver.getSnapshot().document.lines.findIndex((other) => other.id === line.id);
      changeLines((lines) => removeLine(lines, line.id));
      toast({
        kind: 'info',
        text: line.kind === 'win' ? 'Line removed from the document.' : 'Heading removed.',
        topic: `document ${id}`,
        action: { label: 'Undo', run: () => changeLines((lines) => putBack(lines, line, index)) },
      });
    },
    [changeLines, id, saver, toast],
  );
  const pick = useCallback(
    (candidate: Candidate, isPicked: boolean) => {
      const line = saver
        .getSnapshot()
        .document.lines.find((other) => other.kind === 'win' && lineKey(other) === candidateKey(candidate));
      if (!isPicked && line) return remove(line);
      if (isPicked && !line) changeLines((lines) => insertByDate(lines, toWinLine(candidate, newId)));
    },
    [changeLines, remove, saver],
  );

  const wins = document.lines.filter((line): line is WinLine => line.kind === 'win');
  const picked = new Set(wins.map(lineKey));
  return (
    // Wider than the other screens: the sandbox badge goes below it (sandbox-badge.css).
    <div className={styles.screen} data-wide>
      <Page
        title={<span className="unseen">{titleOf(document)}</span>}
        back={<BackTo path={ROUTES.wins.path}>All documents</BackTo>}
      >
        <p className={styles.status} role="status" data-state={state}>
          {canEdit ? STATUS[state] : ''}
        </p>
        {premium === false && (
          <Notice kind="info">
            <p>Your documents stay readable. Writing and handing in are part of the Closer plan.</p>
            <NoticeButtons>
              <UpgradeButton feature="wins" />
            </NoticeButtons>
          </Notice>
        )}
        {state === 'conflict' && (
          <Notice kind="error">
            <p>
              {theirs === null
                ? 'This document was deleted in another tab or on another device.'
                : 'This document was changed in another tab or on another device.'}{' '}
              Nothing was overwritten.
            </p>
            <NoticeButtons>
              <Button onClick={() => saver.resolve('mine')}>Keep this version</Button>
              {theirs !== null && (
                <Button tone="text" onClick={() => saver.resolve('theirs')}>
                  Use the other version
                </Button>
              )}
            </NoticeButtons>
          </Notice>
        )}
        <div className={styles.head}>
          <GrowingText
            className={styles.titleField}
            label="Title"
            value={document.title}
            placeholder="Wins"
            maxLength={TITLE_MAX_LENGTH}
            readOnly={!canEdit}
            onChange={(title) => change({ title })}
          />
          <GrowingText
            className={styles.authorField}
            label="Name on the document"
            value={document.author}
            placeholder="Your name"
            maxLength={TITLE_MAX_LENGTH}
            readOnly={!canEdit}
            onChange={(author) => change({ author })}
          />
          <details className={styles.periodLine}>
            <Summary>{periodLabel(document.from, document.to)}</Summary>
            {canEdit && (
              <PeriodFields days={document} onChange={({ from, to }) => from <= to && change({ from, to })} />
            )}
          </details>
        </div>
        {canEdit && <HandIn id={id} document={document} saver={saver} />}
        <div className={styles.tabs} role="group" aria-label="Show">
          {(['document', 'pick'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={pane === each} onClick={() => setPane(each)}>
              {each === 'document' ? `Document (${wins.length})` : 'Pick lines'}
            </button>
          ))}
        </div>
        <div className={styles.panes} data-shown={pane}>
          <section className={styles.document} aria-label="Document">
            {document.lines.length === 0 && <Quiet>No lines yet. Pick them from your logs.</Quiet>}
            <LineList
              document={document}
              canEdit={canEdit}
              onLines={changeLines}
              onRemove={remove}
              onFocusLine={setFocused}
              announce={announce}
            />
            {canEdit && (
              <Button
                tone="text"
                onClick={() => {
                  const heading: DocumentLine = { kind: 'heading', id: newId(), text: '' };
                  changeLines((lines) => insertHeading(lines, heading, focused));
                  announce('Heading added.');
                  requestAnimationFrame(() => window.document.getElementById(`line-${heading.id}`)?.focus());
                }}
              >
                Add a heading{focused === null ? '' : ' above this line'}
              </Button>
            )}
          </section>
          {canEdit && (
            <section className={styles.pick} aria-labelledby="pick-title">
              <h2 id="pick-title" className={styles.pickTitle}>
                Pick from your logs
              </h2>
              {candidates.data ? (
                <PickLines days={candidates.data} picked={picked} onPick={pick} />
              ) : candidates.isError ? (
                <LoadError request={candidates}>Couldn't load your logs. They are safe.</LoadError>
              ) : (
                <LoadingText />
              )}
            </section>
          )}
        </div>
        <p className="unseen" role="status">
          {announcement}
        </p>
      </Page>
      <Paper document={document} />
    </div>
  );
}

const STATUS: Readonly<Record<SaveState, string>> = {
  saved: 'Saved',
  unsaved: 'Saving...',
  saving: 'Saving...',
  offline: 'Not saved yet. Kept in this browser and sent again soon.',
  refused: 'Not saved. Your plan has ended. The text is kept in this browser.',
  full: 'Not saved. The document, or the list of documents, is full. The text is kept in this browser.',
  conflict: 'Not saved yet. Choose a version.',
};

function useCandidates({ from, to }: WinsDocument, isEnabled: boolean) {
  const data = useData();
  const { id: userId } = useUser();
  const today = useToday();
  const last = earlierOf(to, today);
  return useQuery({
    queryKey: ['win-candidates', userId, from, last],
    queryFn: ({ signal }): Promise<CandidateDay[]> => readCandidates(data, userId, { from, to: last }, signal),
    enabled: isEnabled,
    staleTime: 0,
    networkMode: 'always',
  });
}

/** The link back to the screen that this one belongs to. */
export const BackTo = ({ path, children }: { path: string; children: ReactNode }) => (
  <Link to={path}>
    <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> {children}
  </Link>
);

type Days = { from: Day; to: Day };

export function PeriodFields({ days, onChange }: { days: Days; onChange: (days: Days) => void }) {
  const fields = [
    { name: 'from', label: 'First day' },
    { name: 'to', label: 'Last day' },
  ] as const;
  return (
    <div className={styles.dates}>
      {fields.map(({ name, label }) => (
        <Field
          key={name}
          label={label}
          type="date"
          required
          value={days[name]}
          onChange={({ currentTarget: { value } }) => isDay(value) && onChange({ ...days, [name]: value })}
        />
      ))}
    </div>
  );
}

/** The document as it is printed, on A4 or Letter. On the screen it is hidden. */
function Paper({ document }: { document: WinsDocument }) {
  const { from, to } = document;
  const author = authorOf(document);
  return (
    <article className={paper.paper}>
      <header className={paper.head}>
        {/* The page has a heading of its own, which is not printed. */}
        <p className={paper.title} dir="auto">
          {titleOf(document)}
        </p>
        <p className={paper.facts}>
          {author !== '' && <bdi>{author}</bdi>}
          <span>{periodLabel(from, to)}</span>
        </p>
      </header>
      {sectionsOf(document).map(({ heading, wins }, index) => (
        <section key={index} className={paper.section}>
          {heading !== null && (
            <p className={paper.heading} dir="auto">
              {heading}
            </p>
          )}
          <ul className={paper.wins}>
            {wins.map((win) => (
              <PaperLine key={win.id} {...win} day={lineDate(win.date, document)} />
            ))}
          </ul>
        </section>
      ))}
    </article>
  );
}

/** Memoised, so that a keystroke in one of hundreds of lines renders that line alone. */
const PaperLine = memo(({ text, date, day }: Pick<WinLine, 'text' | 'date'> & { day: string }) => (
  <li>
    <span dir="auto">{text}</span>
    <time dateTime={date}>{day}</time>
  </li>
));
