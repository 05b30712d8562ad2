import { QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { addDays, day } from '#domain/day/day.ts';
import { DATES_KEY, setDateStored } from './entry-queries.ts';

const TODAY = day('2026-11-22');
const OLD = addDays(TODAY, -3);

test('a date that a save adds or removes is shown and stored, with the time of the last read', () => {
  const queries = new QueryClient();
  const stored: unknown[] = [];
  const copies = { storeCopy: async (...copy: unknown[]): Promise<unknown> => stored.push(copy) };
  const shown = (): unknown => [queries.getQueryData(DATES_KEY), queries.getQueryState(DATES_KEY)?.dataUpdatedAt];
  // Before the dates are loaded, no copy is stored: a copy of one date alone would hide the others.
  setDateStored(queries, copies, TODAY, true);
  expect(stored).toEqual([]);

  queries.setQueryData(DATES_KEY, [OLD], { updatedAt: 5 });
  setDateStored(queries, copies, TODAY, true);
  expect(shown()).toEqual([[TODAY, OLD], 5]);
  setDateStored(queries, copies, TODAY, true);
  setDateStored(queries, copies, OLD, false);
  expect(shown()).toEqual([[TODAY], 5]);
  expect(stored).toEqual([
    ['entry-dates', [TODAY, OLD], 5],
    ['entry-dates', [TODAY], 5],
  ]);
});
