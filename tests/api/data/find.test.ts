import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { entryText } from '#domain/log/entry-text.ts';
import { completeTag, countTags, listTags, MAX_TAGS_SHOWN, typedTag } from '#domain/log/tags.ts';
import {
  FIND_MAX_RESULTS,
  matchesSearch,
  parseSearchTerms,
  type FindAnswer,
  type TextPart,
} from '#domain/match-search.ts';
import { unicodeText } from '../../support/unicode-text.ts';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { daysAgo, startDataWorld, today, type Person } from './fixture.ts';

const world = setUpWorld(startDataWorld);

beforeEach(() => world.server.admin.query('delete from public.entries'));
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));

const PATH = '/functions/v1/find-entries';

/** Writes to the database directly: these tests do not cover the API for saving and the plan's rules. */
async function write(person: Person, date: string, html: string): Promise<void> {
  await world.server.admin.query(
    `insert into public.entries (user_id, date, content) values ($1, $2, $3)
     on conflict (user_id, date) do update set content = excluded.content`,
    [person.id, date, html],
  );
}

type Found = Extract<FindAnswer, { success: true }>;

async function find(person: Person, query: unknown): Promise<Found> {
  const response = await world.request(person, 'POST', PATH, { body: { query } });
  expect(response.status, response.text).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return response.json as Found;
}

const daysFound = async (person: Person, query: string): Promise<string[]> =>
  (await find(person, query)).results.map(({ date }) => date);
const markMatches = (parts: readonly TextPart[]): string =>
  parts.map(({ text, marked }) => (marked ? `[${text}]` : text)).join('');

test('returns days newest first, each with its matches marked', async () => {
  await write(world.ana, daysAgo(3), '<p>Moved the <strong>needle</strong> &amp; more</p>');
  await write(world.ana, daysAgo(1), '<ol><li><p>The Needles</p></li></ol>');
  await write(world.ana, daysAgo(2), '<p>Nothing of the kind</p>');
  const { results, more, complete } = await find(world.ana, 'need');
  expect(results.map(({ date, snippet }) => [date, markMatches(snippet)])).toEqual([
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
])('finds %s in %s', async (query, html) => {
  await write(world.ana, today(), html);
  expect(await daysFound(world.ana, query)).toEqual([today()]);
});

test('does not match the date header and tags', async () => {
  await write(world.ana, today(), '<h2 class="date-header">Saturday - November 21, 2026</h2><p>x</p>');
  for (const query of ['saturday', 'header', 'p', 'h2']) expect(await daysFound(world.ana, query)).toEqual([]);
});

test('finds changed days by their current text, and no deleted days', async () => {
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

test('indexes a recreated day again, although its revision is the same', async () => {
  await write(world.ana, today(), '<p>old</p>');
  expect(await daysFound(world.ana, 'old')).toEqual([today()]);
  await world.server.admin.query('delete from public.entries');
  await write(world.ana, today(), '<p>new</p>');
  expect(await daysFound(world.ana, 'old')).toEqual([]);
  expect(await daysFound(world.ana, 'new')).toEqual([today()]);
});

test('indexes a moved log again at its new day', async () => {
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

test('does not find logs of another user', async () => {
  await write(world.ben, today(), '<p>needle of Ben</p>');
  await daysFound(world.ben, 'needle');
  expect(await daysFound(world.ana, 'needle')).toEqual([]);
  expect(await daysFound(world.cleo, 'needle')).toEqual([]);
});

test('finds only open days for a free user, without revealing locked ones, and all days for a premium user', async () => {
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

test('indexes only days that the plan opens, so no response reveals the number of locked days', async () => {
  const indexedDays = async (): Promise<unknown> => {
    const words = await world.server.admin.query(
      'select date::text from public.entry_words where user_id = $1 order by date desc',
      [world.ana.id],
    );
    return words.rows.map(({ date }: { date: string }) => date);
  };
  await write(world.ana, daysAgo(2), '<p>needle</p>');
  await write(world.ana, daysAgo(400), '<p>needle</p>');
  expect(await find(world.ana, 'needle')).toMatchObject({ results: [{ date: daysAgo(2) }], complete: true });
  expect(await indexedDays()).toEqual([daysAgo(2)]);
  const setPlan = (plan: string) =>
    world.server.admin.query('update public.profiles set subscription_plan = $2 where id = $1', [world.ana.id, plan]);
  await setPlan('premium');
  try {
    expect(await daysFound(world.ana, 'needle')).toEqual([daysAgo(2), daysAgo(400)]);
    expect(await indexedDays()).toEqual([daysAgo(2), daysAgo(400)]);
  } finally {
    await setPlan('free');
  }
});

test('finds only open days after a plan has ended, also in words indexed before', async () => {
  await write(world.cleo, daysAgo(400), '<p>needle</p>');
  expect(await daysFound(world.cleo, 'needle')).toHaveLength(1);
  const setPlan = (plan: string) =>
    world.server.admin.query('update public.profiles set subscription_plan = $2 where id = $1', [world.cleo.id, plan]);
  await setPlan('free');
  expect(await daysFound(world.cleo, 'needle')).toEqual([]);
  await setPlan('premium');
});

test('limits the results to the newest days', async () => {
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

test('finds a match at the end of the longest log', async () => {
  await write(world.ana, today(), `<p>${'hay '.repeat(60_000)}needle</p>`);
  const { results } = await find(world.ana, 'needle');
  expect(results.map(({ snippet }) => markMatches(snippet))).toEqual([expect.stringMatching(/^… hay .* \[needle\]$/)]);
});

test.each(['', ' ', '&|!:*()<->', '\0', '\ud800', '%', '\\'])(
  'returns no results and no error for %j',
  async (query) => {
    await write(world.ana, today(), '<p>100 % of it \\ &amp; more</p>');
    const { tags, ...answer } = await find(world.ana, query);
    expect(answer).toEqual({ success: true, results: [], more: false, complete: true });
    // An empty query lists the tags.
    expect(tags).toEqual(query.trim() === '' ? [] : undefined);
  },
);

test.each([{}, { query: 1 }, { query: null }, { query: 'x'.repeat(10_000) }, [], 'x', '{', ''])(
  'rejects the body %j',
  async (body) => {
    const response = await world.request(world.ana, 'POST', PATH, { body });
    expect(response).toMatchObject({ status: 400, json: { success: false, error: expect.any(String) } });
  },
);

test('rejects a guest with 401', async () => {
  expect((await world.request(null, 'POST', PATH, { body: { query: 'x' } })).status).toBe(401);
});

test('responds to any query text', async () => {
  await write(world.ana, today(), '<p>Straße 日本語 it’s 100 % done</p>');
  const piece = fc.oneof(
    fc.constantFrom('\0', "'", '"', '\\', '%', '$1', ':*', '&', 'straße', '日', "it's", '\u0300', ' '),
    unicodeText({ maxLength: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      const { success } = await find(world.ana, pieces.join('').slice(0, 200));
      expect(success).toBe(true);
    }),
    { numRuns: fuzzBudget(100) },
  );
});

test('indexes correctly during concurrent searches, writes and deletes', async () => {
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

const tagsOf = async (person: Person, query: string): Promise<unknown> =>
  (await find(person, query)).tags?.map(({ text, days }) => `${text} ${days}`);

test('finds a tag, and not its word', async () => {
  await write(world.ana, daysAgo(1), '<p>Shipped <strong>#Billing</strong></p>');
  await write(world.ana, daysAgo(2), '<p>billing and #billing-v2</p>');
  await write(world.ana, daysAgo(3), '<p>offer (#billing) &amp; #ops</p>');
  expect(await daysFound(world.ana, '#billing')).toEqual([daysAgo(1), daysAgo(3)]);
  expect(await daysFound(world.ana, 'offer #BILLING #ops')).toEqual([daysAgo(3)]);
  expect(await daysFound(world.ana, 'billing')).toHaveLength(3);
  const { results } = await find(world.ana, '#billing');
  expect(markMatches(results[0]!.snippet)).toBe('Shipped [#Billing]');
});

test('lists the tags with their days, and those that complete a typed one', async () => {
  await write(world.ana, daysAgo(1), '<p>#billing #Billing</p><p>#ops</p>');
  await write(world.ana, daysAgo(2), '<p>#billing, #Bilanz, fixed #42</p>');
  await write(world.ben, daysAgo(2), '<p>#secret</p>');
  expect(await tagsOf(world.ana, '')).toEqual(['#Billing 2', '#Bilanz 1', '#ops 1']);
  expect(await tagsOf(world.ana, '#')).toEqual(['#Billing 2', '#Bilanz 1', '#ops 1']);
  expect(await tagsOf(world.ana, 'words #BIL')).toEqual(['#Billing 2', '#Bilanz 1']);
  expect(await tagsOf(world.ana, '#billing')).toEqual([]);
  expect(await tagsOf(world.ana, 'words')).toBeUndefined();
  await write(world.ana, daysAgo(1), '<p>nothing</p>');
  expect(await tagsOf(world.ana, '')).toEqual(['#Bilanz 1', '#billing 1']);
});

test('lists no tags of days that the plan does not open, also if they were indexed before', async () => {
  await write(world.cleo, daysAgo(2), '<p>#open</p>');
  await write(world.cleo, daysAgo(400), '<p>#locked</p>');
  expect(await tagsOf(world.cleo, '')).toEqual(['#locked 1', '#open 1']);
  const setPlan = (plan: string) =>
    world.server.admin.query('update public.profiles set subscription_plan = $2 where id = $1', [world.cleo.id, plan]);
  await setPlan('free');
  try {
    expect(await tagsOf(world.cleo, '')).toEqual(['#open 1']);
    expect(await daysFound(world.cleo, '#locked')).toEqual([]);
  } finally {
    await setPlan('premium');
  }
});

test('reads anew what an older server has indexed', async () => {
  await write(world.ana, today(), '<p>#new</p>');
  const indexAsBefore = `
    insert into public.entry_words (user_id, date, revision, words)
    select user_id, date, revision, ' new ' from public.entries where user_id = $1
    on conflict (user_id, date) do update set revision = excluded.revision, words = excluded.words`;
  await world.server.admin.query(indexAsBefore, [world.ana.id]);
  expect(await daysFound(world.ana, '#new')).toEqual([today()]);
  await write(world.ana, today(), '<p>#newer</p>');
  await world.server.admin.query(indexAsBefore, [world.ana.id]);
  expect(await tagsOf(world.ana, '')).toEqual(['#newer 1']);
});

test('the database finds what the rules find, and counts the same tags', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '#billing',
      'billing',
      '#Bil',
      'bil',
      '#ops-1',
      '#42',
      '#größe',
      'Größe',
      '＃タグ',
      'タグ',
      '/#ops',
      '(#ops)',
    ),
    unicodeText({ maxLength: 3 }),
  );
  const sentence = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(' '));
  const query = fc.oneof(
    sentence,
    fc.constantFrom('#', '#b', '#billing', 'bil #ops', '#ops-1 bil', 'größe', '#GRÖSSE', '#タグ', 'タ'),
  );
  const escape = (text: string): string =>
    text.replaceAll('\0', '').toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  await fc.assert(
    fc.asyncProperty(fc.array(sentence, { minLength: 1, maxLength: 5 }), query, async (logs, asked) => {
      await world.server.admin.query('delete from public.entries where user_id = $1', [world.ana.id]);
      const texts = new Map<string, string>();
      for (const [index, log] of logs.entries()) {
        const html = `<p>${escape(log)}</p>`;
        await write(world.ana, daysAgo(index), html);
        texts.set(daysAgo(index), entryText(html));
      }
      const terms = parseSearchTerms(asked);
      const days = [...texts].filter(([, text]) => matchesSearch(terms, text)).map(([date]) => date);
      expect(await daysFound(world.ana, asked)).toEqual(days);
      const typed = typedTag(asked);
      const counts = countTags([...texts.values()].reverse().map(listTags));
      const { tags } = await find(world.ana, asked);
      expect(tags).toEqual(typed === null ? undefined : completeTag(typed, counts).slice(0, MAX_TAGS_SHOWN));
    }),
    { numRuns: fuzzBudget(60) },
  );
});

test('does not expose entry_words on the data API', async () => {
  expect((await world.request(world.ana, 'GET', '/rest/v1/entry_words')).status).toBe(404);
});
