import { expect, test } from 'vitest';
import { addDays, day, type Day } from '#domain/day/day.ts';
import { FIND_MAX_RESULTS, parseSearchTerms } from '#domain/match-search.ts';
import type { SeenDay } from '#client/sync/store/user-database.ts';
import { searchCopies } from './use-find.ts';

const TODAY = day('2026-11-22');
const seen = (daysAgo: number, text: string | null): SeenDay => ({
  date: addDays(TODAY, -daysAgo),
  seenAt: 1,
  stored:
    text === null ? null : { id: `row-${daysAgo}`, revision: 1, savedAt: 1, html: `<ol><li><p>${text}</p></li></ol>` },
});
const search = (copies: readonly SeenDay[], query: string, isOpen: (date: Day) => boolean = () => true) =>
  searchCopies(copies, parseSearchTerms(query), isOpen);

test('finds the logs that have all words, newest first, with marked words', () => {
  const copies = [seen(9, 'Die Straße war frei'), seen(1, 'Strasse &amp; mehr'), seen(3, 'street'), seen(4, null)];
  const { results, more, searched } = search(copies, 'stras');
  expect(results).toEqual([
    {
      date: addDays(TODAY, -1),
      snippet: [
        { text: 'Strasse', marked: true },
        { text: ' & mehr', marked: false },
      ],
    },
    {
      date: addDays(TODAY, -9),
      snippet: [
        { text: 'Die ', marked: false },
        { text: 'Straße', marked: true },
        { text: ' war frei', marked: false },
      ],
    },
  ]);
  expect(more).toBe(false);
  // A day without a log does not count as searched.
  expect(searched).toEqual([1, 3, 9].map((back) => addDays(TODAY, -back)));
});

test('neither finds nor counts a day that the plan locks', () => {
  const copies = [seen(1, 'needle'), seen(60, 'needle')];
  const { results, searched } = search(copies, 'needle', (date) => date > addDays(TODAY, -30));
  expect(results.map(({ date }) => date)).toEqual([addDays(TODAY, -1)]);
  expect(searched).toEqual([addDays(TODAY, -1)]);
});

test('returns as many days as the server, and says that there are more', () => {
  const copies = Array.from({ length: FIND_MAX_RESULTS + 1 }, (_, index) => seen(index, 'needle'));
  expect(search(copies, 'needle')).toMatchObject({ more: true, results: { length: FIND_MAX_RESULTS } });
  expect(search(copies.slice(1), 'needle')).toMatchObject({ more: false, results: { length: FIND_MAX_RESULTS } });
});
