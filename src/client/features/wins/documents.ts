/** Wins documents in the database and, until they are saved, in this browser. */
import type { ApiRow } from '#domain/database-rows.ts';
import { isDay } from '#domain/day/day.ts';
import { formatContent, parseContent, titleOf, type WinsDocument } from '#domain/documents/wins-document.ts';
import type { DataClient, DataError } from '#client/lib/api/data-client.ts';
import { DOCUMENT_DRAFT_PREFIX, keysUnder } from '#client/lib/session/storage-keys.ts';
import {
  DocumentRefused,
  type DocumentBackend,
  type DocumentDraft,
  type DraftStore,
  type StoredDocument,
} from './document-saver.ts';

export type DocumentRow = ApiRow<'documents'>;
export type ListedDocument = Pick<DocumentRow, 'id' | 'title' | 'first_day' | 'last_day' | 'updated_at'>;

export const documentsKey = (userId: string) => ['documents', userId] as const;

const COLUMNS = 'title, first_day, last_day, content, revision';

/** The last changed document first. */
export async function listDocuments(data: DataClient, userId: string, signal: AbortSignal): Promise<ListedDocument[]> {
  const { data: rows } = await data
    .from('documents')
    .select('id, title, first_day, last_day, updated_at')
    .eq('user_id', userId)
    .order('updated_at', { ascending: false })
    .abortSignal(signal)
    .throwOnError();
  return rows;
}

export async function deleteDocument(data: DataClient, userId: string, id: string): Promise<void> {
  await data.from('documents').delete().eq('user_id', userId).eq('id', id).throwOnError();
}

export function documentBackend(data: DataClient, userId: string, id: string): DocumentBackend {
  return {
    async read() {
      const { data: row } = await data
        .from('documents')
        .select(COLUMNS)
        .eq('user_id', userId)
        .eq('id', id)
        .maybeSingle()
        .throwOnError();
      return row && fromRow(row);
    },
    async insert(document) {
      const { data: rows, error } = await data
        .from('documents')
        .insert({ user_id: userId, id, ...toRow(document) })
        .select('revision');
      if (error) throw toRefusal(error);
      return rows[0]!.revision;
    },
    async update(document, revision) {
      const { data: rows, error } = await data
        .from('documents')
        .update(toRow(document))
        .eq('user_id', userId)
        .eq('id', id)
        .eq('revision', revision)
        .select('revision');
      if (error) throw toRefusal(error);
      return rows[0]?.revision ?? null;
    },
  };
}

const toRow = (document: WinsDocument) => ({
  title: document.title,
  first_day: document.from,
  last_day: document.to,
  content: formatContent(document),
});

/** A text that another client wrote and that is not a document opens without lines. */
const fromRow = (
  row: Pick<DocumentRow, 'title' | 'first_day' | 'last_day' | 'content' | 'revision'>,
): StoredDocument => ({
  document: {
    title: row.title,
    from: row.first_day,
    to: row.last_day,
    ...(parseContent(row.content) ?? { author: '', lines: [] }),
  },
  revision: row.revision,
});

/** Reads the codes of the data API (docs/specification/api.md 21). Any other error may be gone at the next try. */
function toRefusal({ code, message }: DataError): Error {
  if (code === '42501') return new DocumentRefused('refused');
  if (code === '54000' || code === '23514' || code === '53100') return new DocumentRefused('full');
  return code === '23505' ? new DocumentRefused('exists') : new Error(message);
}

/** The id of this page in the keys of its drafts: two tabs never write the same draft. */
const TAB = crypto.randomUUID();
const lockName = (tab: string): string => `hustle-forge:document-tab:${tab}`;
const locks = 'locks' in navigator ? navigator.locks : null;
// Held while this page lives: other tabs do not take over the drafts of a page that lives.
void locks?.request(lockName(TAB), () => new Promise(() => undefined));

const draftPrefix = (userId: string, id: string): string => `${DOCUMENT_DRAFT_PREFIX}${userId}:${id}:`;

export function draftStore(userId: string, id: string): DraftStore {
  const key = draftPrefix(userId, id) + TAB;
  return {
    write(draft) {
      try {
        localStorage.setItem(key, JSON.stringify(draft));
      } catch {
        // Best effort: without space or storage there is no draft, but the text is sent within seconds.
      }
    },
    clear() {
      try {
        localStorage.removeItem(key);
      } catch {
        // Without storage there is no draft.
      }
    },
  };
}

/** Takes over the draft that a closed page could not send. Of several, keeps only the longest. */
export async function takeDraft(userId: string, id: string): Promise<DocumentDraft | null> {
  const held = new Set((await locks?.query())?.held?.map(({ name }) => name));
  const keys = keysUnder(localStorage, draftPrefix(userId, id)).filter((key) => {
    const tab = key.slice(key.lastIndexOf(':') + 1);
    return tab === TAB || !held.has(lockName(tab));
  });
  const drafts = keys.flatMap((key) => parseDraft(localStorage.getItem(key) ?? '') ?? []);
  const lengthOf = ({ document }: DocumentDraft): number => formatContent(document).length;
  const draft = drafts.sort((a, b) => lengthOf(b) - lengthOf(a))[0] ?? null;
  if (draft === null) return null;
  draftStore(userId, id).write(draft);
  for (const key of keys) if (!key.endsWith(TAB)) localStorage.removeItem(key);
  return draft;
}

function parseDraft(text: string): DocumentDraft | null {
  try {
    const { document, revision } = JSON.parse(text) as DocumentDraft;
    const content = parseContent(formatContent(document));
    return content && isDay(document.from) && isDay(document.to) && typeof document.title === 'string'
      ? { document: { ...document, ...content }, revision }
      : null;
  } catch {
    return null;
  }
}

/** The documents with a draft in this browser, each of which the server may not have. */
export const draftedDocuments = (userId: string): { id: string; title: string }[] => {
  const prefix = `${DOCUMENT_DRAFT_PREFIX}${userId}:`;
  const titles = new Map(
    keysUnder(localStorage, prefix).flatMap((key) => {
      const draft = parseDraft(localStorage.getItem(key) ?? '');
      return draft ? [[key.slice(prefix.length).split(':')[0]!, titleOf(draft.document)] as const] : [];
    }),
  );
  return [...titles].map(([id, title]) => ({ id, title }));
};
