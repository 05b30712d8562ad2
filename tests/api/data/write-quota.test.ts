/** The bytes that a user may write in a minute and store in all. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENTRY_MAX_BYTES, STORED_MAX_BYTES } from '#domain/log/entry.ts';
import { MAX_WRITTEN_BYTES_PER_MINUTE } from '#server/data/write-quota.ts';
import { startTestServer } from '../../support/start-server.ts';
import type { TestServer } from '../../support/start-server.ts';
import { daysAgo, request, signUp, today } from './fixture.ts';
import type { Person } from './fixture.ts';

let server: TestServer;
let ana: Person;
let ben: Person;
beforeAll(async () => {
  server = await startTestServer({ settings: { AUTH_RATE_LIMITS: 'on' } });
  [ana, ben] = [await signUp(server, 'ana'), await signUp(server, 'ben')];
});
afterAll(() => server.close());

const day = `/rest/v1/entries?date=eq.${today()}`;
const write = (person: Person, content = '<p>words</p>') =>
  request(server, person, 'POST', '/rest/v1/entries?on_conflict=user_id,date', {
    body: { user_id: person.id, date: today(), content },
    headers: { prefer: 'resolution=merge-duplicates' },
  });
/** A write of a few bytes, which may rewrite a whole log. */
const touch = (person: Person) => request(server, person, 'PATCH', day, { body: { ai_feedback: null } });

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
  server.clock.advance(60_000);
  const content = `<p>${'x'.repeat(250_000)}</p>`;
  const rows = Array.from({ length: 29 }, (_, index) => ({ user_id: ana.id, date: daysAgo(index), content: 'x' }));
  const headers = { prefer: 'resolution=merge-duplicates' };
  await request(server, ana, 'POST', '/rest/v1/entries?on_conflict=user_id,date', { body: rows, headers });
  const all = () => request(server, ana, 'PATCH', `/rest/v1/entries?user_id=eq.${ana.id}`, { body: { content } });
  const statuses = [];
  for (let times = 0; times < 6; times += 1) statuses.push((await all()).status);
  expect(statuses.at(-1)).toBe(429);
  expect(statuses.filter((status) => status === 204).length).toBeLessThanOrEqual(5);
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
