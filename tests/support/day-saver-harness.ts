/** Harness for the day saver's tests: virtual time, one server row and an editor. */
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { mergeLogs } from '#client/sync/log-lines.ts';
import { createDaySaver } from '#client/sync/day-saver/day-saver.ts';
import type { DaySaver, Timers } from '#client/sync/day-saver/day-saver.ts';
import type { EntryTransport, Failure, MovedLog, StoredLog, WriteOutcome } from '#client/sync/save-outcome.ts';
import { day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';

const DATE = day('2026-11-21');

/** Lets all pending promise callbacks run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createVirtualTime(start = 1_000_000) {
  let now = start;
  let waiting: { at: number; run: () => void }[] = [];
  const timers: Timers = {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      waiting.push(timer);
      return () => void (waiting = waiting.filter((other) => other !== timer));
    },
  };
  /** Advances time and runs each timer when it is due. */
  async function pass(ms: number): Promise<void> {
    const end = now + ms;
    await settled();
    for (;;) {
      const next = waiting.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      now = Math.max(now, next.at);
      waiting = waiting.filter((timer) => timer !== next);
      next.run();
      await settled();
    }
    now = end;
    await settled();
  }
  return { timers, pass };
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

/** `lost`: the server stores the write and the response is lost. `down`: the server receives nothing. */
export type ServerMode = 'fine' | 'down' | 'lost' | 'signedOut' | 'refused';

export function createDaySaverHarness() {
  const time = createVirtualTime();
  const storage = new MemoryStorage();
  let page = 0;
  const world = {
    ...time,
    storage,
    row: null as StoredLog | null,
    serverMode: 'fine' as ServerMode,
    /** The plan locks this day, known to the server before the page. */
    locked: false,
    latencyMs: 20,
    online: true,
    /** All writes that reached the server, in order. */
    writes: [] as string[],
    /** Number of requests of any kind. */
    requests: 0,
    inFlight: 0,
    maxInFlight: 0,
    acknowledged: [] as (StoredLog | null)[],
    /** The editor's content. */
    shown: '',
    composing: false,
    saver: null as unknown as DaySaver,
    transport: null as unknown as EntryTransport,
    detach: () => {},
    /** Whether an editor is open. The locked view has none. */
    editing: false,
    /** The user changes the day on another device. */
    elsewhere(html: string | null) {
      world.row = html === null ? null : { ...following(), html, savedAt: 0 };
    },
    /** The log of this day that another device moved to another day. */
    moved: null as (MovedLog & { id: string }) | null,
    moveAway() {
      const { id, html } = world.row!;
      world.moved = { id, html, date: day('2026-11-18') };
      world.row = null;
    },
    /** Raises the revision without a change of the text. */
    raiseRevision() {
      if (world.row) world.row = { ...world.row, revision: world.row.revision + 1 };
    },
    type(html: string) {
      world.shown = html;
      world.saver.edited();
    },
    /** The page learns that the plan ended, and the locked view replaces the editor. */
    hearOfLock() {
      world.detach();
      world.editing = false;
    },
    /** The page learns that the plan opens the day: pending text is sent, otherwise the stored day is loaded. */
    hearOfOpening() {
      if (!world.saver.view().unsaved) return world.load();
      world.saver.retry();
      world.openEditor();
    },
    /** Reloads the page: reads the day and opens the editor like the screen does. */
    load() {
      page += 1;
      world.inFlight = 0;
      const drafts = createDayDrafts(storage, 'ada', `tab-${time.timers.now()}`);
      world.saver = createDaySaver({
        date: DATE,
        stored: world.locked ? null : world.row,
        transport: world.transport,
        timers: time.timers,
        isOnline: () => world.online,
        drafts: { keep: (draft) => drafts.keep(DATE, draft), drop: () => drafts.drop(DATE) },
        onStored: (stored) => void world.acknowledged.push(stored),
      });
      const draft = drafts.take(DATE, mergeLogs);
      if (draft) world.saver.restore(draft, !world.locked);
      world.editing = false;
      if (!world.locked) world.openEditor();
    },
    openEditor() {
      world.editing = true;
      world.shown = world.saver.text();
      world.detach = world.saver.attach({
        read: () => world.shown,
        replace: (html) => void (world.shown = html),
        isComposing: () => world.composing,
      });
    },
    status: () => world.saver.view().status.kind,
  };

  const failed = (): Failure | null => {
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
    const isReached = world.serverMode !== 'down';
    const outcome = failed() ?? (isReached ? answer() : { kind: 'unreachable' as const });
    const lost = world.serverMode === 'lost';
    await half();
    // The page that sent the request has been reloaded.
    if (sender !== page) return new Promise<never>(() => {});
    world.inFlight -= 1;
    return lost ? { kind: 'unreachable' } : outcome;
  }

  let rows = 0;
  /** The next version of the row. A new row starts at revision 1. */
  const following = (): Version =>
    world.row
      ? { id: world.row.id, revision: world.row.revision + 1 }
      : { id: `row ${String((rows += 1))}`, revision: 1 };
  const isAt = ({ id, revision }: Version): boolean => visible()?.id === id && visible()?.revision === revision;

  const store = (html: string): WriteOutcome => {
    world.writes.push(html);
    world.row = { ...following(), html, savedAt: time.timers.now() };
    return { ...world.row, kind: 'stored' };
  };
  /** A locked row cannot be read, changed or replaced. */
  const visible = (): StoredLog | null => (world.locked ? null : world.row);
  world.transport = {
    read: (_date, id) =>
      request(() => {
        if (world.locked) return { kind: 'locked' };
        const moved = id !== undefined && world.moved?.id === id ? world.moved : undefined;
        return { kind: 'read' as const, stored: world.row, moved };
      }),
    insert: (_date, html) =>
      request(() => (world.locked ? { kind: 'locked' } : world.row ? { kind: 'changed' } : store(html))),
    update: (_date, html, version) => request(() => (isAt(version) ? store(html) : { kind: 'changed' })),
    remove: (_date, version) =>
      request(() => {
        if (!isAt(version)) return { kind: 'changed' };
        world.writes.push('');
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
