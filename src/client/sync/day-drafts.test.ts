import { beforeEach, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { MemoryStorage } from '../../../tests/support/day-saver-harness.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import {
  createDayDrafts,
  daysOfDrafts,
  documentsOfDrafts,
  draftsOfOthers,
  mergeDrafts,
  userOfDraft,
} from './day-drafts.ts';

const DATE = day('2026-11-21');
const DRAFT = { html: '<p>a</p>', baseRevision: 3, at: 1, base: '<p>b</p>', sent: ['<p>c</p>'] };

let storage: MemoryStorage;
beforeEach(() => {
  storage = new MemoryStorage();
});

test('a page claims the draft of an earlier page', () => {
  expect(createDayDrafts(storage, 'ada', 'one').store(DATE, DRAFT)).toBe(true);
  const next = createDayDrafts(storage, 'ada', 'two');
  expect(next.days()).toEqual([DATE]);
  expect(next.claim(DATE, mergeLogs)).toEqual(DRAFT);
  next.drop(DATE);
  expect(storage.length).toBe(0);
});

test('without the code of the merge, two drafts of a day keep the lines of both', () => {
  expect(mergeDrafts(null, { html: '<p>newer</p>' }, { html: '<p>older</p>' })).toBe('<p>newer</p><p>older</p>');
});

test('fields missing in a draft of an earlier release are undefined', () => {
  const kept = { html: '<p>a</p>', baseRevision: null, at: 1, writer: 'one' };
  storage.setItem(`hustle-forge:draft:ada:${DATE}`, JSON.stringify(kept));
  const drafts = createDayDrafts(storage, 'ada', 'two');
  const known = { html: '<p>a</p>', baseRevision: null, at: 1, base: undefined, sent: [] };
  expect(drafts.claim(DATE, mergeLogs)).toEqual(known);
  expect(drafts.claim(DATE, mergeLogs)).toEqual(known);
});

test.each([{ base: 1 }, { base: null }, { sent: 'text' }, { sent: [1, null, {}] }])(
  'ignores malformed fields %j',
  (odd) => {
    const kept = { html: '<p>a</p>', baseRevision: 3, at: 1, ...odd };
    storage.setItem(`hustle-forge:draft:ada:${DATE}`, JSON.stringify(kept));
    expect(createDayDrafts(storage, 'ada', 'one').claim(DATE, mergeLogs)).toMatchObject({ base: undefined, sent: [] });
  },
);

test('a user cannot see drafts of another user on the same device', () => {
  void createDayDrafts(storage, 'ada', 'one').store(DATE, DRAFT);
  const other = createDayDrafts(storage, 'bob', 'two');
  expect(other.days()).toEqual([]);
  expect(other.claim(DATE, mergeLogs)).toBe(null);
});

test("drop keeps another tab's draft", () => {
  void createDayDrafts(storage, 'ada', 'one').store(DATE, DRAFT);
  createDayDrafts(storage, 'ada', 'two').drop(DATE);
  expect(storage.length).toBe(1);
});

test('each tab has its own draft, and the next page merges them', () => {
  void createDayDrafts(storage, 'ada', 'one').store(DATE, { ...DRAFT, html: '<p>older</p>', sent: ['<p>d</p>'] });
  void createDayDrafts(storage, 'ada', 'two').store(DATE, { ...DRAFT, at: 2 });
  const next = createDayDrafts(storage, 'ada', 'three');
  expect(next.days()).toEqual([DATE]);
  expect(next.claim(DATE, mergeLogs)).toEqual({
    ...DRAFT,
    ...{ html: '<p>a</p><p>older</p>', at: 2, sent: ['<p>d</p>', '<p>c</p>'] },
  });
  next.drop(DATE);
  expect(storage.length).toBe(0);
});

test('a line that one tab deleted from the common base stays deleted, and without a common base no line is lost', () => {
  const texts = (base: string) => {
    storage.clear();
    void createDayDrafts(storage, 'ada', 'one').store(DATE, { ...DRAFT, html: '<p>a</p><p>b</p>', base: '<p>a</p>' });
    void createDayDrafts(storage, 'ada', 'two').store(DATE, { ...DRAFT, html: '<p>c</p>', base, at: 2 });
    return createDayDrafts(storage, 'ada', 'three').claim(DATE, mergeLogs)?.html;
  };
  expect(texts('<p>a</p>')).toBe('<p>c</p><p>b</p>');
  expect(texts('<p>a</p><p>d</p>')).toBe('<p>c</p><p>a</p><p>b</p>');
});

test('without the merge, a page claims the newest draft and leaves the others', () => {
  void createDayDrafts(storage, 'ada', 'one').store(DATE, { ...DRAFT, html: '<p>older</p>' });
  void createDayDrafts(storage, 'ada', 'two').store(DATE, { ...DRAFT, at: 2 });
  const next = createDayDrafts(storage, 'ada', 'three');
  expect(next.claim(DATE, null)).toEqual({ ...DRAFT, at: 2 });
  expect(next.hasOthers(DATE)).toBe(true);
  expect(storage.length).toBe(2);
  expect(next.claim(DATE, mergeLogs)).toMatchObject({ html: '<p>a</p><p>older</p>' });
  expect(next.hasOthers(DATE)).toBe(false);
});

test('the drafts of other tabs stay if the merged draft cannot be stored', () => {
  void createDayDrafts(storage, 'ada', 'one').store(DATE, { ...DRAFT, html: '<p>older</p>' });
  void createDayDrafts(storage, 'ada', 'two').store(DATE, { ...DRAFT, at: 2 });
  storage.maxValueLength = 0;
  const merged = createDayDrafts(storage, 'ada', 'three').claim(DATE, mergeLogs);
  expect(merged).toMatchObject({ html: '<p>a</p><p>older</p>' });
  expect(storage.length).toBe(2);
});

test.each(['', '{', 'null', '[]', '{"html":1}', '{"html":"a"}', '"text"'])('ignores the stored value %j', (json) => {
  storage.setItem(`hustle-forge:draft:ada:${DATE}`, json);
  const drafts = createDayDrafts(storage, 'ada', 'one');
  expect(drafts.claim(DATE, mergeLogs)).toBe(null);
  drafts.drop(DATE);
});

test('a browser that rejects writes stores no draft and causes no error', () => {
  storage.maxValueLength = 0;
  const drafts = createDayDrafts(storage, 'ada', 'one');
  expect(drafts.store(DATE, DRAFT)).toBe(false);
  expect(drafts.claim(DATE, mergeLogs)).toBe(null);
  expect(drafts.days()).toEqual([]);
});

test("draftsOfOthers excludes the user's own drafts, and has documents and shared texts", () => {
  void createDayDrafts(storage, 'ada', 'one').store(DATE, DRAFT);
  void createDayDrafts(storage, 'bob', 'one').store(DATE, DRAFT);
  void createDayDrafts(storage, 'bo', 'one').store(day('2026-11-20'), DRAFT);
  expect(daysOfDrafts(draftsOfOthers(storage, 'ada'))).toEqual(['2026-11-20', DATE]);
  expect(daysOfDrafts(draftsOfOthers(storage, 'bo'))).toEqual([DATE]);
  storage.setItem('hustle-forge:document:eve:1:tab', '{}');
  storage.setItem('hustle-forge:document:eve:1:second-tab', '{}');
  const others = draftsOfOthers(storage, 'ada');
  expect(new Set(others.map(userOfDraft))).toEqual(new Set(['bob', 'bo', 'eve']));
  expect(documentsOfDrafts(others)).toEqual(['1']);
  expect(documentsOfDrafts(draftsOfOthers(storage, 'eve'))).toEqual([]);
  storage.clear();
  storage.setItem('hustle-forge:shared:', '["for the next user"]');
  storage.setItem('hustle-forge:shared:ada', '["own"]');
  expect(draftsOfOthers(storage, 'ada')).toEqual([]);
  expect(draftsOfOthers(storage, 'bob').map(userOfDraft)).toEqual(['ada']);
});
