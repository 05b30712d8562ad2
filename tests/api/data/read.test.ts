import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READABLE_TABLES } from '#domain/database-rows.ts';
import { dayLabel } from '#domain/day/day.ts';
import { daysAgo, startDataWorld, today, type DataWorld } from './fixture.ts';

let world: DataWorld;
const days = [5, 4, 3, 2, 1].map(daysAgo);

beforeAll(async () => {
  world = await startDataWorld();
  const { ana, ben } = world;
  const rows = days.map((date, index) => ({ user_id: ana.id, date, content: `<p>Ana ${index} 50% _done_</p>` }));
  expect((await ana.client.from('entries').insert(rows)).error).toBeNull();
  const row = { user_id: ben.id, date: daysAgo(1), content: '<p>Ben</p>' };
  expect((await ben.client.from('entries').insert(row)).error).toBeNull();
});
afterAll(async () => {
  await world.close();
});

const dates = () => world.ana.client.from('entries').select('date').order('date');
const datesOf = (rows: { date: string }[] | null) => rows?.map((row) => row.date);

describe('reading with postgrest-js', () => {
  test('select * returns every column', async () => {
    const { data, status } = await world.ana.client.from('entries').select('*').eq('date', daysAgo(1)).single();
    expect(status).toBe(200);
    expect(Object.keys(data)).toEqual(Object.keys(READABLE_TABLES.entries.columns));
    expect(data).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: world.ana.id,
      date: daysAgo(1),
      content: `<h2 class="date-header">${dayLabel(daysAgo(1))}</h2><p>Ana 4 50% _done_</p>`,
      content_text: 'Ana 4 50% _done_',
      revision: 1,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*\+00:00$/),
      updated_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*\+00:00$/),
      ai_feedback: null,
      hustle_score: null,
      ai_analyzed_at: null,
    });
  });

  test('sign-up creates the profile', async () => {
    const { data } = await world.ana.client.from('profiles').select('*').eq('id', world.ana.id).single();
    expect(data).toMatchObject({ id: world.ana.id, subscription_plan: 'free', ai_consent: false, country: null });
  });

  test('a list of 500 dates selects those days alone', async () => {
    const list = [daysAgo(5), daysAgo(2), ...Array.from({ length: 498 }, (_, index) => daysAgo(index + 100))];
    const { data } = await world.ana.client.from('entries').select('date').in('date', list).order('date');
    expect(datesOf(data)).toEqual([daysAgo(5), daysAgo(2)]);
  });

  test('a user reads only their own rows, and a guest none', async () => {
    expect(datesOf((await world.ben.client.from('entries').select('date')).data)).toEqual([daysAgo(1)]);
    expect((await world.ben.client.from('entries').select().eq('user_id', world.ana.id)).data).toEqual([]);
    expect((await world.ben.client.from('profiles').select('id')).data).toEqual([{ id: world.ben.id }]);
    expect(await world.guest.from('entries').select()).toMatchObject({ data: [], error: null });
  });

  test('applies order, limit and range', async () => {
    const table = world.ana.client.from('entries');
    expect(datesOf((await table.select('date').order('date', { ascending: false }).limit(2)).data)).toEqual([
      days[4],
      days[3],
    ]);
    expect(datesOf((await table.select('date').order('date').range(1, 3)).data)).toEqual(days.slice(1, 4));
    const both = table.select('date').order('hustle_score', { nullsFirst: true }).order('date', { ascending: true });
    expect(datesOf((await both).data)).toEqual(days);
    expect((await table.select('date').limit(0)).data).toEqual([]);
  });

  test('returns counts', async () => {
    const table = world.ana.client.from('entries');
    expect(await table.select('date', { count: 'exact' }).limit(2)).toMatchObject({ count: 5, status: 206 });
    expect(await table.select('date', { count: 'exact' })).toMatchObject({ count: 5, status: 200 });
    expect(await table.select('*', { count: 'exact', head: true })).toMatchObject({
      count: 5,
      data: null,
      error: null,
    });
    expect(await table.select('*', { count: 'exact', head: true }).eq('date', today())).toMatchObject({ count: 0 });
    expect(await table.select('*', { count: 'estimated' })).toMatchObject({ count: 5 });
  });

  test.each<[string, () => PromiseLike<{ data: { date: string }[] | null }>, number[]]>([
    ['eq', () => dates().eq('date', days[0]!), [0]],
    ['neq', () => dates().neq('date', days[0]!), [1, 2, 3, 4]],
    ['gt', () => dates().gt('date', days[2]!), [3, 4]],
    ['gte', () => dates().gte('date', days[2]!), [2, 3, 4]],
    ['lt', () => dates().lt('date', days[2]!), [0, 1]],
    ['lte', () => dates().lte('date', days[2]!), [0, 1, 2]],
    ['like', () => dates().like('content_text', 'Ana 1*'), [1]],
    ['like with an escaped wildcard', () => dates().like('content_text', '%50\\% \\_done\\_'), [0, 1, 2, 3, 4]],
    ['ilike', () => dates().ilike('content_text', 'ANA 2%'), [2]],
    ['likeAnyOf', () => dates().likeAnyOf('content_text', ['Ana 1%', 'Ana 3%']), [1, 3]],
    ['ilikeAllOf', () => dates().ilikeAllOf('content_text', ['ana%', '% 3 %']), [3]],
    ['is null', () => dates().is('ai_feedback', null), [0, 1, 2, 3, 4]],
    ['not is null', () => dates().not('ai_feedback', 'is', null), []],
    ['in', () => dates().in('date', [days[0]!, days[4]!]), [0, 4]],
    ['in, with texts that need quotes', () => dates().in('content_text', ['a,b', 'c)', 'Ana 0 50% _done_']), [0]],
    ['in, with nothing', () => dates().in('date', []), []],
    ['notIn', () => dates().notIn('date', [days[0]!, days[4]!]), [1, 2, 3]],
    ['not', () => dates().not('date', 'in', `(${days[0]},${days[1]})`), [2, 3, 4]],
    ['isDistinct', () => dates().isDistinct('hustle_score', 5), [0, 1, 2, 3, 4]],
    ['match', () => dates().match({ date: days[0], user_id: world.ana.id }), [0]],
    ['filter', () => dates().filter('date', 'gte', days[4]!), [4]],
    ['or', () => dates().or(`date.eq.${days[0]},date.eq.${days[4]}`), [0, 4]],
    ['or with and', () => dates().or(`date.eq.${days[0]},and(date.gt.${days[1]},date.lt.${days[3]})`), [0, 2]],
    ['or with not and a quoted value', () => dates().or(`content_text.not.like."Ana*",date.eq.${days[1]}`), [1]],
    ['two filters', () => dates().gt('date', days[0]!).lt('date', days[2]!), [1]],
  ])('%s', async (_name, query, expected) => {
    const response = await query();
    expect(response).toMatchObject({ error: null });
    expect(datesOf(response.data)).toEqual(expected.map((index) => days[index]));
  });

  test('supports single and maybeSingle', async () => {
    const entries = world.ana.client.from('entries');
    expect(await entries.select('date').eq('date', days[0]!).single()).toMatchObject({ data: { date: days[0] } });
    expect(await entries.select('date').eq('date', today()).maybeSingle()).toMatchObject({ data: null, error: null });
    expect(await entries.select('date').eq('date', days[0]!).maybeSingle()).toMatchObject({ data: { date: days[0] } });
    expect((await entries.select('date').maybeSingle()).error).toMatchObject({ code: 'PGRST116' });
    expect(await entries.select('date').single()).toMatchObject({
      status: 406,
      error: {
        code: 'PGRST116',
        message: 'Cannot coerce the result to a single JSON object',
        details: 'The result contains 5 rows',
        hint: null,
      },
    });
    expect((await entries.select('date').eq('date', today()).single()).error?.details).toBe(
      'The result contains 0 rows',
    );
  });
});

describe('raw read requests', () => {
  test('return status and headers of a page', async () => {
    const plain = await world.request(world.ana, 'GET', '/rest/v1/entries?select=date&order=date&offset=1&limit=2');
    expect(plain.status).toBe(200);
    expect(plain.headers.get('content-range')).toBe('1-2/*');
    expect(plain.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(plain.headers.get('cache-control')).toBe('no-store');
    const counted = await world.request(world.ana, 'GET', '/rest/v1/entries?select=date&offset=1&limit=2', {
      headers: { prefer: 'count=exact' },
    });
    expect(counted.status).toBe(206);
    expect(counted.headers.get('content-range')).toBe('1-2/5');
    expect(counted.headers.get('preference-applied')).toBe('count=exact');
    const nothing = await world.request(world.ana, 'GET', `/rest/v1/entries?date=eq.${today()}`);
    expect([nothing.headers.get('content-range'), nothing.text]).toEqual(['*/*', '[]']);
  });
  test('accept the Range header of older clients', async () => {
    const response = await world.request(world.ana, 'GET', '/rest/v1/entries?select=date&order=date', {
      headers: { range: '3-9', 'range-unit': 'items' },
    });
    expect(response.headers.get('content-range')).toBe('3-4/*');
  });
  test.each([
    ['GET', '1-3/*'],
    ['HEAD', '0-3/*'],
  ])('%s with limit and the Range header has the content range %s', async (method, contentRange) => {
    const response = await world.request(world.ana, method, '/rest/v1/entries?select=date&order=date&limit=4', {
      headers: { range: '1-9' },
    });
    expect([response.status, response.headers.get('content-range')]).toEqual([200, contentRange]);
  });
  test('HEAD returns the headers of GET without a body', async () => {
    const response = await world.request(world.ana, 'HEAD', '/rest/v1/entries?limit=2', {
      headers: { prefer: 'count=exact' },
    });
    expect([response.status, response.headers.get('content-range'), response.text]).toEqual([206, '0-1/5', '']);
    const none = await world.request(world.ana, 'HEAD', `/rest/v1/entries?date=eq.${today()}`, {
      headers: { prefer: 'count=exact' },
    });
    expect(none.headers.get('content-range')).toBe('*/0');
  });
  test('reject an offset beyond the end with count=exact', async () => {
    const path = '/rest/v1/entries?select=date&offset=9&limit=1';
    expect(await world.request(world.ana, 'GET', path, { headers: { prefer: 'count=exact' } })).toMatchObject({
      status: 416,
      json: { code: 'PGRST103', details: 'An offset of 9 was requested, but there are only 5 rows.' },
    });
    expect(await world.request(world.ana, 'GET', path)).toMatchObject({ status: 200, json: [] });
  });
  test('return one object instead of an array', async () => {
    const response = await world.request(world.ana, 'GET', `/rest/v1/entries?select=date&date=eq.${days[0]}`, {
      headers: { accept: 'application/vnd.pgrst.object+json' },
    });
    expect(response.headers.get('content-type')).toBe('application/vnd.pgrst.object+json; charset=utf-8');
    expect(response.json).toEqual({ date: days[0] });
  });
  test('leave out fields without a value', async () => {
    const { client } = world.ana;
    const one = client.from('entries').select('date,hustle_score').eq('date', days[0]);
    expect((await one.stripNulls().single()).data).toEqual({ date: days[0] });
    const texts = client.from('entries').select('date,content,hustle_score').limit(2).order('date').stripNulls();
    expect((await texts).data?.map((row) => Object.keys(row))).toEqual([
      ['date', 'content'],
      ['date', 'content'],
    ]);
    const written = await client
      .from('entries')
      .update({ content: '<p>again</p>' })
      .eq('date', days[0])
      .select('date,hustle_score')
      .stripNulls();
    expect(written.data).toEqual([{ date: days[0] }]);
    const type = 'application/vnd.pgrst.array+json;nulls=stripped';
    const response = await world.request(world.ana, 'GET', '/rest/v1/entries?select=date,hustle_score&limit=0', {
      headers: { accept: type },
    });
    expect([response.headers.get('content-type'), response.json]).toEqual([`${type}; charset=utf-8`, []]);
  });
});

describe('locked days', () => {
  test('are hidden from a free user and visible to a premium one', async () => {
    const old = daysAgo(60);
    for (const person of [world.ben, world.cleo]) {
      await world.server.admin.query(`insert into public.entries (user_id, date, content) values ($1, $2, 'old')`, [
        person.id,
        old,
      ]);
    }
    expect((await world.ben.client.from('entries').select('date').eq('date', old)).data).toEqual([]);
    expect((await world.cleo.client.from('entries').select('date').eq('date', old)).data).toEqual([{ date: old }]);
  });
});
