// @vitest-environment happy-dom
/** Tests that text typed before React runs is a draft until the day's saver has it. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import { readTodayCopy } from '#client/lib/boot/today-copy.ts';
import type { EarlyPage } from '#client/lib/boot/early-page.ts';
import { createDayDrafts, type DayDraft } from '#client/sync/day-drafts.ts';
import { startEarlyEditor, type EarlyEditor } from './early-editor.ts';

const DATE = day('2026-11-23');
const STORED = { id: 'row', html: '<p>a</p>', revision: 3, savedAt: 7 };
const callbacks = { placeholder: () => '', onEdit: () => {}, onUnreadable: () => {} };

let page: EarlyPage;
const start = (html: string | null = STORED.html): void => {
  document.body.innerHTML = '<main><div class="log" role="group" aria-label="Log for Monday"><p>a</p></div></main>';
  const text = document.querySelector<HTMLElement>('[role=group]')!;
  const log = { stored: html === null ? null : { ...STORED, html } };
  page = { userId: 'ada', date: DATE, log, text, editor: null, leave: (move) => move?.(), dismiss: () => {} };
  startEarlyEditor(page);
};
const editor = (): EarlyEditor => page.editor as EarlyEditor;
const dom = (): HTMLElement & { editor: { commands: { insertContentAt: (at: number, text: string) => void } } } =>
  document.querySelector('.ProseMirror')!;
const type = (text: string): void => dom().editor.commands.insertContentAt(1, text);
/** The draft that the next page finds. */
const draft = (): DayDraft | null => createDayDrafts(localStorage, 'ada', 'next').claim(DATE, null);
const saver = (text: string, isSafe = true) => ({
  text: () => text,
  recordEdit: vi.fn<() => void>(),
  storeDraft: vi.fn<() => boolean>(() => isSafe),
});

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  start();
});
afterEach(() => {
  editor()?.close();
  vi.useRealTimers();
});

test('has the name and the class of the text that it replaces', () => {
  expect(document.querySelector('[role=group]')).toBeNull();
  expect(dom().getAttribute('aria-label')).toBe('Log for Monday');
  expect(dom().classList.contains('log')).toBe(true);
  expect(document.getElementById(dom().getAttribute('aria-describedby')!)?.textContent).toContain('Escape');
});

test('leaves text that it cannot show completely as it was', () => {
  editor().close();
  start('<p>a</p><table><tr><td>b</td></tr></table>');
  expect(page.editor).toBeNull();
  expect(document.querySelector('main')?.innerHTML).toContain('role="group"');
});

describe('a draft', () => {
  test('holds an edit after 100 ms, with what it is based on', () => {
    type('b');
    vi.advanceTimersByTime(99);
    expect(localStorage.length).toBe(0);
    type('c');
    vi.advanceTimersByTime(1);
    expect(draft()).toMatchObject({ html: '<p>cba</p>', base: '<p>a</p>', baseId: 'row', baseRevision: 3 });
  });

  test('of a day without a log is based on no row', () => {
    editor().close();
    start(null);
    type('b');
    editor().close();
    expect(draft()).toMatchObject({ html: expect.stringContaining('b') as string, base: '', baseRevision: null });
    expect(draft()?.baseId).toBeUndefined();
  });

  test('holds the last edit when the page ends', () => {
    type('b');
    dispatchEvent(new Event('pagehide'));
    expect(draft()?.html).toBe('<p>ba</p>');
  });

  test('stays if the page shows another screen than the journal', () => {
    type('b');
    editor().close();
    expect(draft()?.html).toBe('<p>ba</p>');
    expect(readTodayCopy(localStorage, 'ada', DATE)).toBeNull();
  });

  test('holds a paste that still waits for its code', () => {
    const clipboardData = { types: ['text/plain'], getData: () => '**b**' };
    dom().dispatchEvent(Object.assign(new Event('paste', { cancelable: true }), { clipboardData }));
    editor().close();
    expect(draft()?.html).toBe('<p>a**b**</p>');
  });

  test('is not stored without an edit', () => {
    dispatchEvent(new Event('pagehide'));
    vi.advanceTimersByTime(1_000);
    editor().close();
    expect(localStorage.length).toBe(0);
  });
});

describe('the saver of the day', () => {
  test('gets the typed text as an edit, and the early draft is deleted', () => {
    type('b');
    vi.advanceTimersByTime(100);
    expect(editor().isKnown('<p>a</p>')).toBe(true);
    expect(editor().isKnown('<p>ba</p>')).toBe(true);
    expect(editor().isKnown('<p>from elsewhere</p>')).toBe(false);
    const target = document.body.appendChild(document.createElement('div'));
    const handle = editor().moveTo(target, callbacks);
    expect(target.firstChild).toBe(handle.editor.view.dom);
    const given = saver('<p>a</p>');
    editor().giveTo(given);
    expect(given.recordEdit).toHaveBeenCalledOnce();
    expect(given.storeDraft).toHaveBeenCalledOnce();
    expect(given.recordEdit.mock.invocationCallOrder[0]).toBeLessThan(given.storeDraft.mock.invocationCallOrder[0]!);
    type('c');
    dispatchEvent(new Event('pagehide'));
    vi.advanceTimersByTime(1_000);
    expect(localStorage.length).toBe(0);
  });

  test('gets no edit if nothing was typed, or if it has claimed the draft', () => {
    const untouched = saver('<p>other form of a</p>');
    editor().giveTo(untouched);
    expect(untouched.recordEdit).not.toHaveBeenCalled();
    start();
    type('b');
    const claimed = saver('<p>ba</p>');
    editor().giveTo(claimed);
    expect(claimed.recordEdit).not.toHaveBeenCalled();
  });

  test('leaves the early draft if it cannot store its own draft', () => {
    type('b');
    vi.advanceTimersByTime(100);
    editor().giveTo(saver('<p>a</p>', false));
    expect(draft()?.html).toBe('<p>ba</p>');
  });

  test('gets later edits through the callbacks of the journal', () => {
    const onEdit = vi.fn<() => void>();
    editor().moveTo(document.body, { ...callbacks, onEdit });
    editor().giveTo(saver('<p>a</p>'));
    type('b');
    expect(onEdit).toHaveBeenCalledOnce();
  });
});
