import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { FIND_MAX_RESULTS } from '#domain/find/search.ts';
import type { FindAnswer, TextPart } from '#domain/find/search.ts';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import { daysAgo, startDataWorld, today } from './world.ts';
import type { DataWorld, Person } from './world.ts';

let world: DataWorld;

beforeAll(async () => {
  world = await startDataWorld();
});
beforeEach(() => world.server.admin.query('delete from public.entries'));
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));
afterAll(() => world.close());

const PATH = '/functions/v1/find-entries';

/** Past the wire and the plan: what is stored is not what these tests are about. */
async function write(person: Person, date: string, html: string): Promise<void> {
  await world.server.admin.query(
    `insert into public.entries (user_id, date, content) values ($1, $2, $3)
     on conflict (user_id, date) do update set content = excluded.content`,
    [person.id, date, html],
  );
}

type Found = Extract<FindAnswer, { success: true }>;

async function find(person: Person, query: unknown): Promise<Found> {
  const answer = await world.ask(person, 'POST', PATH, { body: { query } });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return answer.json as Found;
}

const daysFound = async (person: Person, query: string): Promise<string[]> =>
  (await find(person, query)).results.map(({ date }) => date);
const inWords = (parts: readonly TextPart[]): string =>
  parts.map(({ text, marked }) => (marked ? `[${text}]` : text)).join('');

test('days are found newest first, each with its words marked', async () => {
  await write(world.ana, daysAgo(3), '<p>Moved the <strong>needle</strong> &amp; more</p>');
  await write(world.ana, daysAgo(1), '<ol><li><p>The Needles</p></li></ol>');
  await write(world.ana, daysAgo(2), '<p>Nothing of the kind</p>');
  const { results, more, complete } = await find(world.ana, 'need');
  expect(results.map(({ date, snippet }) => [date, inWords(snippet)])).toEqual([
    [daysAgo(1), 'The [Needles]'],
    [daysAgo(3), 'Moved the [needle] & more'],
  ]);
  expect({ more, complete }).toEqual({ more: false, complete: true });
});

test.each([
  ['strasse', '<p>Die Straße</p>'],
  ['CAFE', '<p>Au café</p>'],
  ['istanbul', '<p>İstanbul</p>'],
  ['日本', '<p>私は日本語を話す</p>'],
  ['ภาษา', '<p>ฉันเรียนภาษาไทย</p>'],
  ['b a', '<p>a &lt;b&gt;</p>'],
])('%s is found in %s', async (query, html) => {
  await write(world.ana, today(), html);
  expect(await daysFound(world.ana, query)).toEqual([today()]);
});

test('the date header and tags are not found', async () => {
  await write(world.ana, today(), '<h2 class="date-header">Saturday - November 21, 2026</h2><p>x</p>');
  for (const query of ['saturday', 'header', 'p', 'h2']) expect(await daysFound(world.ana, query)).toEqual([]);
});

test('what was changed or deleted since the last search is found as it is now', async () => {
  await write(world.ana, daysAgo(1), '<p>first words</p>');
  await write(world.ana, daysAgo(2), '<p>first words</p>');
  expect(await daysFound(world.ana, 'first')).toHaveLength(2);
  await write(world.ana, daysAgo(1), '<p>second thoughts</p>');
  await world.ana.client.from('entries').delete().eq('date', daysAgo(2));
  expect(await daysFound(world.ana, 'first')).toEqual([]);
  expect(await daysFound(world.ana, 'second')).toEqual([daysAgo(1)]);
  const { rows } = await world.server.admin.query('select words from public.entry_words');
  expect(rows).toEqual([{ words: ' second thoughts ' }]);
});

test('a day that is deleted and begun anew is read anew, although its revision is the old one', async () => {
  await write(world.ana, today(), '<p>old</p>');
  expect(await daysFound(world.ana, 'old')).toEqual([today()]);
  await world.server.admin.query('delete from public.entries');
  await write(world.ana, today(), '<p>new</p>');
  expect(await daysFound(world.ana, 'old')).toEqual([]);
  expect(await daysFound(world.ana, 'new')).toEqual([today()]);
});

test('a log whose words are there gets another date, and is found there as it is then', async () => {
  const [before, after] = [daysAgo(3), daysAgo(4)];
  await write(world.ana, before, '<p>needle</p>');
  expect(await daysFound(world.ana, 'needle')).toEqual([before]);
  const rename = `update public.entries set date = $3, content = $4 where user_id = $1 and date = $2`;
  await world.server.admin.query(rename, [world.ana.id, before, after, '<p>thread</p>']);
  const { rows } = await world.server.admin.query(
    `select e.revision - w.revision as behind from public.entries e join public.entry_words w using (user_id, date)`,
  );
  expect(rows).toEqual([{ behind: 1 }]);
  expect(await daysFound(world.ana, 'needle')).toEqual([]);
  expect(await daysFound(world.ana, 'thread')).toEqual([after]);
});

test('nobody finds another user in their own journal', async () => {
  await write(world.ben, today(), '<p>needle of Ben</p>');
  await daysFound(world.ben, 'needle');
  expect(await daysFound(world.ana, 'needle')).toEqual([]);
  expect(await daysFound(world.cleo, 'needle')).toEqual([]);
});

test('a Dabbler finds open days alone, and cannot tell what is in the others; a Closer finds all', async () => {
  for (const person of [world.ana, world.cleo]) {
    await write(person, daysAgo(2), '<p>needle</p>');
    await write(person, daysAgo(400), '<p>needle</p>');
  }
  expect(await daysFound(world.cleo, 'needle')).toEqual([daysAgo(2), daysAgo(400)]);
  const withLocked = await find(world.ana, 'needle');
  expect(withLocked.results.map(({ date }) => date)).toEqual([daysAgo(2)]);
  await world.server.admin.query('delete from public.entries where user_id = $1 and date = $2', [
    world.ana.id,
    daysAgo(400),
  ]);
  expect(await find(world.ana, 'needle')).toEqual(withLocked);
});

test('only days open to the plan are made ready, so that no answer tells how many others there are', async () => {
  const ready = async (): Promise<unknown> => {
    const words = await world.server.admin.query(
      'select date::text from public.entry_words where user_id = $1 order by date desc',
      [world.ana.id],
    );
    return words.rows.map(({ date }: { date: string }) => date);
  };
  await write(world.ana, daysAgo(2), '<p>needle</p>');
  await write(world.ana, daysAgo(400), '<p>needle</p>');
  expect(await find(world.ana, 'needle')).toMatchObject({ results: [{ date: daysAgo(2) }], complete: true });
  expect(await ready()).toEqual([daysAgo(2)]);
  const setPlan = (plan: string) =>
    world.server.admin.query('update public.profiles set subscription_plan = $2 where id = $1', [world.ana.id, plan]);
  await setPlan('premium');
  try {
    expect(await daysFound(world.ana, 'needle')).toEqual([daysAgo(2), daysAgo(400)]);
    expect(await ready()).toEqual([daysAgo(2), daysAgo(400)]);
  } finally {
    await setPlan('free');
  }
});

test('a plan that has ended finds what a Dabbler finds, also in words made ready before', async () => {
  await write(world.cleo, daysAgo(400), '<p>needle</p>');
  expect(await daysFound(world.cleo, 'needle')).toHaveLength(1);
  const setPlan = (plan: string) =>
    world.server.admin.query('update public.profiles set subscription_plan = $2 where id = $1', [world.cleo.id, plan]);
  await setPlan('free');
  expect(await daysFound(world.cleo, 'needle')).toEqual([]);
  await setPlan('premium');
});

test('of very many days the newest are answered', async () => {
  await world.server.admin.query(
    `insert into public.entries (user_id, date, content)
     select $1, $2::date - days, '<p>needle</p>' from generate_series(0, $3::int) days`,
    [world.cleo.id, today(), FIND_MAX_RESULTS],
  );
  const { results, more } = await find(world.cleo, 'needle');
  expect(results).toHaveLength(FIND_MAX_RESULTS);
  expect(results[0]!.date).toBe(today());
  expect(more).toBe(true);
});

test('the longest log that there can be is found to its end', async () => {
  await write(world.ana, today(), `<p>${'hay '.repeat(60_000)}needle</p>`);
  const { results } = await find(world.ana, 'needle');
  expect(results.map(({ snippet }) => inWords(snippet))).toEqual([expect.stringMatching(/^… hay .* \[needle\]$/)]);
});

test.each(['', ' ', '&|!:*()<->', '\0', '\ud800', '%', '\\'])('%j finds nothing and is no error', async (query) => {
  await write(world.ana, today(), '<p>100 % of it \\ &amp; more</p>');
  expect(await find(world.ana, query)).toEqual({ success: true, results: [], more: false, complete: true });
});

test.each([{}, { query: 1 }, { query: null }, { query: 'x'.repeat(10_000) }, [], 'x', '{', ''])(
  '%j is refused',
  async (body) => {
    const answer = await world.ask(world.ana, 'POST', PATH, { body });
    expect(answer).toMatchObject({ status: 400, json: { success: false, error: expect.any(String) } });
  },
);

test('a guest is asked to sign in', async () => {
  expect((await world.ask(null, 'POST', PATH, { body: { query: 'x' } })).status).toBe(401);
});

test('whatever is typed is answered', async () => {
  await write(world.ana, today(), '<p>Straße 日本語 it’s 100 % done</p>');
  const piece = fc.oneof(
    fc.constantFrom('\0', "'", '"', '\\', '%', '$1', ':*', '&', 'straße', '日', "it's", '\u0300', ' '),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      const { success } = await find(world.ana, pieces.join('').slice(0, 200));
      expect(success).toBe(true);
    }),
    { numRuns: fuzzBudget(100) },
  );
});

test('two searches of one user at once make the same words, while days are written and deleted', async () => {
  const dates = Array.from({ length: 20 }, (_, back) => daysAgo(back));
  await Promise.all(dates.map((date) => write(world.ana, date, '<p>needle</p>')));
  await Promise.all([
    ...Array.from({ length: 5 }, () => find(world.ana, 'needle')),
    ...dates.slice(0, 10).map((date) => write(world.ana, date, '<p>thread</p>')),
    world.server.admin.query('delete from public.entries where user_id = $1 and date <= $2', [
      world.ana.id,
      daysAgo(15),
    ]),
  ]);
  expect(await daysFound(world.ana, 'needle')).toEqual(dates.slice(10, 15));
  expect(await daysFound(world.ana, 'thread')).toEqual(dates.slice(0, 10));
});

test('no client reaches the words through the data wire', async () => {
  expect((await world.ask(world.ana, 'GET', '/rest/v1/entry_words')).status).toBe(404);
});
