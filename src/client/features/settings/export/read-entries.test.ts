import { expect, test, vi } from 'vitest';
import { addDays, day } from '#domain/day/day.ts';
import { createDataClient } from '#client/lib/api/data-client.ts';
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
  const data = createDataClient({ apiUrl: 'http://localhost', withSession: () => answer });
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

/** Breaks off after its first bytes. */
const cutBody = (): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('[{"date":')),
      pull: (controller) => controller.error(new TypeError('network error')),
    }),
  );

test.each<[string, () => Response]>([
  [
    'no answer',
    () => {
      throw new TypeError('Failed to fetch');
    },
  ],
  ['a busy server', () => Response.json({ code: 'busy', message: 'busy' }, { status: 503 })],
  ['a body that breaks off', cutBody],
  ['cut JSON', () => new Response('[{"date":')],
  ['the page of a proxy without its server', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
])('repeats a read after %s', async (_what, fail) => {
  vi.useFakeTimers();
  let requests = 0;
  const answer: typeof fetch = async () => {
    requests += 1;
    return requests > 2 ? Response.json([{ date: FIRST, content: '<p>x</p>' }]) : fail();
  };
  const data = createDataClient({ apiUrl: 'http://localhost', withSession: () => answer });
  const reading = createEntryReader(data, 'ana').days([FIRST], never);
  reading.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(3_000);
  vi.useRealTimers();
  expect(await reading).toHaveLength(1);
  expect(requests).toBe(3);
});

test.each([
  ['an error of the API', 400, { code: 'PGRST100', message: 'no' }],
  ['an ended session', 401, { message: 'User not authenticated' }],
])('does not repeat a read after %s', async (_what, status, body) => {
  let requests = 0;
  const answer: typeof fetch = async () => {
    requests += 1;
    return Response.json(body, { status });
  };
  const data = createDataClient({ apiUrl: 'http://localhost', withSession: () => answer });
  await expect(createEntryReader(data, 'ana').days([FIRST], never)).rejects.toThrow(EntryReadError);
  expect(requests).toBe(1);
});
