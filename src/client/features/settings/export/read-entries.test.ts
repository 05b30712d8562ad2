import { PostgrestClient } from '@supabase/postgrest-js';
import { expect, test } from 'vitest';
import { addDays, day } from '#domain/day/day.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import { createEntryReader, EntryReadError } from './read-entries.ts';

const FIRST = day('2020-01-01');
const never = new AbortController().signal;

/** A server whose answers hold at most `maxRows` logs. */
function createReader(maxRows: number) {
  const requests: number[] = [];
  const answer: typeof fetch = async (input) => {
    const { url } = new Request(input);
    const [, list = ''] = /^in\.\((.*)\)$/.exec(new URL(url).searchParams.get('date')!) ?? [];
    const dates = list.split(',');
    requests.push(dates.length);
    if (dates.length <= maxRows) return Response.json(dates.map((date) => ({ date, content: '<p>x</p>' })));
    const error = { code: '54000', message: 'An answer can hold 16 MB of texts at most', details: null, hint: null };
    return Response.json(error, { status: 413 });
  };
  const data = new PostgrestClient('http://localhost/rest/v1', { fetch: answer }) as unknown as DataClient;
  return { reader: createEntryReader(data, 'ana'), requests };
}

test('reads days whose texts are too long for one answer in several requests, oldest first', async () => {
  const { reader, requests } = createReader(3);
  const dates = Array.from({ length: 10 }, (_, index) => addDays(FIRST, index));
  expect((await reader.days(dates, never)).map(({ date }) => date)).toEqual(dates);
  expect(requests).toEqual([10, 5, 3, 2, 5, 3, 2]);
});

test('fails if a single day is too long', async () => {
  const { reader, requests } = createReader(0);
  await expect(reader.days([FIRST], never)).rejects.toThrow(EntryReadError);
  expect(requests).toEqual([1]);
});
