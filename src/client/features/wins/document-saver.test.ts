import { beforeEach, afterEach, describe, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { WinsDocument } from '#domain/documents/wins-document.ts';
import { createDocumentSaver, DocumentRefused, type DocumentDraft, type StoredDocument } from './document-saver.ts';

const documentOf = (title: string): WinsDocument => ({
  ...{ title, author: 'Ada', from: day('2026-01-01'), to: day('2026-12-31') },
  lines: [],
});

/** A server with one row, whose answers can be lost. */
function createServer(row: StoredDocument | null) {
  const server = {
    row,
    drafts: [] as (DocumentDraft | null)[],
    /** The fault of the next request: it is not sent, its answer is lost, or the plan refuses it. */
    fault: null as 'offline' | 'lost' | 'refused' | null,
    write(document: WinsDocument, revision: number): number {
      const { fault } = server;
      if (fault === 'offline') throw new TypeError('Failed to fetch');
      if (fault === 'refused') throw new DocumentRefused('refused');
      server.row = { document, revision };
      if (fault === 'lost') {
        server.fault = null;
        throw new TypeError('Failed to fetch');
      }
      return revision;
    },
    backend: {
      read: async () => server.row,
      insert: async (document: WinsDocument) => {
        if (server.row !== null) throw new DocumentRefused('exists');
        return server.write(document, 1);
      },
      update: async (document: WinsDocument, revision: number) =>
        server.row?.revision === revision ? server.write(document, revision + 1) : null,
    },
    draft: {
      write: (draft: DocumentDraft) => void server.drafts.push(draft),
      clear: () => void server.drafts.push(null),
    },
  };
  return server;
}

const start = (server: ReturnType<typeof createServer>, leftover: DocumentDraft | null = null) =>
  createDocumentSaver({
    backend: server.backend,
    draft: server.draft,
    stored: server.row,
    leftover: server.row === null && leftover === null ? { document: documentOf('New'), revision: null } : leftover,
  });

const row = (title: string, revision: number): StoredDocument => ({ document: documentOf(title), revision });
const settle = () => vi.advanceTimersByTimeAsync(60_000);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a document', () => {
  test('is kept in this browser with each edit, and dropped there once the server has it', async () => {
    const server = createServer(row('Q3', 1));
    const saver = start(server);
    saver.edit(documentOf('Q3 2026'));
    expect(server.drafts).toEqual([{ document: documentOf('Q3 2026'), revision: 1 }]);
    expect(saver.getSnapshot().state).toBe('unsaved');
    await settle();
    expect(server.row).toEqual(row('Q3 2026', 2));
    expect(server.drafts.at(-1)).toBeNull();
    expect(saver.getSnapshot().state).toBe('saved');
  });

  test('is sent after five seconds of typing without a pause', async () => {
    const server = createServer(row('Q3', 1));
    const saver = start(server);
    for (let second = 0; second < 12; second += 1) {
      saver.edit(documentOf(`Q3 ${second}`));
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(server.row!.revision).toBeGreaterThan(1);
  });

  test('that is new is inserted, also if the answer is lost', async () => {
    const server = createServer(null);
    server.fault = 'lost';
    const saver = start(server);
    await settle();
    expect(server.row!.document).toEqual(documentOf('New'));
    expect(saver.getSnapshot().state).toBe('saved');
    expect(server.drafts.at(-1)).toBeNull();
  });

  test('is sent again until the server can be reached', async () => {
    const server = createServer(row('Q3', 1));
    server.fault = 'offline';
    const saver = start(server);
    saver.edit(documentOf('Q4'));
    await settle();
    expect(saver.getSnapshot().state).toBe('offline');
    expect(server.drafts.at(-1)).toEqual({ document: documentOf('Q4'), revision: 1 });
    server.fault = null;
    await settle();
    expect(server.row).toEqual(row('Q4', 2));
  });

  test('whose save was stored without an answer is no conflict, also with further edits', async () => {
    const server = createServer(row('Q3', 1));
    server.fault = 'lost';
    const saver = start(server);
    saver.edit(documentOf('Q4'));
    await vi.advanceTimersByTimeAsync(1_100);
    expect(server.row).toEqual(row('Q4', 2));
    saver.edit(documentOf('Q4 2026'));
    await settle();
    expect(saver.getSnapshot()).toMatchObject({ state: 'saved', theirs: null });
    expect(server.row!.document).toEqual(documentOf('Q4 2026'));
  });

  test('stays in this browser when the plan has ended', async () => {
    const server = createServer(row('Q3', 1));
    server.fault = 'refused';
    const saver = start(server);
    saver.edit(documentOf('Q4'));
    await settle();
    expect(saver.getSnapshot().state).toBe('refused');
    expect(server.drafts.at(-1)).not.toBeNull();
  });
});

describe('a document that was changed elsewhere', () => {
  const conflicted = async () => {
    const server = createServer(row('Q3', 1));
    const saver = start(server);
    server.row = row('Theirs', 2);
    saver.edit(documentOf('Mine'));
    await settle();
    return { server, saver };
  };

  test('is not overwritten, and keeps both versions', async () => {
    const { server, saver } = await conflicted();
    expect(server.row).toEqual(row('Theirs', 2));
    expect(saver.getSnapshot()).toEqual({ document: documentOf('Mine'), state: 'conflict', theirs: row('Theirs', 2) });
    saver.edit(documentOf('Mine again'));
    await settle();
    expect(server.row).toEqual(row('Theirs', 2));
    expect(server.drafts.at(-1)).toEqual({ document: documentOf('Mine again'), revision: 1 });
  });

  test('is replaced when the user says so', async () => {
    const { server, saver } = await conflicted();
    saver.resolve('mine');
    await settle();
    expect(server.row).toEqual(row('Mine', 3));
    expect(saver.getSnapshot().state).toBe('saved');
  });

  test('is shown when the user says so', async () => {
    const { server, saver } = await conflicted();
    saver.resolve('theirs');
    await settle();
    expect(server.row).toEqual(row('Theirs', 2));
    expect(saver.getSnapshot()).toEqual({ document: documentOf('Theirs'), state: 'saved', theirs: null });
    expect(server.drafts.at(-1)).toBeNull();
  });

  test('to the same text is no conflict', async () => {
    const server = createServer(row('Q3', 1));
    const saver = start(server);
    server.row = row('Same', 5);
    saver.edit(documentOf('Same'));
    await settle();
    expect(saver.getSnapshot().state).toBe('saved');
    expect(server.row).toEqual(row('Same', 5));
  });

  test('is shown on return if nothing is unsaved here', async () => {
    const server = createServer(row('Q3', 1));
    const saver = start(server);
    server.row = row('Theirs', 2);
    await saver.refresh();
    expect(saver.getSnapshot()).toEqual({ document: documentOf('Theirs'), state: 'saved', theirs: null });
  });

  test('by deletion comes back only when the user says so', async () => {
    const server = createServer(row('Q3', 1));
    const saver = start(server);
    server.row = null;
    await saver.refresh();
    expect(saver.getSnapshot()).toMatchObject({ state: 'conflict', theirs: null });
    await settle();
    expect(server.row).toBeNull();
    saver.resolve('mine');
    await settle();
    expect(server.row).toEqual(row('Q3', 1));
  });
});

describe('a draft of an earlier visit', () => {
  test('is sent if the document is unchanged since', async () => {
    const server = createServer(row('Q3', 4));
    const saver = start(server, { document: documentOf('Draft'), revision: 4 });
    expect(saver.getSnapshot().document).toEqual(documentOf('Draft'));
    await settle();
    expect(server.row).toEqual(row('Draft', 5));
  });

  test('asks if the document was changed since', async () => {
    const server = createServer(row('Q3', 5));
    const saver = start(server, { document: documentOf('Draft'), revision: 4 });
    await settle();
    expect(saver.getSnapshot()).toMatchObject({ state: 'conflict', theirs: row('Q3', 5) });
    expect(server.row).toEqual(row('Q3', 5));
  });

  test('is sent also if the server could not be asked at first', async () => {
    const server = createServer(row('Q3', 4));
    const leftover = { document: documentOf('Draft'), revision: 4 };
    const saver = createDocumentSaver({ backend: server.backend, draft: server.draft, stored: null, leftover });
    expect(saver.getSnapshot()).toMatchObject({ document: documentOf('Draft'), state: 'unsaved' });
    expect(server.drafts).not.toContain(null);
    await settle();
    expect(server.row).toEqual(row('Draft', 5));
  });

  test('of a document that was deleted elsewhere asks', async () => {
    const server = createServer(null);
    const saver = start(server, { document: documentOf('Draft'), revision: 4 });
    await settle();
    expect(saver.getSnapshot()).toMatchObject({ document: documentOf('Draft'), state: 'conflict', theirs: null });
  });

  test('that the server has already is dropped', async () => {
    const server = createServer(row('Q3', 5));
    start(server, { document: documentOf('Q3'), revision: 4 });
    expect(server.drafts).toEqual([null]);
  });
});
