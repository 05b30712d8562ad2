import { describe, expect, test } from 'vitest';
import { isCostlyRead, isQuickRead, limitedTexts, limitRange, rejectCostlyQuery } from './query-cost.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import { parseQuery } from './parse-query.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const analyses = EXPOSED_TABLES.get('analyses')!;
const list = (count: number): string => Array.from({ length: count }, (_, index) => `*${index}*`).join(',');

describe('filters on texts', () => {
  test.each([
    `content=ilike(any).{${list(11)}}`,
    `or=(${Array.from({ length: 11 }, (_, index) => `content_text.like.*${index}*`).join(',')})`,
    `content=not.like.*${'a'.repeat(200)}*`,
    `content=gt(all).{${list(11)}}`,
  ])('are rejected above the limit: %.40s', (search) => {
    expect(() => rejectCostlyQuery(entries, parseQuery(entries, search))).toThrow('could not be parsed');
  });

  test.each([
    `content_text=ilike(any).{${list(10)}}`,
    `content=like.*${'a'.repeat(100)}*`,
    `date=in.(${list(400)})`,
    `content=eq.${'a'.repeat(4000)}`,
  ])('are accepted up to the limit, as are filters that scan no text: %.40s', (search) => {
    expect(() => rejectCostlyQuery(entries, parseQuery(entries, search))).not.toThrow();
  });
});

describe('analyses', () => {
  test.each(['text=ilike.*a*', 'or=(kind.eq.trend,missing_fact.gt.a)', 'order=text', 'text=like(any).{*a*,*b*}'])(
    'cannot be filtered or ordered by text: %s',
    (search) => {
      expect(() => rejectCostlyQuery(analyses, parseQuery(analyses, search))).toThrow('could not be parsed');
    },
  );

  test('a text that a view computes cannot be checked for null either', () => {
    const deletedDays = EXPOSED_TABLES.get('deleted_days')!;
    expect(() => rejectCostlyQuery(deletedDays, parseQuery(deletedDays, 'excerpt=not.is.null'))).toThrow(
      'could not be parsed',
    );
  });

  test('can be filtered by day and by a null check on a text', () => {
    const search = 'user_id=eq.u&kind=eq.feedback&date=eq.2026-01-01&missing_fact=not.is.null&order=created_at.desc';
    expect(() => rejectCostlyQuery(analyses, parseQuery(analyses, search))).not.toThrow();
  });
});

test.each([
  ['analyses', 'offset=3', 100],
  ['analyses', 'offset=3&limit=101', 100],
  ['analyses', 'offset=3&limit=7', 7],
  ['entries', 'offset=3&select=date,hustle_score', 50_000],
  ['entries', 'offset=3&select=date&limit=99999', 50_000],
  ['entries', 'offset=3&select=date&limit=7', 7],
  ['entries', 'offset=3&select=date,updated_at', 10_000],
  ['entries', 'offset=3', 10_000],
  ['entry_dates', 'offset=3&select=date', 50_000],
  ['entries', 'offset=3&date=eq.2026-01-01', null],
] as const)('a read of %s with %s returns %j rows at most', (name, search, limit) => {
  const table = EXPOSED_TABLES.get(name)!;
  expect(limitRange(table, parseQuery(table, search))).toEqual({ offset: 3, limit });
});

test.each([
  ['entries', 'date=gte.2026-01-01&select=date,content,ai_feedback', ['content', 'ai_feedback']],
  ['entries', 'date=gte.2026-01-01&select=date,revision', []],
  ['entries', 'date=eq.2026-01-01', []],
  ['entries', 'limit=1', []],
  ['analyses', '', []],
] as const)('the texts of %s with %s are limited by size: %j', (name, search, columns) => {
  const table = EXPOSED_TABLES.get(name)!;
  expect(limitedTexts(table, parseQuery(table, search)).map((column) => column.name)).toEqual(columns);
});

test.each([
  ['entries', 'user_id=eq.u&date=eq.2026-01-01&select=content,revision', false],
  ['entries', 'user_id=eq.u&select=date', false],
  ['entries', 'id=eq.u', false],
  ['entries', 'select=content&order=date.desc&limit=1', false],
  ['entries', '', true],
  ['entries', 'user_id=eq.u&date=gte.2026-01-01', true],
  ['entries', 'date=not.eq.2026-01-01', true],
  ['entries', 'or=(date.eq.2026-01-01,date.eq.2026-01-02)', true],
  ['entries', 'content=like.*a*&select=date', true],
  ['entries', 'date=eq.2026-01-01&content=like.*a*&select=date', true],
  ['entries', 'id=eq.u&or=(content_text.gt.a,date.is.null)&select=date', true],
  ['entries', 'content=like.*a*&limit=1', true],
  ['entries', 'select=date&order=content', true],
  ['entries', 'select=ai_feedback', true],
  ['analyses', 'select=text,cited&date=eq.2026-01-01&order=created_at.desc&limit=1', false],
  ['analyses', 'select=kind,date', false],
  ['analyses', 'select=text&id=eq.u', false],
  ['analyses', 'select=text&date=eq.2026-01-01', true],
  ['analyses', 'select=text&limit=2', true],
  ['entries', 'select=date&content=in.(a,b)', true],
  ['entries', 'select=date&or=(date.is.null,content_text.eq.a)', true],
  ['entries', 'date=eq.2026-01-01&content=isdistinct.a', true],
  ['entries', 'select=date&content=not.is.null', false],
  ['entries', `select=date&date=in.(${list(100)})`, false],
  ['entries', `select=date&revision=gt(all).{${list(101)}}`, true],
  ['entry_dates', `or=(date.in.(${list(50)}),and(date.in.(${list(50)}),date.not.is.null))`, true],
  ['entries', 'order=date.desc&limit=1', false],
  ['entries', 'order=user_id,date&limit=1', false],
  ['entries', 'order=updated_at.desc&limit=1', true],
  ['entries', 'order=date.desc.nullslast&limit=1', true],
  ['entries', 'order=date,hustle_score&limit=1', true],
  ['entries', 'order=date&limit=1&offset=9', true],
  ['entry_versions', 'select=content&order=date.desc,id.desc&limit=1', false],
  ['entry_versions', 'select=content&order=date.desc,id&limit=1', true],
  ['entry_versions', 'select=content&order=kept_at&limit=1', true],
  ['deleted_days', 'select=excerpt&limit=1', true],
  ['deleted_days', 'select=date', true],
  ['entries', 'select=date,revision&order=revision', true],
  ['entry_dates', 'select=date&order=date.desc', false],
  ['entries', 'select=date,id', true],
  ['entries', 'select=date,revision,hustle_score', true],
  ['entries', 'select=date,id&date=in.(2026-01-01)', true],
  ['entry_dates', '', true],
  ['entry_versions', 'select=id,kept_at', true],
  ['entry_versions', 'select=id,kept_at&date=eq.2026-01-01', false],
  ['payments', '', false],
  ['profiles', '', false],
] as const)('isCostlyRead for %s with %s: %s', (name, search, expected) => {
  const table = EXPOSED_TABLES.get(name)!;
  expect(isCostlyRead(table, parseQuery(table, search), false)).toBe(expected);
});

test.each([
  ['entry_dates', 'select=date', true],
  ['entries', 'select=date,revision&order=date.desc', true],
  ['entries', 'select=content&date=eq.2026-01-01', false],
  ['entry_dates', 'select=date&date=eq.2026-01-01', false],
  ['profiles', 'id=eq.u', false],
] as const)('isCostlyRead for %s with %s and the number of rows: %s', (name, search, expected) => {
  const table = EXPOSED_TABLES.get(name)!;
  expect(isCostlyRead(table, parseQuery(table, search), true)).toBe(expected);
});

test.each([
  ['entries', 'user_id=eq.u&date=eq.2026-01-01', true],
  ['entries', 'order=date.desc&limit=1', true],
  ['entries', 'user_id=eq.u&select=date&order=date.desc', true],
  ['entries', 'user_id=eq.u&select=date,hustle_score&date=gte.2026-01-01&date=lte.2026-12-31&order=date', true],
  ['entries', 'select=date,hustle_score,revision', false],
  ['entries', 'select=date&order=hustle_score', false],
  ['entries', 'select=date&order=date,revision', false],
  ['entries', 'select=id,updated_at', false],
  ['entries', 'content=like.*a*&limit=1', false],
  ['entries', 'select=date,content', false],
  ['entries', `select=date&date=in.(${list(10)})`, true],
  ['entries', `select=date&date=in.(${list(10)})&revision=neq.1`, false],
  ['entry_dates', 'select=date', true],
  ['profiles', 'id=eq.u', true],
  ['entries', 'order=updated_at.desc&limit=1', false],
  ['entries', 'order=date.desc&limit=1&offset=3000', false],
  ['deleted_days', 'select=date', false],
  ['deleted_days', 'select=excerpt&order=deleted_at&limit=1', false],
  ['profiles', '', false],
] as const)('isQuickRead for %s with %s: %s', (name, search, expected) => {
  const table = EXPOSED_TABLES.get(name)!;
  const query = parseQuery(table, search);
  expect(isQuickRead(table, query, false)).toBe(expected);
  expect(isQuickRead(table, query, true)).toBe(false);
});
