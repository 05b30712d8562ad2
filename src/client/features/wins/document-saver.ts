/**
 * Saves one wins document (docs/specification/wins.md 4). Each edit is kept in this browser at once, sent after a
 * pause, and dropped from the browser once the server has stored it. A save names the revision that it is based on, so
 * it never replaces what another tab or device has saved since: the user then decides.
 */
import { formatContent, type WinsDocument } from '#domain/documents/wins-document.ts';

export type StoredDocument = { document: WinsDocument; revision: number };
/** `revision`: the row that the text is based on; null for a document that the server does not have yet. */
export type DocumentDraft = { document: WinsDocument; revision: number | null };

/** `refused`: the plan has ended. `full`: the document is too long, or the user has too many documents or no space. */
export type SaveState = 'saved' | 'unsaved' | 'saving' | 'offline' | 'refused' | 'full' | 'conflict';

export type DocumentBackend = {
  read: () => Promise<StoredDocument | null>;
  /** @throws DocumentRefused */
  insert: (document: WinsDocument) => Promise<number>;
  /** Returns the new revision, or null if no row with `revision` can be updated. @throws DocumentRefused */
  update: (document: WinsDocument, revision: number) => Promise<number | null>;
};

export class DocumentRefused extends Error {
  readonly reason: 'refused' | 'full' | 'exists';

  constructor(reason: DocumentRefused['reason']) {
    super(reason);
    this.name = 'DocumentRefused';
    this.reason = reason;
  }
}

export type DraftStore = { write: (draft: DocumentDraft) => void; clear: () => void };

export type DocumentSnapshot = {
  document: WinsDocument;
  state: SaveState;
  /** With the state `conflict`: what the server has. Null if the document was deleted there. */
  theirs: StoredDocument | null;
};

type Deps = {
  backend: DocumentBackend;
  draft: DraftStore;
  /** Null if the server does not have the document, or cannot be asked. */
  stored: StoredDocument | null;
  /** A draft that only this browser has, sent if the row is still the one it is based on. Set if `stored` is null. */
  leftover: DocumentDraft | null;
};

const SAVE_DELAY_MS = 1_000;
const MAX_WAIT_MS = 5_000;
const RETRY_MS = 5_000;

export type DocumentSaver = ReturnType<typeof createDocumentSaver>;

const isSameDocument = (a: WinsDocument, b: WinsDocument): boolean =>
  a.title === b.title && a.from === b.from && a.to === b.to && formatContent(a) === formatContent(b);

export function createDocumentSaver({ backend, draft, stored, leftover }: Deps) {
  let { document, revision }: DocumentDraft = stored ?? leftover!;
  let state: SaveState = 'saved';
  let theirs: StoredDocument | null = null;
  let snapshot: DocumentSnapshot = { document, state, theirs };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dirtySince: number | null = null;
  let running: Promise<void> | null = null;
  /** Documents that were sent and got no answer. A stored row that equals one is our write, not another device's. */
  let unanswered: WinsDocument[] = [];
  const listeners = new Set<() => void>();

  const publish = (next: SaveState): void => {
    state = next;
    snapshot = { document, state, theirs };
    for (const listener of listeners) listener();
  };

  function schedule(delay: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void save(), delay);
  }

  function edit(next: WinsDocument): void {
    document = next;
    dirtySince ??= Date.now();
    draft.write({ document, revision });
    publish(state === 'conflict' || state === 'saving' ? state : 'unsaved');
    if (state !== 'conflict') schedule(Math.max(0, Math.min(SAVE_DELAY_MS, dirtySince + MAX_WAIT_MS - Date.now())));
  }

  /** Single-flight. Resolves once nothing is left to send, or sending has failed. */
  function save(): Promise<void> {
    clearTimeout(timer);
    running ??= sendAll().finally(() => (running = null));
    return running;
  }

  async function sendAll(): Promise<void> {
    while (dirtySince !== null && state !== 'conflict') {
      publish('saving');
      const sent = document;
      try {
        unanswered.push(sent);
        const next = revision === null ? await backend.insert(sent) : await backend.update(sent, revision);
        if (next === null) await resolveMissingRow();
        else accept(sent, next);
      } catch (error) {
        if (error instanceof DocumentRefused && error.reason === 'exists') {
          // The answer to the first insert was lost. Only this document has the id.
          revision = 1;
          continue;
        }
        publish(error instanceof DocumentRefused && error.reason !== 'exists' ? error.reason : 'offline');
        if (state === 'offline') schedule(RETRY_MS);
        return;
      }
    }
  }

  function accept(sent: WinsDocument, next: number): void {
    revision = next;
    unanswered = [];
    if (sent === document) {
      dirtySince = null;
      draft.clear();
      publish('saved');
    } else draft.write({ document, revision });
  }

  /** The update found no row of its revision. */
  async function resolveMissingRow(): Promise<void> {
    const row = await backend.read();
    // The policy hides the row from an update: the plan has ended.
    if (row?.revision === revision) throw new DocumentRefused('refused');
    if (row !== null && isSameDocument(row.document, document)) return accept(document, row.revision);
    if (row !== null && unanswered.some((sent) => isSameDocument(row.document, sent))) {
      revision = row.revision;
      return;
    }
    theirs = row;
    publish('conflict');
  }

  if (stored === null) edit(document);
  else if (leftover !== null && !isSameDocument(leftover.document, document)) {
    document = leftover.document;
    dirtySince = Date.now();
    if (leftover.revision === revision) {
      publish('unsaved');
      schedule(0);
    } else {
      theirs = stored;
      publish('conflict');
    }
  } else if (leftover !== null) draft.clear();

  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    getSnapshot: (): DocumentSnapshot => snapshot,
    edit,
    flush: save,
    /** Reads the row if there is nothing to send: another tab or device may have changed it. */
    async refresh(): Promise<void> {
      if (dirtySince !== null || running !== null || revision === null) return;
      const row = await backend.read().catch(() => undefined);
      if (row === undefined || dirtySince !== null || row?.revision === revision) return;
      if (row === null) {
        theirs = null;
        dirtySince = Date.now();
        draft.write({ document, revision });
        return publish('conflict');
      }
      ({ document, revision } = row);
      publish('saved');
    },
    /** Answers a conflict with the text of this page, or with what the server has. */
    resolve(choice: 'mine' | 'theirs'): void {
      const row = theirs;
      theirs = null;
      if (choice === 'theirs' && row !== null) {
        ({ document, revision } = row);
        dirtySince = null;
        draft.clear();
        return publish('saved');
      }
      revision = row?.revision ?? null;
      dirtySince = Date.now();
      draft.write({ document, revision });
      publish('unsaved');
      schedule(0);
    },
    /** Sends what is unsaved and stops the timers. Drafts stay until the server has them. */
    close(): void {
      void save().finally(() => clearTimeout(timer));
    },
  };
}
