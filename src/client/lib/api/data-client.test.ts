/**
 * Tests that the client sends what postgrest-js would send, and what it returns for the answers of the API and of
 * others.
 */
import { PostgrestClient } from '@supabase/postgrest-js';
import { describe, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createDataClient, DataError, type DataClient } from './data-client.ts';

const API = 'https://journal.example.com';
const DATE = day('2026-11-23');
const ROW = { user_id: 'ana', id: 'a', date: DATE, content: '<p>100 % & more</p>' };

const clientOf = (send: typeof fetch): DataClient => createDataClient({ apiUrl: API, withSession: () => send });

type Sent = { url: string; method: string; body: unknown; prefer: string | null; type: string | null };

/** The one request that the action sends. */
async function requestOf(act: (send: typeof fetch) => PromiseLike<unknown>): Promise<Sent> {
  const sent: Sent[] = [];
  await act(async (input, init) => {
    const headers = new Headers(init?.headers);
    sent.push({
      url: input instanceof Request ? input.url : input.toString(),
      method: init?.method ?? 'GET',
      body: init?.body ?? undefined,
      prefer: headers.get('prefer'),
      type: headers.get('content-type'),
    });
    return Response.json([]);
  });
  expect(sent).toHaveLength(1);
  return sent[0]!;
}

test.each<[string, (data: DataClient) => PromiseLike<unknown>]>([
  ['a read', (data) => data.from('profiles').select('*').eq('id', 'ana')],
  ['a read of columns', (data) => data.from('entries').select('date, content, hustle_score').eq('user_id', 'a & b')],
  ['ranges', (data) => data.from('entries').select('date').gte('date', DATE).lte('date', DATE).gt('revision', 3)],
  [
    'a list',
    (data) =>
      data
        .from('entries')
        .select('date')
        .in('date', [DATE, day('2026-11-24')]),
  ],
  ['alternatives', (data) => data.from('entries').select('id').match({ user_id: 'ana' }).or(`date.eq.${DATE},id.eq.b`)],
  ['an order', (data) => data.from('reviews').select('text').order('period_to', { ascending: false }).order('id')],
  ['a limit', (data) => data.from('entries').select('date').order('date').limit(5)],
  ['an insert', (data) => data.from('entries').insert(ROW)],
  ['an insert that returns', (data) => data.from('entries').insert(ROW).select('id, revision')],
  ['an upsert', (data) => data.from('preferences').upsert({ user_id: 'ana', prompts: true })],
  ['an update', (data) => data.from('entries').update({ content: 'é' }).match({ id: 'a', revision: 3 }).select('id')],
  ['a deletion', (data) => data.from('entries').delete().eq('user_id', 'ana').eq('id', 'a')],
])('%s is the request that postgrest-js sends', async (_what, act) => {
  const library = (send: typeof fetch) =>
    act(new PostgrestClient(`${API}/rest/v1`, { fetch: send }) as unknown as DataClient);
  expect(await requestOf((send) => act(clientOf(send)))).toEqual(await requestOf(library));
});

test('a filter for values that are there is the request that postgrest-js sends', async () => {
  const own = await requestOf((send) => clientOf(send).from('entries').select('date').isNotNull('hustle_score'));
  const library = await requestOf((send) =>
    new PostgrestClient(`${API}/rest/v1`, { fetch: send })
      .from('entries')
      .select('date')
      .not('hustle_score', 'is', null),
  );
  expect(own).toEqual(library);
});

describe('an answer', () => {
  const read = (answer: () => Response) =>
    clientOf(async () => answer())
      .from('entries')
      .select('date');

  test('has the rows and the status', async () => {
    expect(await read(() => Response.json([{ date: DATE }]))).toEqual({
      data: [{ date: DATE }],
      error: null,
      status: 200,
    });
  });

  test('to a write has no data', async () => {
    const write = clientOf(async () => new Response(null, { status: 204 }));
    expect(await write.from('time_off').delete().eq('id', 'a')).toEqual({ data: null, error: null, status: 204 });
  });

  test.each(['', 'null', '{}', '{"code":"42501"}', '"text"'])(
    'of %j is none of the API, and a failure',
    async (body) => {
      const failed = { data: null, error: { code: '' }, status: 200 };
      const client = clientOf(async () => new Response(body));
      expect(await client.from('entries').select('date')).toMatchObject(failed);
      expect(await client.from('entries').select('date').maybeSingle()).toMatchObject(failed);
      expect(await client.from('entries').update({ content: 'é' }).eq('id', 'a').select('id')).toMatchObject(failed);
      if (!['', 'null'].includes(body))
        expect(await client.from('time_off').delete().eq('id', 'a')).toMatchObject(failed);
    },
  );

  test.each([[[{ date: DATE }, { date: 'later' }], { date: DATE }] as const, [[], null] as const])(
    'of %j has one row for maybeSingle',
    async (rows, row) => {
      expect((await read(() => Response.json(rows)).maybeSingle()).data).toEqual(row);
    },
  );

  test.each([
    [Response.json({ code: '42501', message: 'no' }, { status: 403 }), '42501', 'no', 403],
    [new Response('<html>Sign in</html>'), '', '<html>Sign in</html>', 200],
    [new Response('"text"', { status: 502 }), '', '"text"', 502],
    [new Response('', { status: 500 }), '', '', 500],
  ])('that is a failure has a code and a status %#', async (response, code, message, status) => {
    const { data, error, ...rest } = await read(() => response.clone());
    expect({ data, code: error?.code, message: error?.message, ...rest }).toEqual({
      data: null,
      code,
      message,
      status,
    });
    await expect(read(() => response.clone()).throwOnError()).rejects.toBeInstanceOf(DataError);
  });

  test('that does not arrive has the status 0, or throws what fetch threw', async () => {
    const reason = new TypeError('Failed to fetch');
    const data = clientOf(() => Promise.reject(reason));
    expect(await data.from('entries').select('date')).toMatchObject({ data: null, error: { code: '' }, status: 0 });
    await expect(data.from('entries').select('date').throwOnError()).rejects.toBe(reason);
  });
});

test('passes the signal of the caller', async () => {
  const { signal } = new AbortController();
  let passed: unknown;
  const data = clientOf(async (_input, init) => ((passed = init?.signal), Response.json([])));
  await data.from('entries').select('date').abortSignal(signal);
  expect(passed).toBe(signal);
});
