/** The wins documents (docs/specification/wins.md 1): their list and a new one; `?document=<id>` opens one. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import Trash2 from 'lucide-react/icons/trash';
import { dateLabel, dayOf, earlierOf, type Day } from '#domain/day/day.ts';
import {
  daysOfPeriod,
  DOCUMENT_PERIODS,
  periodLabel,
  titleOf,
  type DocumentPeriod,
  type WinsDocument,
} from '#domain/documents/wins-document.ts';
import { groupedLines, proposedLines } from '#domain/documents/win-candidates.ts';
import { ROUTES } from '#domain/routes.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { Link, useTitle, useNavigate, useSearchParam } from '#client/lib/navigation.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { accountName, useUser } from '#client/lib/session/session.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { Button, IconButton } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Page, Section } from '#client/ui/page/page.tsx';
import { Pitch, PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { Buttons, Hint, LoadError, Quiet, Row, RowName, Rows, Stack } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { BackTo, PeriodFields, DocumentScreen, useHeadingFocus } from './document-screen.tsx';
import {
  deleteDocument,
  documentBackend,
  documentsKey,
  draftedDocuments,
  draftStore,
  listDocuments,
  type ListedDocument,
} from './documents.ts';
import { readCandidates } from './pick-lines.tsx';
import styles from './wins.module.css';

const documentPath = (id: string): string => `${ROUTES.wins.path}?document=${id}`;

export function WinsScreen() {
  const id = useSearchParam('document');
  const [shown, setShown] = useState({ id, hasNavigated: false });
  if (shown.id !== id) setShown({ id, hasNavigated: true });
  const { hasNavigated } = shown;
  return id === undefined ? (
    <DocumentList hasNavigated={hasNavigated} />
  ) : (
    <DocumentScreen key={id} id={id} hasNavigated={hasNavigated} />
  );
}

/** The list, and the form of a new document. */
function DocumentList({ hasNavigated }: { hasNavigated: boolean }) {
  useTitle('Wins');
  useHeadingFocus(hasNavigated);
  const premium = usePremium();
  const data = useData();
  const { id: userId } = useUser();
  const documents = useQuery({
    queryKey: documentsKey(userId),
    queryFn: ({ signal }) => listDocuments(data, userId, signal),
    staleTime: 0,
    networkMode: 'always',
  });
  const ids = new Set(documents.data?.map(({ id }) => id));
  const drafted = documents.isPending ? [] : draftedDocuments(userId).filter(({ id }) => !ids.has(id));
  return (
    <Page title="Wins" back={<BackTo path={ROUTES.reviews.path}>Back to Reviews</BackTo>}>
      {premium === null && <PlanPlaceholder />}
      {premium === false && <WinsPitch />}
      {premium === true && (
        <Stack above="s4">
          <Quiet>What you got done, as a page to hand in. Your logs stay as they are.</Quiet>
        </Stack>
      )}
      {premium === true && <NewDocument />}
      {premium !== null && documents.isError && (
        <Section title="Documents">
          <LoadError request={documents}>Couldn't load your documents. They are safe.</LoadError>
        </Section>
      )}
      {premium !== null && documents.data === undefined && documents.isPending && <LoadingText />}
      {premium !== null && ids.size + drafted.length > 0 && (
        <Section title="Documents">
          <Rows aria-label="Documents">
            {drafted.map(({ id, title }) => (
              <Row key={id}>
                <div>
                  <RowName>
                    <Link to={documentPath(id)} dir="auto">
                      {title}
                    </Link>
                  </RowName>
                  <Hint>Not saved yet. Kept in this browser.</Hint>
                </div>
              </Row>
            ))}
            {documents.data?.map((document) => (
              <DocumentRow key={document.id} document={document} canUndo={premium} />
            ))}
          </Rows>
        </Section>
      )}
    </Page>
  );
}

function WinsPitch() {
  return (
    <Pitch lead="The document for your yearly review, in five minutes.">
      <Quiet>
        Pick your wins of any period, put them in order, and hand them in: printed, as a Word file, as Markdown or by a
        read-only link.
      </Quiet>
      <UpgradeButton feature="wins" />
    </Pitch>
  );
}

function NewDocument() {
  const today = useToday();
  const user = useUser();
  const data = useData();
  const navigate = useNavigate();
  const [period, setPeriod] = useState<DocumentPeriod>('this-year');
  const [days, setDays] = useState(() => daysOfPeriod('this-year', today));
  const [state, setState] = useState<'idle' | 'busy' | 'failed' | 'backwards'>('idle');

  const choose = (next: DocumentPeriod): void => {
    setPeriod(next);
    setDays(daysOfPeriod(next, today));
    setState('idle');
  };
  const create = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (days.from > days.to) return setState('backwards');
    setState('busy');
    try {
      const readable = { from: days.from, to: earlierOf(days.to, today) };
      const candidates = await readCandidates(data, user.id, readable, new AbortController().signal);
      const document: WinsDocument = {
        title: `Wins ${periodLabel(days.from, days.to)}`,
        author: accountName(user),
        ...days,
        lines: groupedLines(proposedLines(candidates), () => crypto.randomUUID()),
      };
      const id = crypto.randomUUID();
      // Kept here first: the screen of the document sends it, also after a failure.
      draftStore(user.id, id).write({ document, revision: null });
      await navigate(documentPath(id));
    } catch {
      setState('failed');
    }
  };

  return (
    <Section title="New document">
      <form className={styles.form} onSubmit={(event) => void create(event)}>
        <fieldset className={styles.periods}>
          <legend className="unseen">Period</legend>
          {(Object.keys(DOCUMENT_PERIODS) as DocumentPeriod[]).map((each) => (
            <label key={each} className={styles.period}>
              <input type="radio" name="period" checked={period === each} onChange={() => choose(each)} />
              <span>{DOCUMENT_PERIODS[each]}</span>
              {each !== 'own' && <span className={styles.note}>{periodLabelOf(each, today)}</span>}
            </label>
          ))}
        </fieldset>
        {period === 'own' && <PeriodFields days={days} onChange={setDays} />}
        {state === 'backwards' && <Notice kind="error">The first day is after the last one.</Notice>}
        {state === 'failed' && <Notice kind="error">Couldn't load your logs. They are safe. Please try again.</Notice>}
        <Buttons>
          <Button type="submit" tone="primary" busy={state === 'busy'} busyLabel="Reading your logs...">
            Collect my wins
          </Button>
        </Buttons>
      </form>
    </Section>
  );
}

function periodLabelOf(period: DocumentPeriod, today: Day): string {
  const { from, to } = daysOfPeriod(period, today);
  return periodLabel(from, to);
}

function DocumentRow({ document, canUndo }: { document: ListedDocument; canUndo: boolean }) {
  const { id, title, first_day: from, last_day: to, updated_at: updatedAt } = document;
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const toast = useToast();
  const [isAsking, setIsAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const name = titleOf({ title });

  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      const backend = documentBackend(data, userId, id);
      const stored = await backend.read();
      await deleteDocument(data, userId, id);
      draftStore(userId, id).clear();
      await queries.invalidateQueries({ queryKey: documentsKey(userId) });
      const undo = async (): Promise<void> => {
        try {
          await backend.insert(stored!.document);
        } catch {
          // The browser keeps the document as a draft instead. Opening the document sends it.
          draftStore(userId, id).write({ document: stored!.document, revision: null });
          toast({ kind: 'error', text: 'Not saved yet. The document is kept in this browser.' });
        }
        await queries.invalidateQueries({ queryKey: documentsKey(userId) });
      };
      toast({
        kind: 'info',
        text: 'Document deleted. Its links have ended.',
        topic: `document ${id}`,
        ...(canUndo && stored && { action: { label: 'Undo', run: () => void undo() } }),
      });
    } catch {
      toast({ kind: 'error', text: "Couldn't delete the document. Please try again." });
    } finally {
      setBusy(false);
    }
  };

  return (
    <Row>
      <div>
        <RowName>
          <Link to={documentPath(id)} dir="auto">
            {name}
          </Link>
        </RowName>
        <Hint>
          {periodLabel(from, to)}, last changed {dateLabel(dayOf(new Date(updatedAt)))}
        </Hint>
      </div>
      <IconButton
        label={`Delete ${name}`}
        busy={busy}
        // Asks first without the plan, because the deletion could not be undone then.
        onClick={() => (canUndo ? void remove() : setIsAsking(true))}
      >
        <Trash2 aria-hidden />
      </IconButton>
      {isAsking && (
        <Dialog title="Delete this document?" onClose={() => setIsAsking(false)}>
          <Stack>
            <Quiet>It cannot be brought back, and its links end.</Quiet>
            <Buttons>
              <Button
                tone="primary"
                onClick={() => {
                  setIsAsking(false);
                  void remove();
                }}
              >
                Delete
              </Button>
              <Button tone="text" onClick={() => setIsAsking(false)}>
                Keep it
              </Button>
            </Buttons>
          </Stack>
        </Dialog>
      )}
    </Row>
  );
}
