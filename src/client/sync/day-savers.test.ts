/** Tests unsent text across all days, and the sign-out. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import { DRAFT_PREFIX, keysUnder } from '#client/lib/session/storage-keys.ts';
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { createTestSavers, loadedMerge, log, MemoryStorage } from '../../../tests/support/day-saver-harness.ts';
import type { MergeLoader, MergeModule } from './merge-loader.ts';
import type { Failure } from './save-requests.ts';

const MONDAY = day('2026-11-16');
const TUESDAY = day('2026-11-17');
const DRAFT = { html: log('from another tab'), baseRevision: null, at: 1, base: '', sent: [] };
const NEWER = { ...DRAFT, html: log('newer', 'slip'), at: 2 };

let storage: MemoryStorage;
let failure: Failure | null;
let inserted: string[];
let now: number;
beforeEach(() => {
  now = 0;
  storage = new MemoryStorage();
  failure = null;
  inserted = [];
});

/** Timers never elapse, so only explicit calls send. */
function openTab(writer: string, merger = loadedMerge) {
  const drafts = createDayDrafts(storage, 'ada', writer);
  const savers = createTestSavers({
    transport: {
      read: () => Promise.resolve(failure ?? { kind: 'read', stored: null }),
      insert(_date, html) {
        if (failure) return Promise.resolve(failure);
        inserted.push(html);
        return Promise.resolve({ kind: 'stored', id: 'row', revision: 1, savedAt: 0 });
      },
      update: () => Promise.resolve({ kind: 'changed' }),
      remove: () => Promise.resolve({ kind: 'changed' }),
    },
    timers: { now: () => now, after: () => () => undefined },
    merger,
    drafts,
  });
  return { drafts, savers };
}

test('unsentDays lists the days of this tab and of other tabs once each', () => {
  const { savers } = openTab('one');
  savers.open(TUESDAY, null, 0).rewrite(() => log('a'), 2_000);
  savers.open(MONDAY, null, 0);
  const other = openTab('two');
  void other.drafts.store(MONDAY, DRAFT);
  void other.drafts.store(TUESDAY, DRAFT);
  expect(savers.unsentDays()).toEqual([MONDAY, TUESDAY]);
});

test('the text of a tab closed while offline survives a write of another tab on that day', async () => {
  failure = { kind: 'unreachable' };
  const [first, second] = [openTab('one').savers, openTab('two').savers];
  first.open(MONDAY, null, 0);
  second.open(MONDAY, null, 0).rewrite(() => log('written in the second'), 0);
  second.close();
  now = 1;
  first.get(MONDAY)!.rewrite(() => log('written in the first'), 0);
  first.close();
  failure = null;
  expect(await openTab('three').savers.sendAll()).toEqual([]);
  expect(inserted).toEqual([log('written in the first', 'written in the second')]);
});

test('the draft of a closed tab is dropped after the save also if storage was too full to claim it', async () => {
  void openTab('one').drafts.store(MONDAY, DRAFT);
  storage.maxValueLength = 0;
  const { savers } = openTab('two');
  savers.open(MONDAY, null, 0);
  expect(storage.length).toBe(1);
  expect(await savers.sendAll()).toEqual([]);
  expect(inserted).toEqual([DRAFT.html]);
  expect(storage.length).toBe(0);
});

test('the draft of a closed tab waits while the user composes a word, which stays in the editor', async () => {
  const { savers } = openTab('one');
  const saver = savers.open(MONDAY, null, 0);
  let text = log('word');
  let isComposing = true;
  saver.attachEditor({ read: () => text, replace: (html) => void (text = html), isComposing: () => isComposing });
  saver.recordEdit();
  expect(await saver.flush()).toBe(true);
  void openTab('two').drafts.store(MONDAY, DRAFT);
  await savers.recover();
  expect(text).toBe(log('word'));
  expect(savers.unsavedDays()).toEqual([MONDAY]);
  isComposing = false;
  await savers.recover();
  expect(text).toContain('from another tab');
});

/** A merge whose chunk has not loaded yet: it loads at the first request, or never if not `canLoad`. */
const lazyMerge = (canLoad: boolean): MergeLoader => {
  let loaded: MergeModule | null = null;
  return { loaded: () => loaded, load: async () => (loaded = canLoad ? await loadedMerge.load() : null) };
};

describe('the drafts of two closed tabs', () => {
  const settle = () => new Promise((resolve) => void setImmediate(resolve));

  beforeEach(() => {
    now = 10;
    void openTab('one').drafts.store(MONDAY, DRAFT);
    void openTab('two').drafts.store(MONDAY, NEWER);
  });

  test('are merged once the merge has loaded, without what the user deleted meanwhile', async () => {
    const { savers } = openTab('three', lazyMerge(true));
    const saver = savers.open(MONDAY, null, 0);
    expect(saver.text()).toBe(NEWER.html);
    saver.rewrite(() => log('newer', 'typed'), 2_000);
    await settle();
    expect(saver.text()).toBe(log('newer', 'typed', 'from another tab'));
    expect(storage.length).toBe(1);
    expect(await savers.sendAll()).toEqual([]);
    expect(inserted).toEqual([log('newer', 'typed', 'from another tab')]);
    expect(storage.length).toBe(0);
  });

  test('are sent one per page if the merge cannot be loaded', async () => {
    const { savers } = openTab('three', lazyMerge(false));
    savers.open(MONDAY, null, 0);
    await settle();
    await savers.flush();
    expect(inserted).toEqual([NEWER.html]);
    expect(savers.unsentDays()).toEqual([MONDAY]);
    expect(await openTab('four').savers.sendAll()).toEqual([]);
    expect(inserted).toEqual([NEWER.html, DRAFT.html]);
    expect(storage.length).toBe(0);
  });

  test('are both sent by a sign-out of a tab that is open on the day', async () => {
    storage.clear();
    const { savers } = openTab('three', lazyMerge(true));
    savers.open(MONDAY, null, 0);
    void openTab('one').drafts.store(MONDAY, DRAFT);
    void openTab('two').drafts.store(MONDAY, NEWER);
    expect(await savers.sendBeforeSignOut()).toEqual([]);
    expect(inserted).toEqual([log('newer', 'slip', 'from another tab')]);
    expect(storage.length).toBe(0);
  });
});

test('a sign-out sends refused text and the drafts of other tabs', async () => {
  const { savers } = openTab('one');
  failure = { kind: 'refused', reason: 'no' };
  savers.open(TUESDAY, null, 0).rewrite(() => log('a'), 0);
  savers.open(MONDAY, null, 0);
  void openTab('two').drafts.store(MONDAY, DRAFT);
  expect(await savers.sendBeforeSignOut()).toEqual([MONDAY, TUESDAY]);
  failure = null;
  expect(await savers.sendBeforeSignOut()).toEqual([]);
  expect(inserted.sort()).toEqual([log('a'), DRAFT.html].sort());
  expect(storage.length).toBe(0);
});

describe('the drafts of a tab that is still open', () => {
  let savers: ReturnType<typeof openTab>['savers'];
  beforeEach(() => {
    const { drafts, ...tab } = openTab('one');
    savers = tab.savers;
    savers.open(MONDAY, null, 0);
    for (const date of [MONDAY, TUESDAY]) void openTab('two').drafts.store(date, DRAFT);
    for (const key of keysUnder(storage, DRAFT_PREFIX)) drafts.noteWriter(key);
  });

  test('are left to that tab', async () => {
    expect(await savers.sendAll()).toEqual([MONDAY, TUESDAY]);
    expect(inserted).toEqual([]);
  });

  test('are sent by a sign-out, also of the day that is open here', async () => {
    expect(await savers.sendBeforeSignOut()).toEqual([]);
    expect(inserted).toEqual([DRAFT.html, DRAFT.html]);
    expect(storage.length).toBe(0);
  });

  test('are sent together with those of a third tab before the merge has loaded', async () => {
    storage.clear();
    const { drafts, ...tab } = openTab('one', lazyMerge(true));
    void openTab('two').drafts.store(TUESDAY, DRAFT);
    void openTab('three').drafts.store(TUESDAY, NEWER);
    for (const key of keysUnder(storage, DRAFT_PREFIX)) drafts.noteWriter(key);
    expect(await tab.savers.sendBeforeSignOut()).toEqual([]);
    expect(inserted).toEqual([log('from another tab', 'newer', 'slip')]);
    expect(storage.length).toBe(0);
  });
});

describe('the draft of a closed tab, on a day that cannot be read,', () => {
  let savers: ReturnType<typeof openTab>['savers'];
  beforeEach(() => {
    failure = { kind: 'unreachable' };
    void openTab('one').drafts.store(MONDAY, DRAFT);
    savers = openTab('two').savers;
  });

  test('is listed until it is saved', async () => {
    const onChange = vi.fn();
    savers.subscribe(onChange);
    expect(savers.unsavedDays()).toEqual([]);
    await savers.recover();
    expect(onChange).toHaveBeenCalledOnce();
    expect(savers.unsavedDays()).toEqual([MONDAY]);
    expect(savers.getUnsaved(MONDAY)).toBeNull();
    failure = null;
    expect(await savers.sendAll()).toEqual([]);
    expect(savers.unsavedDays()).toEqual([]);
    expect(inserted).toEqual([DRAFT.html]);
  });

  test('is shown once the user opens the day', async () => {
    await savers.recover();
    const onChange = vi.fn();
    savers.subscribe(onChange);
    expect(savers.openDraft(TUESDAY)).toBeNull();
    expect(savers.openDraft(MONDAY)?.text()).toBe(DRAFT.html);
    expect(onChange).toHaveBeenCalled();
    expect(savers.unsavedDays()).toEqual([MONDAY]);
    failure = null;
    expect(await savers.sendBeforeSignOut()).toEqual([]);
    expect(inserted).toEqual([DRAFT.html]);
  });
});

test('no draft is stored after the sign-out', () => {
  const { savers } = openTab('one');
  const saver = savers.open(TUESDAY, null, 0);
  saver.rewrite(() => log('a'), 2_000);
  savers.persist();
  expect(storage.length).toBe(1);
  savers.discard();
  storage.clear();
  saver.rewrite(() => log('ab'), 2_000);
  savers.persist();
  expect(storage.length).toBe(0);
  // Otherwise the browser would ask before closing the page.
  expect(savers.isSafe()).toBe(true);
});

test('isSafe stores the drafts of all days, also after the browser has rejected one', () => {
  const { drafts, savers } = openTab('one');
  savers.open(MONDAY, null, 0).rewrite(() => log('x'.repeat(1_000)), 2_000);
  savers.open(TUESDAY, null, 0).rewrite(() => log('a'), 2_000);
  storage.maxValueLength = 500;
  expect(savers.isSafe()).toBe(false);
  expect(drafts.days()).toEqual([TUESDAY]);
});

test('text is newer than a sign-out if it was stored after it or is in no draft', () => {
  const { savers } = openTab('one');
  const saver = savers.open(TUESDAY, null, 0);
  const isNewer = () => savers.redraftIfNewer(10);
  expect(isNewer()).toBe(false);
  now = 5;
  saver.rewrite(() => log('a'), 2_000);
  expect(isNewer()).toBe(true);
  savers.persist();
  expect(isNewer()).toBe(false);
  // Storing the same text again does not make it newer.
  now = 20;
  savers.persist();
  expect(isNewer()).toBe(false);
  saver.rewrite(() => log('ab'), 2_000);
  savers.persist();
  expect(isNewer()).toBe(true);
});

test('text that the browser does not store is newer than any sign-out of another tab', () => {
  const { savers } = openTab('one');
  storage.maxValueLength = 0;
  now = 5;
  savers.open(TUESDAY, null, 0).rewrite(() => log('a'), 2_000);
  savers.persist();
  expect(savers.redraftIfNewer(10)).toBe(true);
});
