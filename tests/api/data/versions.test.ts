/** Earlier versions and deleted days through /rest/v1 (docs/specification/days-and-saving.md 12). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Day } from '#domain/day/day.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { daysAgo, startDataWorld, today, type DataWorld, type Person } from './fixture.ts';

let world: DataWorld;
beforeAll(async () => {
  world = await startDataWorld();
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});
beforeEach(async () => {
  await world.server.admin.query('delete from public.entries; delete from public.entry_versions');
});

type Row = { id: string; revision: number };

async function insertLog(content: string, date: Day = today(), person: Person = world.ana): Promise<Row> {
  const row = { user_id: person.id, date, content };
  const { data, error } = await person.client.from('entries').insert(row).select('id, revision').single();
  expect(error).toBeNull();
  // As if written an hour ago: a younger log has no versions.
  const { admin } = world.server;
  const aged = `update public.entries set created_at = created_at - interval '1 hour' where id = $1`;
  await admin.query(aged, [(data as Row).id]);
  return data as Row;
}

/** The journal's own save: conditional on the row and its revision. */
async function save(row: Row, content: string, person = world.ana): Promise<Row> {
  const condition = { user_id: person.id, id: row.id, revision: row.revision };
  const answer = await person.client.from('entries').update({ content }).match(condition).select('id, revision');
  expect(answer.error).toBeNull();
  expect(answer.data).toHaveLength(1);
  return answer.data![0] as Row;
}

const readVersions = async (person = world.ana, date: Day = today()) =>
  (
    await person.client
      .from('entry_versions')
      .select('content, replaced_by')
      .eq('date', date)
      .order('kept_at', { ascending: false })
      .throwOnError()
  ).data;
const readDeletedDays = async (person = world.ana) =>
  (await person.client.from('deleted_days').select('date, excerpt').throwOnError()).data;

test('a save that brings back a version, and a save that undoes it, both keep the replaced text', async () => {
  const first = '<ol><li><p>one</p></li><li><p>two</p></li></ol>';
  const second = '<ol><li><p>one</p></li><li><p>two</p></li><li><p>three</p></li></ol>';
  let row = await save(await insertLog(first), second);
  expect(await readVersions()).toEqual([{ content: first, replaced_by: 'edit' }]);

  row = await save(row, first);
  expect(await readVersions()).toEqual([
    { content: second, replaced_by: 'restore' },
    { content: first, replaced_by: 'edit' },
  ]);
  await save(row, second);
  expect(await readVersions()).toEqual([
    { content: first, replaced_by: 'restore' },
    { content: second, replaced_by: 'restore' },
  ]);
});

test('a save on an outdated revision keeps no version', async () => {
  const row = await insertLog('<p>one</p>');
  await save(row, '<p>one two</p>');
  const late = await world.ana.client
    .from('entries')
    .update({ content: '' })
    .match({ id: row.id, revision: row.revision })
    .select('id');
  expect(late.data).toEqual([]);
  expect(await readVersions()).toHaveLength(1);
});

test('two saves on one revision keep the text once', async () => {
  const row = await insertLog('<p>one</p>');
  const sent = Array.from({ length: 10 }, (_, index) =>
    world.ana.client
      .from('entries')
      .update({ content: `<p>other ${index}</p>` })
      .match({ id: row.id, revision: row.revision })
      .select('id'),
  );
  const answers = await Promise.all(sent);
  expect(answers.flatMap(({ data }) => data ?? [])).toHaveLength(1);
  expect(await readVersions()).toEqual([{ content: '<p>one</p>', replaced_by: 'drop' }]);
});

test('a deleted log is listed with its beginning, is brought back by an insert, and is then listed no more', async () => {
  const { id } = await insertLog('<ol><li><p>one &amp; two</p></li></ol>', daysAgo(3));
  await world.ana.client.from('entries').delete().eq('id', id).throwOnError();
  expect(await readDeletedDays()).toEqual([{ date: daysAgo(3), excerpt: 'one & two' }]);

  const { data } = await world.ana.client.from('deleted_days').select('version_id').single();
  const version = await world.ana.client
    .from('entry_versions')
    .select('content')
    .eq('id', (data as { version_id: string }).version_id)
    .single();
  await insertLog((version.data as { content: string }).content, daysAgo(3));
  expect(await readDeletedDays()).toEqual([]);
  const entry = await world.ana.client.from('entries').select('content').eq('date', daysAgo(3)).single();
  expect(entry.data).toEqual({ content: withDateHeader(daysAgo(3), (version.data as { content: string }).content) });
});

test('a write to deleted_days is refused with 405', async () => {
  const { id: userId } = world.ana;
  const writes = [
    ['POST', '', { user_id: userId, date: today() }],
    ['PATCH', `?user_id=eq.${userId}`, { date: today() }],
    ['DELETE', `?user_id=eq.${userId}`, undefined],
  ] as const;
  for (const [method, query, body] of writes) {
    const { status } = await world.request(world.ana, method, `/rest/v1/deleted_days${query}`, { body });
    expect([method, status]).toEqual([method, 405]);
  }
});

test('an upsert that overwrites a day keeps the text', async () => {
  await insertLog('<p>one</p>');
  const row = { user_id: world.ana.id, date: today(), content: '<p>other words</p>' };
  await world.ana.client.from('entries').upsert(row).throwOnError();
  expect(await readVersions()).toEqual([{ content: '<p>one</p>', replaced_by: 'drop' }]);
});

test('an import that replaces a day keeps the text', async () => {
  const { cleo } = world;
  const { id, revision } = await insertLog('<p>one</p>', today(), cleo);
  const answer = await world.request(cleo, 'POST', '/functions/v1/import-entries', {
    body: { entries: [{ date: today(), content: '<p>imported</p>', replaces: { id, revision } }] },
  });
  expect(answer.json).toMatchObject({ success: true, outcomes: [{ outcome: 'written' }] });
  expect(await readVersions(cleo)).toEqual([{ content: '<p>one</p>', replaced_by: 'drop' }]);
});

test('an import keeps every text that it replaces, also of a log that is minutes old', async () => {
  const { cleo } = world;
  const own = ['<p>one</p><p>two</p><p>three</p>', '<p>one</p><p>two</p><p>four</p>'];
  const row = { user_id: cleo.id, date: today(), content: own[0]! };
  const inserted = await cleo.client.from('entries').insert(row).select('id, revision').single().throwOnError();
  const { id } = inserted.data;
  let { revision } = inserted.data;
  for (const content of [own[1]!, '<p>one</p><p>two</p>']) {
    const answer = await world.request(cleo, 'POST', '/functions/v1/import-entries', {
      body: { entries: [{ date: today(), content, replaces: { id, revision } }] },
    });
    expect(answer.json).toMatchObject({ success: true, outcomes: [{ outcome: 'written' }] });
    revision += 1;
  }
  expect(await readVersions(cleo)).toEqual(own.toReversed().map((content) => ({ content, replaced_by: 'edit' })));

  // A save after the import follows the ordinary rule again.
  await save({ id, revision }, '<p>one</p><p>two</p><p>five</p>', cleo);
  expect(await readVersions(cleo)).toHaveLength(2);
});

test('a moved log takes its versions along', async () => {
  const row = await save(await insertLog('<p>one</p>'), '<p>one two</p>');
  await world.ana.client
    .from('entries')
    .update({ date: daysAgo(2) })
    .eq('id', row.id)
    .throwOnError();
  expect(await readVersions()).toEqual([]);
  expect(await readVersions(world.ana, daysAgo(2))).toEqual([{ content: '<p>one</p>', replaced_by: 'edit' }]);
});

describe('another user', () => {
  test('reads no versions and no deleted days, and a guest is refused', async () => {
    const { id } = await save(await insertLog('<p>one</p>'), '<p>one two</p>');
    await world.ana.client.from('entries').delete().eq('id', id).throwOnError();
    for (const table of ['entry_versions', 'deleted_days']) {
      expect((await world.request(world.ana, 'GET', `/rest/v1/${table}`)).json).not.toEqual([]);
      expect((await world.request(world.cleo, 'GET', `/rest/v1/${table}`)).json).toEqual([]);
      const ofAna = `/rest/v1/${table}?user_id=eq.${world.ana.id}`;
      expect((await world.request(world.ben, 'GET', ofAna)).json).toEqual([]);
      expect((await world.request(null, 'GET', `/rest/v1/${table}`)).status).toBe(401);
    }
  });
});

test.each([
  ['POST', '/rest/v1/entry_versions', { content: '<p>x</p>' }],
  ['PATCH', '/rest/v1/entry_versions?replaced_by=eq.edit', { content: '<p>x</p>' }],
  ['DELETE', '/rest/v1/entry_versions?replaced_by=eq.edit', undefined],
])('%s %s is refused', async (method, path, body) => {
  await save(await insertLog('<p>one</p>'), '<p>one two</p>');
  const answer = await world.request(world.ana, method, path, { body });
  expect(answer).toMatchObject({ status: 403, json: { code: '42501' } });
  expect(await readVersions()).toEqual([{ content: '<p>one</p>', replaced_by: 'edit' }]);
});

test.each(['entry_versions?content=like.*one*', 'entry_versions?order=content', 'deleted_days?order=excerpt'])(
  'texts cannot be searched or ordered by: %s',
  async (query) => {
    const answer = await world.request(world.ana, 'GET', `/rest/v1/${query}`);
    expect(answer).toMatchObject({ status: 400, json: { code: 'PGRST100' } });
  },
);

test('a read gives 100 versions at most', async () => {
  await world.server.admin.query(
    `insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
       select $1, current_date - n / 20, gen_random_uuid(), 'x', now(), 'edit' from generate_series(1, 120) n`,
    [world.ana.id],
  );
  expect((await world.request(world.ana, 'GET', '/rest/v1/entry_versions')).json).toHaveLength(100);
});
