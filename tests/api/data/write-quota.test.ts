/** The bytes that a user may write in a minute and store in all. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { ENTRY_MAX_BYTES, STORED_MAX_BYTES } from '#domain/log/entry.ts';
import { createWriteQuota, MAX_WRITTEN_BYTES_PER_MINUTE, ROW_BYTES } from '#server/data/write-quota.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { startTestServer } from '../../support/start-server.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { daysAgo, request, signUp, today, type Person } from './fixture.ts';

const MEBIBYTE = 1024 * 1024;
const server = setUpWorld(() => startTestServer({ settings: { AUTH_RATE_LIMITS: 'on' } }));
let ana: Person;
let ben: Person;
beforeAll(async () => {
  [ana, ben] = [await signUp(server, 'ana'), await signUp(server, 'ben')];
});

const day = `/rest/v1/entries?date=eq.${today()}`;
const write = (person: Person, content = '<p>words</p>') =>
  request(server, person, 'POST', '/rest/v1/entries?on_conflict=user_id,date', {
    body: { user_id: person.id, date: today(), content },
    headers: { prefer: 'resolution=merge-duplicates' },
  });
/** A write of a few bytes, which rewrites a whole log. */
const touch = (person: Person) => request(server, person, 'PATCH', day, { body: { date: today() } });

test('a user who writes more than the bytes of a minute waits, and nobody else does', async () => {
  expect((await write(ana)).status).toBe(201);
  const statuses: number[] = [];
  // The level falls while the test writes, so it may take some more than the bytes of a minute.
  const enough = (4 * MAX_WRITTEN_BYTES_PER_MINUTE) / ENTRY_MAX_BYTES;
  while (statuses.length < enough && statuses.at(-1) !== 429) statuses.push((await touch(ana)).status);
  expect(statuses[0]).toBe(204);
  expect(statuses.at(-1)).toBe(429);
  const refused = await write(ana);
  expect(refused).toMatchObject({ status: 429, json: { code: '53400' } });
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  const imported = { entries: [{ date: today(), content: '<p>x</p>', replaces: null }] };
  await server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [ana.id]);
  expect((await request(server, ana, 'POST', '/functions/v1/import-entries', { body: imported })).status).toBe(429);
  expect((await write(ben)).status).toBe(201);
  server.clock.advance(seconds * 1_000);
  expect((await write(ana)).status).toBe(200);
});

test('a PATCH counts for each row that it writes', async () => {
  const person = await signUp(server, 'dora');
  const content = `<p>${'x'.repeat(250_000)}</p>`;
  const rows = Array.from({ length: 29 }, (_, index) => ({ user_id: person.id, date: daysAgo(index), content: 'x' }));
  const headers = { prefer: 'resolution=merge-duplicates' };
  await request(server, person, 'POST', '/rest/v1/entries?on_conflict=user_id,date', { body: rows, headers });
  const all = () => request(server, person, 'PATCH', `/rest/v1/entries?user_id=eq.${person.id}`, { body: { content } });
  const statuses = [];
  for (let times = 0; times < 6; times += 1) statuses.push((await all()).status);
  expect(statuses[0]).toBe(204);
  expect(statuses.at(-1)).toBe(429);
  expect(statuses.filter((status) => status === 204).length).toBeLessThanOrEqual(5);
});

test('a PATCH of more bytes than a user may write in a minute changes no row', async () => {
  const person = await signUp(server, 'emil');
  await server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [person.id]);
  const count = Math.ceil(MAX_WRITTEN_BYTES_PER_MINUTE / 250_000);
  const rows = Array.from({ length: count }, (_, index) => ({
    user_id: person.id,
    date: daysAgo(index),
    content: 'x',
  }));
  await request(server, person, 'POST', '/rest/v1/entries', { body: rows });
  const body = { content: `<p>${'x'.repeat(250_000)}</p>` };
  const refused = await request(server, person, 'PATCH', `/rest/v1/entries?user_id=eq.${person.id}`, { body });
  expect(refused).toMatchObject({ status: 413, json: { code: '54000', message: expect.stringContaining('32 MB') } });
  const { data } = await person.client.from('entries').select('date').eq('revision', 1);
  expect(data).toHaveLength(count);
});

test.each([
  ['a move', '', { date: daysAgo(1) }],
  ['a move that names its columns', '&columns=date', { date: daysAgo(1), content: '' }],
  ['a move whose key is escaped', '', `{"d\\u0061te":"${daysAgo(1)}"}`],
])('%s counts the log that it rewrites', async (what, columns, body) => {
  const person = await signUp(server, `mover-${what.length}`);
  await write(person);
  const path = `/rest/v1/entries?user_id=eq.${person.id}&date=eq.${today()}${columns}`;
  let answer: Awaited<ReturnType<typeof request>>;
  let count = 0;
  // The log is gone from this day after the first move; the request is counted before.
  do answer = await request(server, person, 'PATCH', path, { body });
  while (answer.status === 204 && (count += 1) < (2 * MAX_WRITTEN_BYTES_PER_MINUTE) / ENTRY_MAX_BYTES);
  expect(answer.status).toBe(429);
});

test('an import counts the logs that it replaces, and its undo those that it restores', async () => {
  const person = await signUp(server, 'gina');
  const dates = Array.from({ length: 20 }, (_, index) => daysAgo(index));
  const logs = dates.map((date) => ({ user_id: person.id, date, content: `<p>${'x'.repeat(250_000)}</p>` }));
  for (let from = 0; from < logs.length; from += 4) {
    const body = logs.slice(from, from + 4);
    expect((await request(server, person, 'POST', '/rest/v1/entries', { body })).status).toBe(201);
  }
  const call = (name: string, body: object) =>
    request(server, person, 'POST', `/functions/v1/${name}`, { body: { importId: randomUUID(), ...body } });
  let answer: Awaited<ReturnType<typeof call>>;
  let written = 0;
  do {
    const { data } = await person.client.from('entries').select('date, id, revision').throwOnError();
    const entries = data.map(({ date, ...replaces }) => ({ date, content: '<p>a</p>', replaces }));
    const importId = randomUUID();
    answer = await call('import-entries', { importId, entries });
    if (answer.status === 200) answer = await call('undo-import', { importId });
    written += 20 * 250_000;
  } while (answer.status === 200 && written < 4 * MAX_WRITTEN_BYTES_PER_MINUTE);
  expect(answer.status).toBe(429);
  expect(written).toBeLessThanOrEqual(MAX_WRITTEN_BYTES_PER_MINUTE);
});

test('several processes count the bytes of a user together', async () => {
  const processes = Array.from({ length: 4 }, () => createWriteQuota({ ...server, limiters: createLimiters() }));
  const spent = await Promise.allSettled(
    Array.from({ length: (2 * MAX_WRITTEN_BYTES_PER_MINUTE) / MEBIBYTE }, (_, index) =>
      processes[index % processes.length]!.spend(ben.id, MEBIBYTE),
    ),
  );
  expect(spent.filter(({ status }) => status === 'fulfilled').length * MEBIBYTE).toBeLessThanOrEqual(
    MAX_WRITTEN_BYTES_PER_MINUTE + processes.length * MEBIBYTE,
  );
  expect(() => processes[0]!.check(ben.id)).toThrow('in a minute');
  expect(() => processes[0]!.check(ana.id)).not.toThrow();
});

test.each([
  [
    'the keys of appended items, also of days that are gone',
    `insert into public.appended_items (user_id, key, items_hash, date, revision)
     select $1, key, repeat('x', 43), current_date, 1 from generate_series(1, 5000) as key`,
  ],
  [
    'the feedback that an import has replaced',
    `insert into public.import_days (user_id, import_id, date, entry_id, revision, change, earlier_coach)
     select $1, gen_random_uuid(), current_date, gen_random_uuid(), 1, 'feedback', to_jsonb(string_agg(md5(part::text), ''))
       from generate_series(1, 40) as day, generate_series(1, 2000) as part group by day`,
  ],
])('the stored bytes include %s', async (what, fill) => {
  const person = await signUp(server, `filler-${what.length}`);
  const quota = createWriteQuota({ ...server, limiters: createLimiters(), maxStoredBytes: 2 * MEBIBYTE });
  await quota.spend(person.id, 4 * MEBIBYTE);
  await server.admin.query(fill, [person.id]);
  await expect(quota.spend(person.id, 4 * MEBIBYTE)).rejects.toMatchObject({ code: '53100' });
});

test('a write counts a row beside its bytes', async () => {
  const person = await signUp(server, 'hana');
  const quota = createWriteQuota({ ...server, limiters: createLimiters() });
  const enough = (2 * MAX_WRITTEN_BYTES_PER_MINUTE) / ROW_BYTES;
  const spendMany = async () => {
    for (let times = 0; times < enough; times += 1) await quota.spend(person.id, 1);
  };
  await expect(spendMany()).rejects.toMatchObject({ code: '53400' });
});

test('a user whose logs fill the space can delete, and then write again', async () => {
  const person = await signUp(server, 'cleo');
  await write(person);
  // Versions count too. Without triggers, which would take minutes.
  await server.admin.query(
    `insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
     select $1, current_date, gen_random_uuid(), repeat('x', 250000), now(), 'edit'
       from generate_series(1, $2)`,
    [person.id, Math.ceil(STORED_MAX_BYTES / 250_000)],
  );
  const filling = async () => {
    const { status } = await touch(person);
    server.clock.advance(2_000);
    return status;
  };
  const statuses = [];
  for (let times = 0; times < 20; times += 1) statuses.push(await filling());
  expect(statuses.at(-1)).toBe(413);
  expect(await write(person)).toMatchObject({ status: 413, json: { code: '53100' } });
  expect((await request(server, person, 'DELETE', day)).status).toBe(204);
  await server.admin.query('delete from public.entry_versions where user_id = $1', [person.id]);
  server.clock.advance(10_000);
  expect((await write(person)).status).toBe(201);
});
