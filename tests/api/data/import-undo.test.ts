/** An import on every plan, with days that the plan does not open, and the undo of a whole import. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dayLabel } from '#domain/day/day.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { daysAgo, startDataWorld, type Person } from './fixture.ts';

const world = setUpWorld(startDataWorld);
beforeEach(async () => {
  for (const table of ['entries', 'entry_versions', 'import_days'])
    await world.server.admin.query(`delete from public.${table}`);
  await world.server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [
    world.cleo.id,
  ]);
});
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));

const OPEN = daysAgo(1);
const LOCKED = daysAgo(400);

async function call<T>(person: Person, name: string, body: object): Promise<T> {
  const response = await world.request(person, 'POST', `/functions/v1/${name}`, { body });
  expect(response.status, response.text).toBe(200);
  return response.json as T;
}
const importDays = async (person: Person, importId: string, ...entries: object[]): Promise<unknown> =>
  (await call<{ outcomes: unknown }>(person, 'import-entries', { importId, entries })).outcomes;
const undo = (person: Person, importId: string) => call<unknown>(person, 'undo-import', { importId });
const listed = async (person: Person) =>
  (await call<{ imports: { id: string; days: number; program: string | null }[] }>(person, 'list-imports', {})).imports;

/** All rows of a user as the owner of the tables sees them. */
const stored = async ({ id }: Person): Promise<unknown[]> =>
  (
    await world.server.admin.query(
      'select date::text, content_text as text from public.entries where user_id = $1 order by date',
      [id],
    )
  ).rows;
const versions = async ({ id }: Person): Promise<unknown[]> =>
  (
    await world.server.admin.query(
      'select content, replaced_by from public.entry_versions where user_id = $1 order by kept_at',
      [id],
    )
  ).rows;
const insert = (person: Person, date: string, content: string) =>
  person.client.from('entries').insert({ user_id: person.id, date, content }).throwOnError();
async function versionOf({ id }: Person, date: string): Promise<{ id: string; revision: number }> {
  const { rows } = await world.server.admin.query(
    'select id, revision from public.entries where user_id = $1 and date = $2',
    [id, date],
  );
  return rows[0];
}

test('writes the locked days of a free user, who can read none of them', async () => {
  const { ana, ben } = world;
  await insert(ben, OPEN, '<p>of another user</p>');
  const importId = randomUUID();
  expect(
    await importDays(
      ana,
      importId,
      { date: OPEN, content: '<p>open</p>' },
      { date: LOCKED, content: '<p>locked <b>away</b></p>', feedback: 'Good' },
    ),
  ).toEqual([
    { date: OPEN, outcome: 'written' },
    { date: LOCKED, outcome: 'written' },
  ]);
  expect(await stored(ana)).toEqual([
    { date: LOCKED, text: 'locked away' },
    { date: OPEN, text: 'open' },
  ]);
  const { data } = await ana.client.from('entries').select('*');
  expect(data).toHaveLength(1);
  expect(data).toMatchObject([{ date: OPEN, content: `<h2 class="date-header">${dayLabel(OPEN)}</h2><p>open</p>` }]);
  const found = await world.request(ana, 'POST', '/functions/v1/find-entries', { body: { query: 'locked' } });
  expect(found.text).not.toContain('away');
  expect(await stored(ben)).toEqual([{ date: OPEN, text: 'of another user' }]);
});

test('lists an import with the program that it came from', async () => {
  const { ana, ben } = world;
  const entry = (date: string) => [{ date, content: '<p>a</p>' }];
  const [named, long, unnamed] = [randomUUID(), randomUUID(), randomUUID()];
  await call(ana, 'import-entries', { importId: named, program: 'Day One', entries: entry(daysAgo(1)) });
  await call(ana, 'import-entries', { importId: named, program: 'Day One', entries: entry(daysAgo(2)) });
  await call(ana, 'import-entries', {
    importId: long,
    program: `\u0000${'x'.repeat(99)}😀`,
    entries: entry(daysAgo(3)),
  });
  await call(ana, 'import-entries', { importId: unnamed, entries: entry(daysAgo(4)) });
  expect((await listed(ana)).map(({ id, days, program }) => ({ id, days, program }))).toEqual([
    { id: unnamed, days: 1, program: null },
    { id: long, days: 1, program: `${'x'.repeat(99)}\ufffd` },
    { id: named, days: 2, program: 'Day One' },
  ]);
  expect(await listed(ben)).toEqual([]);
  const body = { importId: named, program: 7, entries: entry(daysAgo(5)) };
  expect((await world.request(ana, 'POST', '/functions/v1/import-entries', { body })).status).toBe(400);
});

test('overwrites no locked log of a free user, with or without its version', async () => {
  const { ana } = world;
  await world.server.admin.query('insert into public.entries (user_id, date, content) values ($1, $2, $3)', [
    ana.id,
    LOCKED,
    '<p>mine</p>',
  ]);
  const entry = { date: LOCKED, content: '<p>file</p>', feedback: 'Good' };
  expect(await importDays(ana, randomUUID(), entry)).toEqual([{ date: LOCKED, outcome: 'changed' }]);
  const replaces = await versionOf(ana, LOCKED);
  expect(await importDays(ana, randomUUID(), { ...entry, replaces })).toEqual([
    { date: LOCKED, outcome: 'refused', reason: 'locked' },
  ]);
  expect(await stored(ana)).toEqual([{ date: LOCKED, text: 'mine' }]);
  expect(await versionOf(ana, LOCKED)).toEqual(replaces);
});

test('undoes an import: removes added days, restores replaced ones, and keeps days that changed since', async () => {
  const { cleo } = world;
  const [added, replaced, same, edited, moved] = [
    daysAgo(500),
    daysAgo(3),
    daysAgo(4),
    daysAgo(5),
    daysAgo(6),
  ] as const;
  await insert(cleo, replaced, '<p>mine</p>');
  await insert(cleo, same, '<p>same</p>');
  const importId = randomUUID();
  await importDays(
    cleo,
    importId,
    { date: added, content: '<p>new</p>' },
    { date: edited, content: '<p>new</p>' },
    { date: moved, content: '<p>moved</p>' },
    { date: replaced, content: '<p>theirs</p>', replaces: await versionOf(cleo, replaced) },
    { date: same, content: '<p>same</p>', feedback: 'Good', hustleScore: 7, replaces: await versionOf(cleo, same) },
  );
  await cleo.client.from('entries').update({ content: '<p>new and mine</p>' }).eq('date', edited).throwOnError();
  await cleo.client
    .from('entries')
    .update({ date: daysAgo(7) })
    .eq('date', moved)
    .throwOnError();
  expect(await listed(cleo)).toMatchObject([{ id: importId, days: 5 }]);

  expect(await undo(cleo, importId)).toEqual({ success: true, undone: 3, kept: [daysAgo(7), edited], remaining: 0 });
  expect(await stored(cleo)).toEqual([
    { date: daysAgo(7), text: 'moved' },
    { date: edited, text: 'new and mine' },
    { date: same, text: 'same' },
    { date: replaced, text: 'mine' },
  ]);
  const { data } = await cleo.client.from('entries').select('ai_feedback, hustle_score').eq('date', same).single();
  expect(data).toEqual({ ai_feedback: null, hustle_score: null });
  expect(await listed(cleo)).toEqual([]);
  // Removed days leave no version behind: a second import and its undo take no space.
  expect(await versions(cleo)).not.toContainEqual(expect.objectContaining({ replaced_by: 'deletion' }));
});

test('keeps the only copy of a deleted log whose text was imported, and of one that was emptied', async () => {
  const { cleo } = world;
  const [deleted, emptied] = [daysAgo(2), daysAgo(3)] as const;
  for (const date of [deleted, emptied]) await insert(cleo, date, '<p>my words</p>');
  await cleo.client.from('entries').delete().eq('date', deleted).throwOnError();
  await cleo.client.from('entries').update({ content: '' }).eq('date', emptied).throwOnError();
  const importId = randomUUID();
  await importDays(
    cleo,
    importId,
    { date: deleted, content: '<p>my words</p>' },
    { date: emptied, content: '<p>my words</p>', replaces: await versionOf(cleo, emptied) },
  );
  expect(await undo(cleo, importId)).toEqual({ success: true, undone: 2, kept: [], remaining: 0 });
  expect(await stored(cleo)).toEqual([{ date: emptied, text: '' }]);
  expect(await versions(cleo)).toEqual([
    { content: '<p>my words</p>', replaced_by: 'deletion' },
    { content: '<p>my words</p>', replaced_by: 'deletion' },
  ]);
});

test('empties a log again that was empty before the import, whatever was deleted from it', async () => {
  const { cleo } = world;
  const [emptied, never] = [daysAgo(2), daysAgo(3)] as const;
  await insert(cleo, emptied, '<p>deleted on purpose</p>');
  await cleo.client.from('entries').update({ content: '' }).eq('date', emptied).throwOnError();
  await insert(cleo, never, '');
  const importId = randomUUID();
  await importDays(
    cleo,
    importId,
    { date: emptied, content: '<p>file</p>', replaces: await versionOf(cleo, emptied) },
    { date: never, content: '<p>file</p>', replaces: await versionOf(cleo, never) },
  );
  expect(await undo(cleo, importId)).toEqual({ success: true, undone: 2, kept: [], remaining: 0 });
  expect(await stored(cleo)).toEqual([
    { date: never, text: '' },
    { date: emptied, text: '' },
  ]);
  expect(await versions(cleo)).toEqual([{ content: '<p>deleted on purpose</p>', replaced_by: 'deletion' }]);
});

test('gives a replaced log its own feedback again', async () => {
  const { cleo } = world;
  const date = daysAgo(2);
  await insert(cleo, date, '<p>mine</p>');
  await world.server.admin.query(
    `update public.entries set ai_feedback = 'Own', hustle_score = 8, ai_analyzed_at = updated_at - interval '1 hour'
      where user_id = $1`,
    [cleo.id],
  );
  const importId = randomUUID();
  const replaces = await versionOf(cleo, date);
  const file = { date, content: '<p>file</p>', feedback: 'Foreign', hustleScore: 1, replaces };
  await importDays(cleo, importId, file);
  const read = async () =>
    (await cleo.client.from('entries').select('content_text, ai_feedback, hustle_score').single()).data;
  expect(await read()).toEqual({ content_text: 'file', ai_feedback: 'Foreign', hustle_score: 1 });
  await undo(cleo, importId);
  expect(await read()).toEqual({ content_text: 'mine', ai_feedback: 'Own', hustle_score: 8 });
});

test('undoes an import of a free user on locked days, and of another user nothing', async () => {
  const { ana, ben } = world;
  const importId = randomUUID();
  await importDays(ana, importId, { date: LOCKED, content: '<p>x</p>' }, { date: OPEN, content: '<p>x</p>' });
  expect(await undo(ben, importId)).toEqual({ success: true, undone: 0, kept: [], remaining: 0 });
  expect(await listed(ben)).toEqual([]);
  expect(await stored(ana)).toHaveLength(2);
  expect(await undo(ana, importId)).toEqual({ success: true, undone: 2, kept: [], remaining: 0 });
  expect(await stored(ana)).toEqual([]);
});

test('undoes a large import in steps, also while a part of it was repeated after a lost answer', async () => {
  const { ana } = world;
  const importId = randomUUID();
  const days = Array.from({ length: 120 }, (_, index) => ({ date: daysAgo(index), content: `<p>${index}</p>` }));
  for (const from of [0, 50, 50, 100]) await importDays(ana, importId, ...days.slice(from, from + 50));
  const steps: unknown[] = [];
  for (let remaining = 1; remaining > 0;) {
    const step = (await undo(ana, importId)) as { undone: number; remaining: number };
    steps.push(step.undone);
    remaining = step.remaining;
  }
  expect(steps).toEqual([50, 50, 20]);
  expect(await stored(ana)).toEqual([]);
});

test('remembers the five newest imports of a user', async () => {
  const { ana } = world;
  const ids = Array.from({ length: 7 }, () => randomUUID());
  for (const [index, id] of ids.entries()) await importDays(ana, id, { date: daysAgo(index), content: '<p>x</p>' });
  expect((await listed(ana)).map(({ id }) => id)).toEqual(ids.slice(2).toReversed());
});

test.each([undefined, 'x', 7, null])('rejects the import id %j of an undo', async (importId) => {
  expect(await world.request(world.ana, 'POST', '/functions/v1/undo-import', { body: { importId } })).toMatchObject({
    status: 400,
    json: { success: false },
  });
});

test('rejects an import id that is no UUID, and a guest', async () => {
  const entries = [{ date: OPEN, content: '<p>x</p>' }];
  for (const importId of ['x', 7]) {
    const response = await world.request(world.ana, 'POST', '/functions/v1/import-entries', {
      body: { importId, entries },
    });
    expect(response.status).toBe(400);
  }
  for (const name of ['import-entries', 'undo-import', 'list-imports'])
    expect((await world.request(null, 'POST', `/functions/v1/${name}`, { body: {} })).status).toBe(401);
  expect(await stored(world.ana)).toEqual([]);
});
