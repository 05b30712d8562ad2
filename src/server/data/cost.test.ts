import { describe, expect, test } from 'vitest';
import { readsManyLogs, refuseCostly } from './cost.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import { parseQuery } from './parse/parse-query.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const list = (count: number): string => Array.from({ length: count }, (_, index) => `*${index}*`).join(',');

describe('searching texts', () => {
  test.each([
    `content=ilike(any).{${list(11)}}`,
    `or=(${Array.from({ length: 11 }, (_, index) => `content_text.like.*${index}*`).join(',')})`,
    `content=not.like.*${'a'.repeat(200)}*`,
    `content=gt(all).{${list(11)}}`,
  ])('has a bound: %.40s', (search) => {
    expect(() => refuseCostly(parseQuery(entries, search))).toThrow('could not be parsed');
  });

  test.each([
    `content_text=ilike(any).{${list(10)}}`,
    `content=like.*${'a'.repeat(100)}*`,
    `date=in.(${list(400)})`,
    `content=eq.${'a'.repeat(4000)}`,
  ])('is free below it, and so is what reads no text: %.40s', (search) => {
    expect(() => refuseCostly(parseQuery(entries, search))).not.toThrow();
  });
});

test.each([
  ['user_id=eq.u&date=eq.2026-01-01&select=content,revision', false],
  ['user_id=eq.u&select=date', false],
  ['id=eq.u', false],
  ['', true],
  ['user_id=eq.u&date=gte.2026-01-01', true],
  ['date=not.eq.2026-01-01', true],
  ['or=(date.eq.2026-01-01,date.eq.2026-01-02)', true],
  ['content=like.*a*&select=date', true],
])('%s goes through many logs: %s', (search, expected) => {
  expect(readsManyLogs(entries, parseQuery(entries, search))).toBe(expected);
});
