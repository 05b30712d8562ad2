/** Harness for the day saver's tests: virtual time, one server row and an editor. */
import { createDayDrafts, type DayDraft } from '#client/sync/day-drafts.ts';
import type { MergeLoader } from '#client/sync/merge-loader.ts';
import * as mergeModule from '#domain/merge/merge-logs.ts';
import { createDaySavers, type DaySavers, type DaySaversOptions } from '#client/sync/day-savers.ts';
import { createDaySaver, type DaySaver, type EditorChange, type Timers } from '#client/sync/day-saver/day-saver.ts';
import type { EntryTransport, Failure, MovedLog, StoredLog, WriteOutcome } from '#client/sync/save-requests.ts';
import { day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';

const DATE = day('2026-11-21');

/** Lets all pending promise callbacks run. */
const flushPromises = () => new Promise<void>((resolve) => setImmediate(resolve));

export function createVirtualTime(start = 1_000_000) {
  let now = start;
  let setBackMs = 0;
  let pending: { at: number; run: () => void }[] = [];
  const timers: Timers = {
    now: () => now - setBackMs,
    after(ms, run) {
      const timer = { at: now + ms, run };
      pending.push(timer);
      return () => void (pending = pending.filter((other) => other !== timer));
    },
  };
  /** Advances time and runs each timer when it is due. */
  async function advance(ms: number): Promise<void> {
    const end = now + ms;
    await flushPromises();
    for (;;) {
      const next = pending.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      now = Math.max(now, next.at);
      pending = pending.filter((timer) => timer !== next);
      next.run();
      await flushPromises();
    }
    now = end;
    await flushPromises();
  }
  /** Sets the clock back. Timers go on: browsers measure them by another clock. */
  const setClockBack = (ms: number): void => void (setBackMs += ms);
  return { timers, advance, setClockBack };
}

export class MemoryStorage implements Storage {
  #items = new Map<string, string>();
  /** Maximum length of a value in characters. */
  maxValueLength = Infinity;
  get length() {
    return this.#items.size;
  }
  key = (index: number) => [...this.#items.keys()][index] ?? null;
  getItem = (key: string) => this.#items.get(key) ?? null;
  removeItem = (key: string) => void this.#items.delete(key);
  clear = () => this.#items.clear();
  setItem(key: string, value: string) {
    if (value.length > this.maxValueLength) throw new DOMException('full', 'QuotaExceededError');
    this.#items.set(key, value);
  }
}

/** The merge as if its chunk had loaded at once. */
export const loadedMerge: MergeLoader = { loaded: () => mergeModule, load: async () => mergeModule };

/**
 * The days of a tab that is online and shown, with the merge loaded. Its timers never elapse, so only explicit calls
 * send.
 */
export const createTestSavers = (options: Partial<DaySaversOptions> & Pick<DaySaversOptions, 'transport'>): DaySavers =>
  createDaySavers({
    timers: { now: () => 0, after: () => () => undefined },
    merger: loadedMerge,
    drafts: createDayDrafts(new MemoryStorage(), 'ada', 'one'),
    isOnline: () => true,
    isHidden: () => false,
    onStored: () => undefined,
    ...options,
  });

/** `lost`: the server stores the write and the response is lost. `down`: the server receives nothing. */
export type ServerMode = 'fine' | 'down' | 'lost' | 'signedOut' | 'refused';

export function createDaySaverHarness() {
  const time = createVirtualTime();
  const storage = new MemoryStorage();
  let page = 0;
  /** No insert uses the id of a deleted log again (`begin_entry`). */
  const deletedIds = new Set<string>();
  const noteDeletion = (): void => {
    if (world.row) deletedIds.add(world.row.id);
  };
  const world = {
    ...time,
    storage,
    row: null as StoredLog | null,
    serverMode: 'fine' as ServerMode,
    /** Whether the plan locks the day on the server. A loaded page learns of the lock only from a response. */
    isLocked: false,
    latencyMs: 20,
    isOnline: true,
    isHidden: false,
    /** The HTML of every write that the server stored, in order. A removal is the empty string. */
    writes: [] as string[],
    /** The number of requests that were sent, reads included. */
    requests: 0,
    inFlight: 0,
    maxInFlight: 0,
    acknowledged: [] as (StoredLog | null)[],
    /** The editor's content. */
    editorText: '',
    /** The argument `change` of the saver's last call of `replace`; null before the first. */
    editorChange: null as EditorChange | null,
    isComposing: false,
    /** False: the merge's chunk cannot be loaded. */
    canMerge: true,
    /** False: the chunk loads at the first request for it. */
    isMergeLoaded: true,
    saver: null as unknown as DaySaver,
    transport: null as unknown as EntryTransport,
    detach: () => {},
    /** Replaces the browser's storage of drafts. */
    storeDraft: null as ((draft: DayDraft) => Promise<boolean>) | null,
    /** Whether an editor is open. The locked view has no editor. */
    isEditing: false,
    /** Another device writes or deletes the day. */
    writeElsewhere(html: string | null) {
      if (html === null) noteDeletion();
      world.row = html === null ? null : { ...nextVersion(), html, savedAt: 0 };
    },
    /** The log of this day that another device moved to another day. */
    moved: null as (MovedLog & { id: string }) | null,
    /** The plan locks the day that the log was moved to. */
    isMovedHidden: false,
    moveElsewhere() {
      const { id, html } = world.row!;
      world.moved = { id, html, date: day('2026-11-18') };
      world.row = null;
    },
    /** Raises the revision without a change of the text. */
    raiseRevision() {
      if (world.row) world.row = { ...world.row, revision: world.row.revision + 1 };
    },
    type(html: string) {
      world.editorText = html;
      world.saver.recordEdit();
    },
    /** The page learns that the plan ended, and the locked view replaces the editor. */
    showLockedView() {
      world.detach();
      world.isEditing = false;
    },
    /** The page learns that the plan opens the day: unsaved text is sent, otherwise the stored day is loaded. */
    showUnlockedDay() {
      if (!world.saver.view().unsaved) return world.loadPage();
      world.saver.retry();
      world.openEditor();
    },
    /**
     * Loads the page anew: reads the day, restores a draft and opens the editor as the screen does. A locked day has no
     * editor.
     */
    loadPage() {
      page += 1;
      world.inFlight = 0;
      const drafts = createDayDrafts(storage, 'ada', `tab-${time.timers.now()}`);
      world.saver = createDaySaver({
        date: DATE,
        stored: world.isLocked ? null : world.row,
        transport: world.transport,
        timers: time.timers,
        merger,
        isOnline: () => world.isOnline,
        isHidden: () => world.isHidden,
        drafts: { store: world.storeDraft ?? ((draft) => drafts.store(DATE, draft)), drop: () => drafts.drop(DATE) },
        onStored: (stored) => void world.acknowledged.push(stored),
      });
      const draft = drafts.claim(DATE, mergeModule.mergeLogs);
      if (draft) world.saver.restore(draft, !world.isLocked);
      world.isEditing = false;
      if (!world.isLocked) world.openEditor();
    },
    openEditor() {
      world.isEditing = true;
      world.editorText = world.saver.text();
      world.detach = world.saver.attachEditor({
        read: () => world.editorText,
        replace(html, change) {
          world.editorText = html;
          world.editorChange = change;
        },
        isComposing: () => world.isComposing,
      });
    },
    status: () => world.saver.view().status.kind,
  };

  const merger: MergeLoader = {
    loaded: () => (world.canMerge && world.isMergeLoaded ? mergeModule : null),
    async load() {
      world.isMergeLoaded = true;
      return merger.loaded();
    },
  };

  const currentFailure = (): Failure | null => {
    if (world.serverMode === 'signedOut') return { kind: 'signedOut' };
    if (world.serverMode === 'refused') return { kind: 'refused', reason: 'no' };
    return null;
  };

  /** One request, with half of the latency in each direction. */
  async function request<T>(answer: () => T): Promise<T | Failure> {
    const sender = page;
    world.requests += 1;
    world.inFlight += 1;
    world.maxInFlight = Math.max(world.maxInFlight, world.inFlight);
    const half = () => new Promise<void>((resolve) => void time.timers.after(world.latencyMs / 2, resolve));
    await half();
    const hasArrived = world.serverMode !== 'down';
    const outcome = currentFailure() ?? (hasArrived ? answer() : { kind: 'unreachable' as const });
    const isResponseLost = world.serverMode === 'lost';
    await half();
    // The page that sent the request has been reloaded, so nobody receives the response.
    if (sender !== page) return new Promise<never>(() => {});
    world.inFlight -= 1;
    return isResponseLost ? { kind: 'unreachable' } : outcome;
  }

  let rows = 0;
  /** The next version of the row. A new row starts at revision 1. */
  const nextVersion = (id = `row ${String((rows += 1))}`): Version =>
    world.row ? { id: world.row.id, revision: world.row.revision + 1 } : { id, revision: 1 };
  const isAt = ({ id, revision }: Version): boolean => visibleRow()?.id === id && visibleRow()?.revision === revision;

  const store = (html: string, id?: string): WriteOutcome => {
    world.writes.push(html);
    world.row = { ...nextVersion(id), html, savedAt: time.timers.now() };
    return { ...world.row, kind: 'stored' };
  };
  /** The row that an update or a removal can match: no row while the plan locks the day. */
  const visibleRow = (): StoredLog | null => (world.isLocked ? null : world.row);
  world.transport = {
    read: (_date, id) =>
      request(() => {
        if (world.isLocked) return { kind: 'locked' };
        const isFound = id !== undefined && world.moved?.id === id && !world.isMovedHidden;
        const moved = isFound ? world.moved! : undefined;
        return { kind: 'read' as const, stored: world.row, moved };
      }),
    insert: (_date, html, id) =>
      request(() => {
        if (world.isLocked) return { kind: 'locked' };
        const isTaken = world.row !== null || world.moved?.id === id || deletedIds.has(id);
        return isTaken ? { kind: 'changed' } : store(html, id);
      }),
    update: (_date, html, version) => request(() => (isAt(version) ? store(html) : { kind: 'changed' })),
    remove: (_date, version) =>
      request(() => {
        if (!isAt(version)) return { kind: 'changed' };
        world.writes.push('');
        noteDeletion();
        world.row = null;
        return { kind: 'removed' };
      }),
  };
  return world;
}

export type DaySaverHarness = ReturnType<typeof createDaySaverHarness>;

/** A log of these items as editor HTML. */
export const log = (...items: string[]): string =>
  items.length === 0 ? '' : `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

/** The only stored draft. */
export const draftOf = ({ storage }: DaySaverHarness): unknown => JSON.parse(storage.getItem(storage.key(0)!)!);
