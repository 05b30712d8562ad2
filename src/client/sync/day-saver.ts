/**
 * Saves one day. Knows nothing of React, the network or the clock on the wall: all three are handed in.
 *
 * The rules (docs/specification/days-and-saving.md 5): a save leaves 2 s after the last edit, at the latest 10 s after the first unsaved one; one
 * request at a time; what is sent is a snapshot, so what is typed meanwhile is still unsaved when the answer comes; every
 * write names the version it builds on. Whatever goes wrong, what was written stays in `text` and in the local draft.
 * A day that the plan has closed is asked about again only when somebody has a reason to: see `retry`.
 */
import { AUTO_SAVE_DELAY_MS, AUTO_SAVE_MAX_WAIT_MS } from '#domain/log/entry.ts';
import type { Day } from '#domain/day/day.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { DayDraft } from '#client/sync/day-drafts.ts';
import { containsLog, mergeLogs, sameWords } from './log-lines.ts';
import type { EntryTransport, Failure, MovedLog, StoredLog, WriteOutcome } from './save-outcome.ts';
import type { SaveStatus } from './save-status.ts';

/** The draft follows the fingers closely, but not at every key: serialising and storing would be felt. */
const DRAFT_DELAY_MS = 400;
const DRAFT_LIMIT_MS = 3_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_LIMIT_MS = 30_000;
/** A day that is found changed once more each time it is sent waits as for a network. */
const SENDS_AT_ONCE = 3;

/** Time as the saver sees it. `after` answers how to call it off. */
export type Timers = { now: () => number; after: (ms: number, run: () => void) => () => void };

/** The editor that is open on the day, if any. */
export type OpenEditor = {
  read: () => string;
  /** Puts another text in, as a step that can be undone. */
  replace: (html: string) => void;
  /** An input method is in the middle of a word: the text must not be touched. */
  isComposing: () => boolean;
};

export type SaverView = {
  status: SaveStatus;
  /**
   * The other version, when this day was changed elsewhere and the two differ. `null` inside: it was removed there, or
   * `moved` to another day.
   */
  conflict: { theirs: StoredLog | null; moved?: MovedLog | undefined } | null;
  /** Words that the server does not have yet. */
  unsaved: boolean;
  /** What the server is known to have. */
  stored: StoredLog | null;
};

const isSameView = (a: SaverView, b: SaverView): boolean =>
  a.conflict === b.conflict &&
  a.unsaved === b.unsaved &&
  a.stored === b.stored &&
  JSON.stringify(a.status) === JSON.stringify(b.status);

export type DaySaverOptions = {
  date: Day;
  stored: StoredLog | null;
  transport: EntryTransport;
  timers: Timers;
  isOnline: () => boolean;
  drafts: { keep: (draft: DayDraft) => boolean; drop: () => void };
  /** The server has acknowledged this; null means that the day is gone, as asked. */
  onStored: (stored: StoredLog | null) => void;
};

export type DaySaver = ReturnType<typeof createDaySaver>;

export function createDaySaver(options: DaySaverOptions) {
  const { date, transport, timers, drafts } = options;
  let base = options.stored;
  let text = base?.html ?? '';
  let editor: OpenEditor | null = null;
  /** The editor holds something newer than `text`. */
  let stale = false;
  let unsaved = false;
  let unsavedSince = 0;
  let due = 0;
  let running: Promise<void> | null = null;
  /** Texts that were sent and never answered: finding one of them on the server means that it had arrived. */
  let unanswered: string[] = [];
  let failures = 0;
  let blocked: Exclude<Failure, { kind: 'unreachable' | 'locked' }> | null = null;
  /** The plan does not open the day. Stays while a try is under way, so that the screen does not go to and fro. */
  let locked = false;
  /** What a found draft was written on, until it has been compared with what the server has. */
  let draftBase: Pick<DayDraft, 'base' | 'baseId' | 'baseRevision'> | null = null;
  let conflict: SaverView['conflict'] = null;
  let draftSafe = true;
  let answeredAt = 0;
  let stopSave = () => {};
  let stopDraft = () => {};
  let draftSince: number | null = null;
  /** When a draft last took over words that no draft had. */
  let newestDraftAt = -Infinity;
  const listeners = new Set<() => void>();
  let view: SaverView = { status: statusNow(), conflict, unsaved, stored: base };

  function statusNow(): SaveStatus {
    if (conflict) return { kind: 'conflict' };
    if (blocked) return blocked;
    if (locked) return { kind: 'locked' };
    if (failures > 0 || (unsaved && !options.isOnline())) return { kind: options.isOnline() ? 'retrying' : 'offline' };
    if (running && unsaved) return { kind: 'saving' };
    if (unsaved) return { kind: 'unsaved' };
    return base ? { kind: 'saved', at: base.savedAt } : { kind: 'empty' };
  }

  function show(): void {
    const next: SaverView = { status: statusNow(), conflict, unsaved, stored: base };
    if (isSameView(next, view)) return;
    view = next;
    for (const listener of listeners) listener();
  }

  function snapshot(): string {
    if (stale && editor) text = editor.read();
    stale = false;
    return text;
  }

  const isSettled = (html: string): boolean => (base === null ? isEmptyLog(html) : html === base.html);

  function keepDraft(): boolean {
    stopDraft();
    if (draftSince !== null) newestDraftAt = timers.now();
    draftSince = null;
    if (!unsaved) return true;
    const draft = { html: snapshotForDraft(), baseRevision: builtOn().baseRevision, at: timers.now() };
    // Where there is no room for what it was written on, the words alone.
    const { base: writtenOn, baseId } = builtOn();
    draftSafe = drafts.keep({ ...draft, base: writtenOn, baseId, sent: unanswered }) || drafts.keep(draft);
    return draftSafe;
  }

  const builtOn = () => draftBase ?? { base: base?.html ?? '', baseId: base?.id, baseRevision: base?.revision ?? null };

  /** Reading the editor for the draft must not make the next save believe that nothing is new. */
  const snapshotForDraft = (): string => (stale && editor ? (text = editor.read()) : text);

  function keepDraftSoon(): void {
    draftSince ??= timers.now();
    stopDraft();
    const latest = draftSince + DRAFT_LIMIT_MS - timers.now();
    stopDraft = timers.after(Math.max(0, Math.min(DRAFT_DELAY_MS, latest)), () => void keepDraft());
  }

  const mustWait = (): boolean => !unsaved || conflict !== null || blocked !== null;

  function schedule(): void {
    stopSave();
    // A locked day is left alone, unless a try at it found no connection: that says nothing about the plan.
    if (running || mustWait() || (locked && failures === 0)) return;
    stopSave = timers.after(Math.max(0, due - timers.now()), () => void run());
  }

  function markUnsaved(delayMs: number): void {
    const now = timers.now();
    if (!unsaved || unsavedSince === 0) unsavedSince = now;
    unsaved = true;
    due = Math.min(now + delayMs, unsavedSince + AUTO_SAVE_MAX_WAIT_MS);
    if (blocked?.kind === 'refused') blocked = null;
    keepDraftSoon();
    // A retry that is already waiting keeps its own time.
    if (failures === 0) schedule();
    show();
  }

  function settle(): void {
    unsaved = false;
    unsavedSince = 0;
    failures = 0;
    conflict = null;
    locked = false;
    draftBase = null;
    stopDraft();
    draftSince = null;
    draftSafe = true;
    drafts.drop();
  }

  function accept(stored: StoredLog | null): void {
    base = stored;
    failures = 0;
    locked = false;
    draftBase = null;
    unanswered = [];
    answeredAt = timers.now();
    options.onStored(stored);
  }

  function fail(failure: Failure): 'stop' {
    if (failure.kind === 'unreachable') {
      failures += 1;
      due = timers.now() + Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_LIMIT_MS);
    } else {
      failures = 0;
      locked = failure.kind === 'locked';
      if (failure.kind !== 'locked') blocked = failure;
    }
    keepDraft();
    return 'stop';
  }

  /**
   * The other version holds everything that is here, and nothing was taken out here: neither of what this was written on
   * nor of what was sent since. A draft that does not say what it was written on may be one from which lines were deleted.
   */
  const mayAdopt = (mine: string, theirs: string): boolean => {
    const { base: before } = builtOn();
    return (
      before !== undefined &&
      containsLog(theirs, mine) &&
      [before, ...unanswered].every((earlier) => containsLog(mine, earlier)) &&
      editor?.isComposing() !== true
    );
  };

  /** Decides what to do about a day that is not what we built on. `go`: what is unsaved may be sent again. */
  function reconcile(theirs: StoredLog | null, moved?: MovedLog): 'go' | 'stop' {
    const other = theirs?.html ?? '';
    const { base: before, baseRevision } = builtOn();
    const go = (): 'go' => {
      base = theirs;
      draftBase = null;
      return 'go';
    };
    locked = false;
    if (theirs !== null && unanswered.includes(other)) {
      accept(theirs);
      return go();
    }
    // Sent once more, words of a log that was moved would stand at both days.
    if (moved) {
      if (containsLog(moved.html, snapshot()) && editor?.isComposing() !== true) replaceWith(theirs);
      else setConflict({ theirs, moved });
      return 'stop';
    }
    const isSameRevision = (theirs?.revision ?? null) === baseRevision;
    // The words as well: a day that was deleted and begun anew counts from one again.
    if (other === before || (isSameRevision && sameWords(before ?? other, other))) return go();
    const mine = snapshot();
    if (sameWords(mine, other) || containsLog(mine, other)) return go();
    if (mayAdopt(mine, other)) {
      accept(theirs);
      put(other);
      settle();
      return 'stop';
    }
    setConflict({ theirs });
    return 'stop';
  }

  function setConflict(found: SaverView['conflict']): void {
    // What a draft was written on stays known, or the next load would take it for one of the newest revision.
    conflict = found;
    keepDraft();
  }

  async function look(): Promise<'go' | 'stop'> {
    const outcome = await transport.read(date, builtOn().baseId);
    return outcome.kind === 'read' ? reconcile(outcome.stored, outcome.moved) : fail(outcome);
  }

  function write(html: string): Promise<WriteOutcome> {
    if (base === null) return transport.insert(date, html);
    if (isEmptyLog(html)) return transport.remove(date, base);
    return transport.update(date, html, base);
  }

  /** One attempt: find out about lost answers, send, and take the answer in. */
  async function attempt(): Promise<void> {
    if ((unanswered.length > 0 || draftBase) && (await look()) === 'stop') return;
    for (let sends = 0; sends < SENDS_AT_ONCE; sends += 1) {
      if ((await send()) === 'stop') return;
    }
    fail({ kind: 'unreachable' });
  }

  /** `go`: the day was changed elsewhere, but not so that what is unsaved could not be sent once more. */
  async function send(): Promise<'go' | 'stop'> {
    const html = snapshot();
    unsavedSince = 0;
    if (isSettled(html)) {
      settle();
      return 'stop';
    }
    show();
    unanswered.push(html);
    const outcome = await write(html);
    switch (outcome.kind) {
      case 'stored':
        accept({ html, id: outcome.id, revision: outcome.revision, savedAt: outcome.savedAt });
        break;
      case 'removed':
        accept(null);
        break;
      case 'changed':
        // This one certainly stored nothing; an earlier one, whose answer was lost, may have.
        unanswered.pop();
        return look();
      case 'signedOut':
      case 'refused':
      case 'locked':
        unanswered.pop();
        return fail(outcome);
      case 'unreachable':
        return fail(outcome);
    }
    if (!stale && isSettled(text)) settle();
    return 'stop';
  }

  function run(evenLocked = false): Promise<void> {
    if (running) return running;
    if (mustWait() || (locked && failures === 0 && !evenLocked)) return Promise.resolve();
    stopSave();
    running = attempt().finally(() => {
      running = null;
      schedule();
      show();
    });
    show();
    return running;
  }

  /** Puts another text into the day, on the screen as well where an editor is open. */
  function put(html: string): void {
    text = html;
    stale = false;
    editor?.replace(html);
  }

  /** The day as the server has it takes the place of all that is here; an editor can have its text back with undo. */
  function replaceWith(stored: StoredLog | null): void {
    accept(stored);
    put(stored?.html ?? '');
    settle();
    show();
  }

  /** Every line of here, and of another version what was not already known when these were written. */
  const mergedWith = (html: string): string => (html === builtOn().base ? snapshot() : mergeLogs(snapshot(), html));

  return {
    date,
    replaceWith,
    mergedWith,
    view: () => view,
    /** The newest text known here, saved or not: what an editor that opens on this day begins with. */
    text: () => snapshot(),
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /** The user changed something. Cheap enough for every key: nothing is read until it is needed. */
    edited(delayMs: number = AUTO_SAVE_DELAY_MS): void {
      stale = editor !== null;
      markUnsaved(delayMs);
    },

    /** The user chose a whole text, such as a quick entry or the other version's. */
    write(html: string, delayMs: number): void {
      put(html);
      markUnsaved(delayMs);
    },

    /** An editor opened on this day. Answers what to call when it closes. */
    attach(opened: OpenEditor): () => void {
      editor = opened;
      return () => {
        if (editor !== opened) return;
        snapshot();
        editor = null;
        void run();
      };
    },

    /** Words that a closed tab or a crash left on this device. `readable`: the plan opens the day that they are of. */
    restore(draft: DayDraft, readable = true): void {
      const sent = draft.sent ?? [];
      // What else the page before has sent may still be on its way: then only asking again tells what the server has.
      if (readable && (unsaved || (isSettled(draft.html) && sent.every((html) => html === draft.html))))
        return drafts.drop();
      put(draft.html);
      unsaved = true;
      // The draft itself as well: it is kept first, and sent as the last thing a page does.
      unanswered = isSettled(draft.html) ? [...sent] : [...new Set([...sent, draft.html])];
      draftBase = draft;
      locked = !readable;
      if (readable) {
        due = timers.now();
        // Where the day has no row any more, only asking by the row's id tells whether it was moved.
        if (base !== null || draft.baseId === undefined) reconcile(base);
        schedule();
      }
      show();
    },

    /** What the server was found to have, asked at `askedAt`. Taken over only where nothing here is newer. */
    offer(stored: StoredLog | null, askedAt: number): void {
      if (unsaved || running || askedAt <= answeredAt) return;
      if (editor?.isComposing()) return;
      const changed = (stored?.html ?? '') !== (base?.html ?? '');
      base = stored;
      if (changed) put(stored?.html ?? '');
      show();
    },

    /** Sends now what is unsaved. Resolves when the attempt is over; true when nothing is left to save. */
    async flush(): Promise<boolean> {
      if (running) await running;
      await run();
      return !unsaved;
    },

    /** The page may go at any moment: keeps a draft at once. False when the browser refused to keep it. */
    keepDraft,

    /** The network, the session or the plan may be back, or the user asks to try again: what waited goes out. */
    async retry(): Promise<void> {
      blocked = null;
      await run(true);
      show();
    },

    /** Both versions, line by line. */
    async keepBoth(): Promise<void> {
      if (!conflict) return;
      const { theirs } = conflict;
      const merged = mergedWith(theirs?.html ?? '');
      base = theirs;
      draftBase = null;
      conflict = null;
      put(merged);
      markUnsaved(0);
      await run();
    },

    /** The other version; the one written here can be had back with undo. */
    takeTheirs(): void {
      if (conflict) replaceWith(conflict.theirs);
    },

    /**
     * Whether words here are newer than every draft of that time: nobody who looked for unsent words then has seen them.
     * They are kept in a draft again, because the user's drafts are wiped with a sign-out.
     */
    keepNewerThan(at: number): boolean {
      const isNewer = unsaved && (draftSince !== null || newestDraftAt > at);
      if (isNewer) keepDraftSoon();
      return isNewer;
    },
    /** Nothing that is unsaved would be lost if the page went now. */
    isSafe: () => !unsaved || draftSafe,

    /** Stops all timers. What is unsaved stays in the draft. */
    close(): void {
      keepDraft();
      stopSave();
      stopDraft();
    },
  };
}
