/**
 * Model tests of the reducer. One runs random events in a simulated page: a server that answers late or not at all, an
 * editor, a draft store and crashes. The others apply any event to any state.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { log } from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import type { DayDraft } from '../day-drafts.ts';
import type { Failure, StoredLog } from '../save-requests.ts';
import {
  initialState,
  isStoredText,
  viewOf,
  type DaySaverEffect,
  type DaySaverEvent,
  type TimerName,
  type DaySaverState,
} from './state.ts';
import { needsText, reduce } from './reducer.ts';

const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);
const wordsOf = (html: string): string[] => itemsOf(html).flatMap((item) => item.split(' '));

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

let rowIds = 0;

/** Reduces twice, once from a deserialised copy, and fails if the reducer changed its input or the results differ. */
function reducePurely(state: DaySaverState, event: DaySaverEvent, now: number, isComposing = false, canMerge = true) {
  deepFreeze([state, event]);
  const context = {
    now,
    random: (now % 10) / 10,
    isComposing,
    isHidden: now % 3 === 0,
    newRowId: `new ${(rowIds += 1)}`,
    merge: canMerge ? mergeLogs : null,
  };
  const result = reduce(state, event, context);
  expect(copy(reduce(copy(state), copy(event), context))).toEqual(copy(result));
  return result;
}

/** Asserts the invariants of every reachable state. */
function expectValid(state: DaySaverState): void {
  expectConsistent(state);
  if (state.attempt) {
    expect([undefined, 'locked']).toContain(state.hold?.kind);
  }
  if (state.attempt?.request === 'write') expect(state.unacknowledged).toContain(state.attempt.html);
  if (!state.isUnsaved) {
    expect(isStoredText(state, state.text)).toBe(true);
    expect(state).toMatchObject({ isEditorAhead: false, draftDueAt: null, failures: 0 });
  }
  expect(viewOf(state, true)).toMatchObject({ unsaved: state.isUnsaved, stored: state.stored });
}

/** One page on one day, its browser's draft store, and the server with its single row. */
function createSimulation() {
  let state: DaySaverState = initialState(null);
  let now = 1_000;
  let editorText: string | null = null;
  let draft: DayDraft | null = null;
  let row: StoredLog | null = null;
  let request: DaySaverEffect | null = null;
  let ids = 0;
  let words = 0;
  /** False: the chunk of the merge cannot be loaded. */
  let canMerge = true;
  let timers: Partial<Record<TimerName, number>> = {};
  /** Words that were typed here or written elsewhere, and not deleted. Each is different. */
  let written: string[] = [];
  const deleted = new Set<string>();

  function writeWord(): string {
    // Words of equal length, so that no word is the beginning of another word.
    const word = `word${String((words += 1)).padStart(4, '0')}`;
    written.push(word);
    return word;
  }
  function deleteWords(item: string | undefined): void {
    const gone = item?.split(' ') ?? [];
    for (const word of gone) deleted.add(word);
    written = written.filter((word) => !gone.includes(word));
  }

  function dispatch(event: DaySaverEvent, isComposing = false): void {
    if (needsText(state, event)) step({ type: 'textRead', html: editorText ?? state.text }, isComposing);
    step(event, isComposing);
    expect(state.attempt !== null).toBe(request !== null);
  }

  function step(event: DaySaverEvent, isComposing: boolean): void {
    const before = state;
    const { state: next, effects } = reducePurely(before, event, now, isComposing, canMerge);
    if (before.isDisposed) expect(effects).toEqual([]);
    if (before.isDisposed) expect(next).toEqual(before);
    state = next;
    if (event.type === 'saveTimerElapsed') delete timers.save;
    if (event.type === 'draftTimerElapsed') delete timers.draft;
    for (const effect of effects) run(effect, before, event);
    const isStored = effects.some(({ type }) => type === 'storeDraft');
    if (isStored) state = reducePurely(state, { type: 'draftStored' }, now).state;
    expectValid(state);
    expectDraftAndTimers();
    expectNothingLost();
  }

  function run(effect: DaySaverEffect, before: DaySaverState, event: DaySaverEvent): void {
    switch (effect.type) {
      case 'setTimer':
        if (effect.at === null) delete timers[effect.timer];
        else timers[effect.timer] = effect.at;
        return;
      case 'storeDraft':
        draft = effect.draft;
        return;
      case 'dropDraft':
        expectMayDrop(before, event);
        draft = null;
        return;
      case 'replaceEditorText':
        if (editorText !== null) editorText = effect.html;
        return;
      case 'notifyStored':
        expect(effect.stored).toEqual(state.stored);
        return;
      case 'read':
      case 'insert':
      case 'update':
      case 'remove':
        expect(request).toBe(null);
        request = effect;
    }
  }

  /** Asserts that a draft may be dropped: the stored text has every word of it, or the user chose the other version. */
  function expectMayDrop(before: DaySaverState, event: DaySaverEvent): void {
    if (event.type === 'theirsTaken') {
      written = written.filter((word) => wordsOf(row?.html ?? '').includes(word));
      return;
    }
    const text = event.type === 'draftFound' ? event.draft.html : before.text;
    const stored = new Set(wordsOf(state.stored?.html ?? ''));
    expect(wordsOf(text).filter((word) => !stored.has(word) && !deleted.has(word))).toEqual([]);
  }

  function expectDraftAndTimers(): void {
    const { isUnsaved, draftDueAt, isDisposed, text } = state;
    if (isUnsaved && draftDueAt === null) expect(draft?.html).toBe(text);
    expect(timers.draft ?? null).toBe(draftDueAt);
    if (state.attempt || !isUnsaved || isDisposed) expect(timers.save).toBeUndefined();
    else if (!state.hold) expect(timers.save).toBe(state.saveDueAt);
  }

  function expectNothingLost(): void {
    const places = [state.text, editorText ?? '', draft?.html ?? '', row?.html ?? '', other?.html ?? ''];
    const found = new Set(places.flatMap(wordsOf));
    expect(written.filter((word) => !found.has(word))).toEqual([]);
  }

  /** The other version of a conflict, which the screen shows. */
  let other: StoredLog | null = null;

  const version = () => ({ id: row?.id ?? `row ${(ids += 1)}`, revision: (row?.revision ?? 0) + 1, savedAt: now });

  /** Applies the write in flight like the server does; false if its version is stale. */
  function applyWrite(): boolean {
    if (request?.type === 'insert') {
      if (row) return false;
      row = { ...version(), id: request.rowId, html: request.html };
      return true;
    }
    if (request?.type !== 'update' && request?.type !== 'remove') return false;
    if (row?.id !== request.version.id || row.revision !== request.version.revision) return false;
    row = request.type === 'update' ? { ...version(), html: request.html } : null;
    return true;
  }

  const failures: Failure[] = [{ kind: 'locked' }, { kind: 'signedOut' }, { kind: 'refused', reason: 'no' }];

  return {
    state: () => state,
    dispatch,
    openEditor(): void {
      if (editorText === null && !state.isDisposed) editorText = state.text;
    },
    closeEditor(): void {
      if (editorText === null) return;
      dispatch({ type: 'editorClosed' });
      editorText = null;
    },
    typeLine(): void {
      if (editorText === null || state.isDisposed) return;
      editorText = log(...itemsOf(editorText), writeWord());
      dispatch({ type: 'typed', delayMs: 2_000 });
    },
    /** Adds a word to the last line. */
    editLine(): void {
      const items = itemsOf(editorText ?? '');
      if (items.length === 0 || state.isDisposed) return;
      editorText = log(...items.slice(0, -1), `${items.at(-1)!} ${writeWord()}`);
      dispatch({ type: 'typed', delayMs: 2_000 });
    },
    /**
     * A quick option, a version or a shared text replaces the text. `isSeen`: the caller knows the page's text.
     * Otherwise it decided on the row's text, and words typed since must stay.
     */
    replaceText(isSeen: boolean): void {
      if (state.isDisposed) return;
      if (state.isEditorAhead) step({ type: 'textRead', html: editorText ?? state.text }, false);
      const replaced = isSeen ? state.text : (state.stored?.html ?? '');
      const isApplied = replaced === state.text;
      if (isApplied) itemsOf(state.text).forEach(deleteWords);
      dispatch({ type: 'textReplaced', replaced, html: log(isApplied ? writeWord() : 'refused'), delayMs: 500 });
    },
    deleteLastLine(): void {
      if (editorText === null || state.isDisposed) return;
      const items = itemsOf(editorText);
      deleteWords(items.pop());
      editorText = log(...items);
      dispatch({ type: 'typed', delayMs: 2_000 });
    },
    writeElsewhere(): void {
      row = { ...version(), html: log(...itemsOf(row?.html ?? ''), writeWord()) };
    },
    editElsewhere(): void {
      const items = itemsOf(row?.html ?? '');
      if (items.length > 0) row = { ...version(), html: log(...items.slice(0, -1), `${writeWord()} ${items.at(-1)!}`) };
    },
    deleteElsewhere(): void {
      const [first, ...others] = itemsOf(row?.html ?? '');
      deleteWords(first);
      row = others.length > 0 ? { ...version(), html: log(...others) } : null;
    },
    toggleMerge: () => void (canMerge = !canMerge),
    readElsewhere(isComposing: boolean): void {
      dispatch({ type: 'remoteChanged', stored: row, readAt: now }, isComposing);
    },
    /**
     * `lost`: the server stores the write, but no answer arrives. `unheard`: no request arrives. Number: index in
     * `failures`.
     */
    answer(how: 'arrives' | 'lost' | 'unheard' | number, isComposing: boolean): void {
      const answered = request;
      if (!answered) return;
      const isWrite = answered.type !== 'read';
      const isStored = isWrite && (how === 'arrives' || how === 'lost') && applyWrite();
      request = null;
      if (typeof how === 'number') return dispatch({ type: 'requestFailed', failure: failures[how]! }, isComposing);
      if (how !== 'arrives') {
        dispatch({ type: 'requestFailed', failure: { kind: 'unreachable' } }, isComposing);
        // The server may have stored the text; a later read must recognise it as this page's own.
        if ('html' in answered) expect(state.unacknowledged).toContain(answered.html);
        return;
      }
      if (!isWrite) dispatch({ type: 'readSucceeded', stored: row }, isComposing);
      else if (!isStored) dispatch({ type: 'saveConflicted' });
      else dispatch({ type: 'saveSucceeded', version: row && { id: row.id, revision: row.revision, savedAt: now } });
      if (state.hold?.kind === 'conflict') other = state.hold.theirs;
    },
    /** Moves the clock to the next timer and lets it elapse. */
    elapse(): void {
      const [name, at] = Object.entries(timers).sort(([, a], [, b]) => a - b)[0] ?? [];
      if (name === undefined) return void (now += 1_000);
      now = Math.max(now, at!);
      dispatch({ type: `${name as TimerName}TimerElapsed` });
    },
    /** A healthy server, an unlocked plan, and a user who keeps both versions of a conflict: everything is stored. */
    saveEverything(): void {
      canMerge = true;
      for (let round = 0; round < 10; round += 1) {
        this.answer('arrives', false);
        dispatch({ type: 'bothKept' });
        dispatch({ type: 'retryRequested' });
        this.elapse();
      }
      expect(state).toMatchObject({ isUnsaved: false, attempt: null, hold: null, isEditorAhead: false });
      expect(wordsOf(row?.html ?? '')).toEqual(expect.arrayContaining(written));
      expect(draft).toBe(null);
    },
    /** Ends the page without a last event. Text in no draft is lost, as the product allows for a crash. */
    crash(): void {
      const { isUnsaved, text } = state;
      const survivors = new Set([draft?.html ?? '', row?.html ?? ''].flatMap(wordsOf));
      if (isUnsaved && state.draftDueAt === null) for (const word of wordsOf(text)) expect(survivors).toContain(word);
      written = written.filter((word) => survivors.has(word));
      [editorText, request, timers, other] = [null, null, {}, null];
      state = initialState(row);
      if (draft) dispatch({ type: 'draftFound', draft, isReadable: true });
    },
  };
}

const anyFailure = fc.constantFrom<Failure>(
  { kind: 'unreachable' },
  { kind: 'locked' },
  { kind: 'signedOut' },
  { kind: 'refused', reason: 'no' },
);

type Answer = Parameters<Simulation['answer']>[0];
type Simulation = ReturnType<typeof createSimulation>;
type Action = (simulation: Simulation) => void;

const named = (name: string, action: Action): Action => Object.assign(action, { toString: () => name });
const eventsOf = (...types: DaySaverEvent['type'][]) =>
  fc.constantFrom(...types.map((type) => named(type, (page) => page.dispatch({ type } as DaySaverEvent))));

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(named('type', (page) => page.typeLine())) },
  { weight: 2, arbitrary: fc.constant(named('delete', (page) => page.deleteLastLine())) },
  { weight: 4, arbitrary: fc.constant(named('elapse', (page) => page.elapse())) },
  { weight: 2, arbitrary: fc.constant(named('open', (page) => page.openEditor())) },
  { weight: 1, arbitrary: fc.constant(named('close', (page) => page.closeEditor())) },
  { weight: 2, arbitrary: fc.constant(named('edit', (page) => page.editLine())) },
  { weight: 2, arbitrary: fc.constant(named('write elsewhere', (page) => page.writeElsewhere())) },
  { weight: 2, arbitrary: fc.constant(named('edit elsewhere', (page) => page.editElsewhere())) },
  { weight: 1, arbitrary: fc.constant(named('delete elsewhere', (page) => page.deleteElsewhere())) },
  {
    weight: 1,
    arbitrary: fc.boolean().map((isSeen) => named(`replace ${isSeen}`, (page) => page.replaceText(isSeen))),
  },
  { weight: 1, arbitrary: fc.constant(named('toggle merge', (page) => page.toggleMerge())) },
  { weight: 1, arbitrary: fc.constant(named('crash', (page) => page.crash())) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom<Answer>('arrives', 'arrives', 'arrives', 'lost', 'unheard', 0, 1, 2), fc.boolean())
      .map(([how, composing]) => named(`answer ${how} ${composing}`, (page) => page.answer(how, composing))),
  },
  { weight: 1, arbitrary: fc.boolean().map((is) => named(`read elsewhere ${is}`, (page) => page.readElsewhere(is))) },
  { weight: 3, arbitrary: eventsOf('flushRequested', 'retryRequested', 'draftRequested', 'draftsWiped', 'bothKept') },
  { weight: 1, arbitrary: eventsOf('theirsTaken') },
);

test('the reducer keeps every typed word, one request at a time, and a draft until the server has its text', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { minLength: 3, maxLength: 60 }), (actions) => {
      const page = createSimulation();
      page.openEditor();
      for (const act of actions) act(page);
      page.saveEverything();
    }),
    { numRuns: fuzzBudget(300) },
  );
});

const anyHtml = fc.constantFrom('', log('a'), log('a', 'b'), log('b'), log('a', 'c'), '<p>');
const anyStored = fc.option(
  fc.record({
    id: fc.constantFrom('row', 'another'),
    html: fc.constantFrom(log('a'), log('a', 'b'), log('b')),
    revision: fc.integer({ min: 1, max: 3 }),
    savedAt: fc.nat(100),
  }),
);
const anyMoved = fc.option(fc.record({ date: fc.constant('2026-11-18' as never), html: anyHtml }), { nil: undefined });
const anyDraft: fc.Arbitrary<DayDraft> = fc.record(
  {
    html: anyHtml,
    baseRevision: fc.option(fc.integer({ min: 1, max: 3 })),
    baseId: fc.constantFrom('row', 'another'),
    at: fc.nat(100),
    base: anyHtml,
    sent: fc.array(anyHtml, { maxLength: 2 }),
  },
  { requiredKeys: ['html', 'baseRevision', 'at'] },
);
const anyEvent: fc.Arbitrary<DaySaverEvent> = fc.oneof(
  fc.record({ type: fc.constant('typed' as const), delayMs: fc.constantFrom(0, 500, 2_000) }),
  fc.record({ type: fc.constant('textRead' as const), html: anyHtml }),
  fc.record({
    type: fc.constant('textReplaced' as const),
    replaced: anyHtml,
    html: anyHtml,
    delayMs: fc.constantFrom(0, 500),
  }),
  fc.record({
    type: fc.constant('saveSucceeded' as const),
    version: fc.option(fc.record({ id: fc.constant('row'), revision: fc.nat(9), savedAt: fc.nat(100) })),
  }),
  fc.record({ type: fc.constant('requestFailed' as const), failure: anyFailure }),
  fc.record({ type: fc.constant('readSucceeded' as const), stored: anyStored, moved: anyMoved }),
  fc.record({ type: fc.constant('remoteChanged' as const), stored: anyStored, readAt: fc.nat(100) }),
  fc.record({ type: fc.constant('logMoved' as const), stored: anyStored }),
  fc.record({ type: fc.constant('draftFound' as const), draft: anyDraft, isReadable: fc.boolean() }),
  fc.constantFrom<DaySaverEvent>(
    ...(['editorClosed', 'saveTimerElapsed', 'draftTimerElapsed', 'flushRequested', 'retryRequested'] as const).map(
      (type) => ({ type }),
    ),
    ...(['saveConflicted', 'draftRequested', 'draftStored', 'draftRejected', 'draftsWiped'] as const).map((type) => ({
      type,
    })),
    ...(['bothKept', 'theirsTaken', 'doubtsShown', 'disposed'] as const).map((type) => ({ type })),
  ),
);

describe('any event in any state', () => {
  const anyHistory = fc.array(fc.tuple(anyEvent, fc.nat(5_000), fc.boolean(), fc.boolean()), { maxLength: 40 });

  test('leads to a valid, serialisable state, and the reducer changes neither its state nor its event', () => {
    fc.assert(
      fc.property(anyStored, anyHistory, (stored, history) => {
        let state = initialState(stored);
        let now = 0;
        for (const [event, ms, isComposing, canMerge] of history) {
          now += ms;
          state = reducePurely(state, event, now, isComposing, canMerge).state;
          expectConsistent(state);
        }
      }),
      { numRuns: fuzzBudget(500) },
    );
  });

  test('after the disposal changes nothing and has no effect', () => {
    fc.assert(
      fc.property(anyStored, anyHistory, anyHistory, (stored, before, after) => {
        let state = initialState(stored);
        for (const [event, now] of before) state = reducePurely(state, event, now).state;
        state = reducePurely(state, { type: 'disposed' }, 0).state;
        for (const [event, now] of after) expect(reducePurely(state, event, now)).toEqual({ state, effects: [] });
      }),
      { numRuns: fuzzBudget(100) },
    );
  });
});

/** Asserts the invariants that hold after any order of events, including orders that no driver produces. */
function expectConsistent(state: DaySaverState): void {
  expect(copy(state)).toEqual(state);
  if (state.attempt) expect(state.isUnsaved).toBe(true);
  if (state.hold) expect(state.isUnsaved).toBe(true);
  if (state.hold?.kind === 'conflict') expect(state.attempt).toBe(null);
  // A text that is based on a row has no id for an insert: once the row is deleted, an insert chooses a new id.
  if (state.stored && !state.draftBasis) expect(state.newRowId).toBe(null);
}
