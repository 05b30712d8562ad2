import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { daysAgo, startDataWorld, today, type DataWorld, type Person } from './fixture.ts';

let world: DataWorld;
let ana: Person;

beforeAll(async () => {
  world = await startDataWorld();
  ana = world.ana;
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});
beforeEach(async () => {
  await world.server.admin.query('delete from public.entries');
});

const entries = (person = ana) => person.client.from('entries');
const row = (date: Day, content: string, person = ana) => ({ user_id: person.id, date, content });
async function readContent(date: Day, person = ana): Promise<string | undefined> {
  const text = 'select content from public.entries where user_id = $1 and date = $2';
  return (await world.server.admin.query<{ content: string }>(text, [person.id, date])).rows[0]?.content;
}
const saveOn = (revision: number, content: string) =>
  entries().update({ content }).eq('date', today()).eq('revision', revision).select('revision').maybeSingle();
async function saveAndRead(content: string, date = today()): Promise<string | undefined> {
  const { error } = await entries().upsert(row(date, content));
  expect(error).toBeNull();
  return readContent(date);
}
const single = { accept: 'application/vnd.pgrst.object+json' };

describe('insert', () => {
  test('inserts one row, with return=minimal and return=representation', async () => {
    expect(await entries().insert(row(today(), '<p>x</p>'))).toMatchObject({ status: 201, data: null, error: null });
    const response = await entries()
      .insert(row(daysAgo(1), '<p>y</p>'))
      .select('date,content')
      .single();
    expect(response).toMatchObject({
      status: 201,
      data: { date: daysAgo(1), content: withDateHeader(daysAgo(1), '<p>y</p>') },
    });
  });
  test('inserts many rows atomically', async () => {
    const rows = [1, 2, 3].map((count) => row(daysAgo(count), `<p>${count}</p>`));
    expect((await entries().insert(rows).select('date')).data).toHaveLength(3);
    const { error } = await entries().insert([row(today(), 'a'), row(daysAgo(1), 'b')]);
    expect(error).toMatchObject({ code: '23505' });
    expect(await readContent(today())).toBeUndefined();
  });
  test('writes null for keys that a row omits', async () => {
    const { error, status } = await entries().insert([row(today(), 'a'), { user_id: ana.id, date: daysAgo(1) }]);
    expect({ status, error }).toMatchObject({ status: 400, error: { code: '23502' } });
  });
  test('writes the defaults of keys that a row omits, with missing=default', async () => {
    const id = crypto.randomUUID();
    const rows = [{ id, ...row(today(), 'a') }, row(daysAgo(1), 'b'), row(daysAgo(2), 'c')];
    const columns = 'id,user_id,date,content,updated_at';
    const path = `/rest/v1/entries?columns=${columns}&select=id,date,updated_at&order=date.desc`;
    const written = await world.request(ana, 'POST', path, {
      body: rows,
      headers: { prefer: 'return=representation, missing=default' },
    });
    expect(written.status, written.text).toBe(201);
    const [first, second, third] = written.json as { id: string; updated_at: string }[];
    expect(first!.id).toBe(id);
    expect(new Set([id, second!.id, third!.id]).size).toBe(3);
    expect(written.headers.get('preference-applied')).toBe('return=representation, missing=default');
    const changed = await world.request(ana, 'PATCH', '/rest/v1/entries?date=not.is.null&columns=content,updated_at', {
      body: { content: 'd' },
      headers: { prefer: 'missing=default' },
    });
    expect(changed.status, changed.text).toBe(204);
    expect(await readContent(today())).toContain('d');
    // Without the preference they are null.
    const nulls = await world.request(ana, 'POST', `/rest/v1/entries?columns=${columns}`, {
      body: row(daysAgo(3), 'x'),
    });
    expect(nulls).toMatchObject({ status: 400, json: { code: '23502' } });
  });
  test('returns the address of the new row, and no rows, with return=headers-only', async () => {
    const insert = (body: unknown, prefer = 'return=headers-only') =>
      world.request(ana, 'POST', '/rest/v1/entries', { body, headers: { prefer } });
    const location = (date: Day) => `/entries?user_id=eq.${ana.id}&date=eq.${date}`;
    const created = await insert(row(today(), 'x'));
    expect([created.status, created.text]).toEqual([201, '']);
    expect(created.headers.get('location')).toBe(location(today()));
    expect(created.headers.get('preference-applied')).toBe('return=headers-only');
    expect((await world.request(ana, 'GET', `/rest/v1${location(today())}`)).json).toHaveLength(1);
    const many = await insert([row(daysAgo(1), 'x'), row(daysAgo(2), 'y')]);
    expect(many.headers.get('location')).toBe(location(daysAgo(1)));
    const replaced = await insert(row(today(), 'z'), 'return=headers-only,resolution=merge-duplicates');
    expect([replaced.status, replaced.headers.get('location')]).toEqual([200, location(today())]);
    const ignored = await insert(row(today(), 'z'), 'return=headers-only,resolution=ignore-duplicates');
    expect([ignored.status, ignored.headers.get('location')]).toEqual([201, null]);
    const changed = await world.request(ana, 'PATCH', `/rest/v1${location(today())}`, {
      body: { content: 'w' },
      headers: { prefer: 'return=headers-only' },
    });
    expect([changed.status, changed.headers.get('location')]).toEqual([204, null]);
  });
  test('rejects a duplicate day with 409', async () => {
    await entries().insert(row(today(), 'a'));
    expect(await entries().insert(row(today(), 'b'))).toMatchObject({
      status: 409,
      error: {
        code: '23505',
        message: expect.stringMatching(/^duplicate key value violates unique constraint "entries_(p\d+_)?pkey"$/),
        // PostgreSQL omits the key under row-level security.
        details: null,
        hint: null,
      },
    });
    expect(await readContent(today())).toContain('a');
  });
  test('takes the id of a new row, and refuses the same row again on another day', async () => {
    const id = crypto.randomUUID();
    const inserted = await entries()
      .insert({ id, ...row(daysAgo(1), 'a') })
      .select('id')
      .single();
    expect(inserted.data).toEqual({ id });
    await entries()
      .update({ date: daysAgo(2) })
      .eq('id', id)
      .throwOnError();
    // Repeats an insert whose answer was lost, after another device has moved the log: it must not create a second day.
    expect(await entries().insert({ id, ...row(daysAgo(1), 'a') })).toMatchObject({
      status: 409,
      error: { code: '23505', details: null },
    });
    expect((await entries().select('date').eq('user_id', ana.id)).data).toEqual([{ date: daysAgo(2) }]);
  });
  test('accepts an empty array', async () => {
    const response = await world.request(ana, 'POST', '/rest/v1/entries', { body: [] });
    expect([response.status, response.text]).toEqual([201, '']);
    expect(await entries().insert([]).select()).toMatchObject({ data: [] });
  });
  test('rejects an empty row', async () => {
    expect(await world.request(ana, 'POST', '/rest/v1/entries', { body: {} })).toMatchObject({
      status: 403,
      json: { code: '42501' },
    });
  });
  test('returns status, Content-Range and applied preferences', async () => {
    const response = await world.request(ana, 'POST', '/rest/v1/entries', { body: row(today(), 'x') });
    expect([response.status, response.text, response.headers.get('content-range')]).toEqual([201, '', '*/*']);
    const counted = await world.request(ana, 'POST', '/rest/v1/entries', {
      body: row(daysAgo(1), 'x'),
      headers: { prefer: 'return=representation,count=exact' },
    });
    expect(counted.headers.get('content-range')).toBe('*/1');
    expect(counted.headers.get('preference-applied')).toBe('return=representation, count=exact');
  });
});

describe('upsert', () => {
  const onConflict = 'user_id,date';
  test('inserts with 201, replaces with 200 and raises the revision', async () => {
    expect(await entries().upsert(row(today(), 'a'), { onConflict })).toMatchObject({ status: 201, error: null });
    const again = await entries().upsert(row(today(), 'b'), { onConflict }).select('content,revision');
    expect(again).toMatchObject({ status: 200, data: [{ content: withDateHeader(today(), 'b'), revision: 2 }] });
    expect(await entries().upsert(row(today(), 'c'), { onConflict })).toMatchObject({ status: 200, error: null });
    expect(await entries().upsert([row(today(), 'd'), row(daysAgo(1), 'd')])).toMatchObject({
      status: 201,
      error: null,
    });
  });
  test('keeps existing rows with ignoreDuplicates', async () => {
    await entries().insert(row(today(), 'a'));
    const response = await entries()
      .upsert([row(today(), 'b'), row(daysAgo(1), 'b')], { onConflict, ignoreDuplicates: true })
      .select('date');
    expect(response).toMatchObject({ status: 201, data: [{ date: daysAgo(1) }] });
    expect(await readContent(today())).toBe(withDateHeader(today(), 'a'));
  });
  test('rejects the same row twice and a conflict target that is not unique', async () => {
    expect(await entries().upsert([row(today(), 'a'), row(today(), 'b')], { onConflict })).toMatchObject({
      status: 400,
      error: { code: '21000' },
    });
    expect(await entries().upsert(row(today(), 'a'), { onConflict: 'content' })).toMatchObject({
      status: 400,
      error: { code: '42P10' },
    });
    expect(await entries().upsert(row(today(), 'a'), { onConflict: 'nope' })).toMatchObject({
      status: 400,
      error: { code: '42703' },
    });
  });
  test('writes the country of a profile', async () => {
    const response = await ana.client.from('profiles').upsert({ id: ana.id, country: 'PT' }).select('country').single();
    expect(response).toMatchObject({ data: { country: 'PT' } });
  });
});

describe('update', () => {
  beforeEach(async () => {
    await entries().insert([row(today(), 'a'), row(daysAgo(1), 'a')]);
  });
  test('returns 204, or the rows on request', async () => {
    expect(await entries().update({ content: 'b' }).eq('date', today())).toMatchObject({
      status: 204,
      data: null,
      error: null,
    });
    const response = await entries().update({ content: 'c' }).eq('date', today()).select('content').single();
    expect(response).toMatchObject({ status: 200, data: { content: withDateHeader(today(), 'c') } });
  });
  test('succeeds when it matches no row', async () => {
    expect(await entries().update({ content: 'b' }).eq('date', daysAgo(9)).select()).toMatchObject({
      status: 200,
      data: [],
    });
    expect(await entries().update({ content: 'b' }).eq('date', daysAgo(9))).toMatchObject({ status: 204, error: null });
  });
  test('with a revision filter affects no row for the second of two writers', async () => {
    expect((await saveOn(1, 'mine')).data).toEqual({ revision: 2 });
    expect(await saveOn(1, 'theirs')).toMatchObject({ data: null, error: null });
    expect(await readContent(today())).toBe(withDateHeader(today(), 'mine'));
  });
  test('returns the number of updated rows, in order', async () => {
    const response = await world.request(
      ana,
      'PATCH',
      `/rest/v1/entries?date=lte.${today()}&order=date.desc&select=date`,
      { body: { content: 'z' }, headers: { prefer: 'return=representation,count=exact' } },
    );
    expect(response.headers.get('content-range')).toBe('0-1/2');
    expect(response.json).toEqual([{ date: today() }, { date: daysAgo(1) }]);
    const bare = await world.request(ana, 'PATCH', `/rest/v1/entries?date=lte.${today()}`, { body: { content: 'y' } });
    expect([bare.status, bare.text, bare.headers.get('content-range')]).toEqual([204, '', '0-1/*']);
  });
  test('without changes is a no-op', async () => {
    expect(await entries().update({}).eq('date', today()).select()).toMatchObject({ data: [], error: null });
  });
  test('of the date rewrites the date header', async () => {
    await entries()
      .update({ date: daysAgo(2) })
      .eq('date', today());
    expect(await readContent(daysAgo(2))).toBe(withDateHeader(daysAgo(2), 'a'));
    await entries()
      .update({ date: daysAgo(3), content: 'b' })
      .eq('date', daysAgo(2));
    expect(await readContent(daysAgo(3))).toBe(withDateHeader(daysAgo(3), 'b'));
  });
  test('of a single object rolls back unless it matches one row', async () => {
    const response = await world.request(ana, 'PATCH', `/rest/v1/entries?date=lte.${today()}`, {
      body: { content: 'z' },
      headers: single,
    });
    expect(response).toMatchObject({ status: 406, json: { code: 'PGRST116', details: 'The result contains 2 rows' } });
    expect(await readContent(today())).toBe(withDateHeader(today(), 'a'));
    expect(await entries().update({ content: 'z' }).eq('date', daysAgo(9)).select().single()).toMatchObject({
      status: 406,
      error: { code: 'PGRST116' },
    });
  });
});

describe("a save in the specification's own shape", () => {
  const feedback = { ai_feedback: 'Mine.', hustle_score: 10, ai_analyzed_at: '2099-01-01T00:00:00.000Z' };
  const shape = (content: string, date: Day) => ({
    content: withDateHeader(date, content),
    date,
    user_id: ana.id,
    updated_at: '2099-01-01T00:00:00.000Z',
    ...feedback,
  });
  const none = { ai_feedback: null, hustle_score: null, ai_analyzed_at: null };

  /**
   * A save that sends the server's columns, as `docs/specification/days-and-saving.md` 5 allows: select, then update or
   * insert. A duplicate insert is retried as an update.
   */
  async function saveEntry(content: string, date: Day) {
    const { data: found } = await entries().select('id').eq('user_id', ana.id).eq('date', date).maybeSingle();
    const update = () =>
      entries().update(shape(content, date)).eq('user_id', ana.id).eq('date', date).select().single().throwOnError();
    if (found) return (await update()).data;
    const { data, error } = await entries().insert(shape(content, date)).select().single();
    return error?.code === '23505' ? (await update()).data : data;
  }

  test('succeeds, and the response shows the values of the server', async () => {
    const created = await saveEntry('<p>one</p>', today());
    expect(created).toMatchObject({ ...none, content: withDateHeader(today(), '<p>one</p>'), revision: 1 });
    expect(created.updated_at < '2099').toBe(true);
    await world.server.admin.query(
      "update public.entries set ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = now() where user_id = $1",
      [ana.id],
    );
    const changed = await saveEntry('<p>two</p>', today());
    expect(changed).toMatchObject({ id: created.id, ai_feedback: 'Good.', hustle_score: 7, revision: 2 });
    expect(changed.updated_at > created.updated_at && changed.updated_at < '2099').toBe(true);
    expect(changed.ai_analyzed_at < changed.updated_at).toBe(true);
  });

  test('succeeds when sent twice concurrently, and as an upsert', async () => {
    const both = await Promise.all([saveEntry('<p>a</p>', today()), saveEntry('<p>b</p>', today())]);
    expect(both.map(({ revision }) => revision).sort()).toEqual([1, 2]);
    const upserted = await entries()
      .upsert(shape('<p>c</p>', today()), { onConflict: 'user_id,date' })
      .select()
      .single();
    expect(upserted).toMatchObject({ status: 200, data: { ...none, revision: 3 } });
  });
});

describe('delete', () => {
  beforeEach(async () => {
    await entries().insert([row(today(), 'a'), row(daysAgo(1), 'a')]);
  });
  test('returns 204, or the rows on request', async () => {
    expect(await entries().delete().eq('date', today())).toMatchObject({ status: 204, error: null });
    expect(await readContent(today())).toBeUndefined();
    expect(await entries().delete({ count: 'exact' }).eq('date', daysAgo(1)).select('date')).toMatchObject({
      status: 200,
      data: [{ date: daysAgo(1) }],
      count: 1,
    });
  });
  test('of a single object rolls back when it matches more rows', async () => {
    const response = await world.request(ana, 'DELETE', `/rest/v1/entries?date=lte.${today()}`, { headers: single });
    expect(response).toMatchObject({ status: 406, json: { code: 'PGRST116' } });
    expect(await readContent(today())).toBeDefined();
  });
  test.each([
    ['DELETE', 'DELETE requires a WHERE clause', undefined],
    ['PATCH', 'UPDATE requires a WHERE clause', { content: 'x' }],
  ])('rejects %s without a filter', async (method, message, body) => {
    const response = await world.request(ana, method, '/rest/v1/entries', { body });
    expect(response).toMatchObject({ status: 400, json: { code: '21000', message } });
    expect(await readContent(today())).toBeDefined();
  });
  test('rejects a limit as ambiguous', async () => {
    expect(await world.request(ana, 'DELETE', `/rest/v1/entries?date=lte.${today()}&limit=1`)).toMatchObject({
      status: 400,
    });
  });
});

describe('a stored log', () => {
  test('has the date header of its row, regardless of the sent one', async () => {
    for (const date of [today(), daysAgo(7), daysAgo(20)]) {
      expect(await saveAndRead('<p>x</p>', date)).toBe(`<h2 class="date-header">${dayLabel(date)}</h2><p>x</p>`);
      expect(await saveAndRead(withDateHeader(daysAgo(3), '<p>x</p>'), date)).toBe(withDateHeader(date, '<p>x</p>'));
    }
  });
  test('has no scripts, handlers and links after insert, update and upsert', async () => {
    const bad = '<p onclick="x">a<script>alert(1)</script><a href="javascript:x">b</a></p><img src=x onerror=y>';
    const clean = withDateHeader(today(), '<p>ab</p>');
    await entries().insert([row(today(), bad), row(daysAgo(1), bad)]);
    expect(await readContent(today())).toBe(clean);
    await entries()
      .update({ content: `${bad}<b></b>` })
      .eq('date', today());
    expect(await readContent(today())).toBe(clean);
    expect(await saveAndRead(bad)).toBe(clean);
  });
  test.each([
    ['right-to-left and combining text', '<p>שלום \u202Eאב\u202C e\u0301 👩‍👩‍👧 \u00A0&nbsp;</p>'],
    ['quotes, backslashes and dollars', `<p>'"\\ $1 $$ \\u0041 ; -- /* %s</p>`],
    ['tabs and line ends', '<p>a\t\r\nb</p>'],
    ['10,000 list items', `<ol>${'<li><p>item</p></li>'.repeat(10_000)}</ol>`],
    ['256 KB to the byte', 'é'.repeat(ENTRY_MAX_BYTES / 2)],
  ])('keeps %s unchanged', async (_what, content) => {
    expect(await saveAndRead(content)).toBe(withDateHeader(today(), content));
    const { data } = await entries().select('content').eq('date', today()).single();
    expect(data).toEqual({ content: withDateHeader(today(), content) });
  });
  test('has no control characters, and U+FFFD for lone surrogates', async () => {
    expect(await saveAndRead('<p>a\0\u0001\u001F\u007Fb</p>')).toBe(withDateHeader(today(), '<p>ab</p>'));
    const body = `{"user_id":"${ana.id}","date":"${daysAgo(1)}","content":"<p>\\ud800 \\udc00\\u0000</p>"}`;
    expect(await world.request(ana, 'POST', '/rest/v1/entries', { body })).toMatchObject({ status: 201 });
    expect(await readContent(daysAgo(1))).toBe(withDateHeader(daysAgo(1), '<p>\uFFFD \uFFFD</p>'));
  });
  test('cannot exceed 256 KB, and a rejected write keeps the previous log', async () => {
    await saveAndRead('<p>before</p>');
    for (const act of [
      () =>
        entries()
          .update({ content: 'a'.repeat(ENTRY_MAX_BYTES + 1) })
          .eq('date', today()),
      () => entries().upsert(row(today(), 'é'.repeat(ENTRY_MAX_BYTES / 2) + 'x')),
    ]) {
      expect(await act()).toMatchObject({
        status: 413,
        error: { code: '54000', message: 'A log can hold 256 KB at most. Please shorten it' },
      });
    }
    expect(await readContent(today())).toBe(withDateHeader(today(), '<p>before</p>'));
  });
});
