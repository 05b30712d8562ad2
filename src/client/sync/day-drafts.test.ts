/** Drafts belong to one user, survive anything found in storage, and are thrown away only by who wrote them. */
import { beforeEach, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { MemoryStorage } from '../../../tests/support/day-saver-harness.ts';
import { createDayDrafts, daysOfDrafts, draftsOfOthers } from './day-drafts.ts';

const DATE = day('2026-11-21');
const DRAFT = { html: '<p>a</p>', baseRevision: 3, at: 1, base: '<p>b</p>', sent: ['<p>c</p>'] };

const joined = (newest: string, older: string): string => newest + older;

let storage: MemoryStorage;
beforeEach(() => {
  storage = new MemoryStorage();
});

test('what one page keeps, the next one takes', () => {
  expect(createDayDrafts(storage, 'ada', 'one').keep(DATE, DRAFT)).toBe(true);
  const next = createDayDrafts(storage, 'ada', 'two');
  expect(next.days()).toEqual([DATE]);
  expect(next.take(DATE, joined)).toEqual(DRAFT);
  next.drop(DATE);
  expect(storage.length).toBe(0);
});

test('what a draft of an earlier release does not say is not known', () => {
  const kept = { html: '<p>a</p>', baseRevision: null, at: 1, writer: 'one' };
  storage.setItem(`hustle-forge:draft:ada:${DATE}`, JSON.stringify(kept));
  const drafts = createDayDrafts(storage, 'ada', 'two');
  const known = { html: '<p>a</p>', baseRevision: null, at: 1, base: undefined, sent: [] };
  expect(drafts.take(DATE, joined)).toEqual(known);
  expect(drafts.take(DATE, joined)).toEqual(known);
});

test.each([{ base: 1 }, { base: null }, { sent: 'text' }, { sent: [1, null, {}] }])('%j is not believed', (odd) => {
  const kept = { html: '<p>a</p>', baseRevision: 3, at: 1, ...odd };
  storage.setItem(`hustle-forge:draft:ada:${DATE}`, JSON.stringify(kept));
  expect(createDayDrafts(storage, 'ada', 'one').take(DATE, joined)).toMatchObject({ base: undefined, sent: [] });
});

test('another user on the same device finds nothing', () => {
  createDayDrafts(storage, 'ada', 'one').keep(DATE, DRAFT);
  const other = createDayDrafts(storage, 'bob', 'two');
  expect(other.days()).toEqual([]);
  expect(other.take(DATE, joined)).toBe(null);
});

test("another tab's draft is not thrown away", () => {
  createDayDrafts(storage, 'ada', 'one').keep(DATE, DRAFT);
  createDayDrafts(storage, 'ada', 'two').drop(DATE);
  expect(storage.length).toBe(1);
});

test('drafts of several tabs are kept side by side, and the next page takes the words of all', () => {
  createDayDrafts(storage, 'ada', 'one').keep(DATE, { ...DRAFT, html: '<p>older</p>', sent: ['<p>d</p>'] });
  createDayDrafts(storage, 'ada', 'two').keep(DATE, { ...DRAFT, at: 2 });
  const next = createDayDrafts(storage, 'ada', 'three');
  expect(next.days()).toEqual([DATE]);
  expect(next.take(DATE, joined)).toEqual({
    ...DRAFT,
    ...{ html: '<p>a</p><p>older</p>', at: 2, sent: ['<p>c</p>', '<p>d</p>'] },
  });
  next.drop(DATE);
  expect(storage.length).toBe(0);
});

test.each(['', '{', 'null', '[]', '{"html":1}', '{"html":"a"}', '"text"'])('%j in storage is no draft', (json) => {
  storage.setItem(`hustle-forge:draft:ada:${DATE}`, json);
  const drafts = createDayDrafts(storage, 'ada', 'one');
  expect(drafts.take(DATE, joined)).toBe(null);
  drafts.drop(DATE);
});

test('a browser that keeps nothing says so and breaks nothing', () => {
  storage.maxValueLength = 0;
  const drafts = createDayDrafts(storage, 'ada', 'one');
  expect(drafts.keep(DATE, DRAFT)).toBe(false);
  expect(drafts.take(DATE, joined)).toBe(null);
  expect(drafts.days()).toEqual([]);
});

test('drafts of other users are found by day, and none of one’s own', () => {
  createDayDrafts(storage, 'ada', 'one').keep(DATE, DRAFT);
  createDayDrafts(storage, 'bob', 'one').keep(DATE, DRAFT);
  createDayDrafts(storage, 'bo', 'one').keep(day('2026-11-20'), DRAFT);
  expect(daysOfDrafts(draftsOfOthers(storage, 'ada'))).toEqual(['2026-11-20', DATE]);
  expect(daysOfDrafts(draftsOfOthers(storage, 'bo'))).toEqual([DATE]);
});
