/**
 * Earlier versions of logs (docs/specification/days-and-saving.md 12): which changes keep one, how many stay, who reads
 * them, and the view `deleted_days`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import type { Day } from '#domain/day/day.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { MAX_VERSIONS_PER_DAY, VERSION_DAYS, VERSION_INTERVAL_MINUTES } from '#domain/log/entry.ts';
import { purgeVersions } from '#server/jobs/purges.ts';

import { setUpTestDatabase } from '../support/set-up.ts';

import {
  ACTORS,
  DAY_LABELS,
  DAY_NAMES,
  DAYS,
  identityOf,
  PEOPLE,
  PERSON_NAMES,
  REFUSED,
  resetFixtures,
  runAs,
  type Actor,
} from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

const { id: FREE } = PEOPLE.free;
const TODAY = DAYS.earliestToday;

type Version = { content: string; replaced_by: string };

/** The versions of a day, newest first. */
async function versionsOf(userId = FREE, date: Day = TODAY): Promise<Version[]> {
  const { rows } = await db.admin.query<Version>(
    `select content, replaced_by from entry_versions where user_id = $1 and date = $2 order by kept_at desc`,
    [userId, date],
  );
  return rows;
}
const textsOf = async (...of: Parameters<typeof versionsOf>) => (await versionsOf(...of)).map(({ content }) => content);

const saveAs = (actor: Actor | 'service', content: string, date: Day = TODAY, userId = FREE) =>
  runAs(db.database, actor, 'update entries set content = $3 where user_id = $1 and date = $2', [
    userId,
    date,
    content,
  ]);
const save = (content: string) => saveAs('free', content);
const remove = (date: Day = TODAY) =>
  runAs(db.database, 'free', 'delete from entries where user_id = $1 and date = $2', [FREE, date]);
const insert = (content: string, date: Day = TODAY) =>
  runAs(db.database, 'free', 'insert into entries (user_id, date, content) values ($1, $2, $3)', [FREE, date, content]);

/** Lets time pass for a user's logs and versions, by moving their times into the past. */
async function passMinutes(minutes: number, userId = FREE): Promise<void> {
  const ago = `make_interval(secs => ${minutes * 60})`;
  const connection = await db.admin.connect();
  await connection.query('set session_replication_role = replica');
  await connection.query(
    `update entries set created_at = created_at - ${ago}, updated_at = updated_at - ${ago} where user_id = $1`,
    [userId],
  );
  await connection.query('reset session_replication_role');
  connection.release();
  await db.admin.query(
    `update entry_versions set kept_at = kept_at - ${ago}, written_at = written_at - ${ago} where user_id = $1`,
    [userId],
  );
}

const items = (...texts: string[]): string => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;

describe('an edit', () => {
  test('of a log that is younger than ten minutes keeps no version', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES - 0.1);
    expect(await save('<p>mine too</p>')).toBe(1);
    expect(await versionsOf()).toEqual([]);
  });

  test('keeps the text that stood before it, at most once in ten minutes', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save('<p>mine 2</p>');
    expect(await versionsOf()).toEqual([{ content: '<p>mine</p>', replaced_by: 'edit' }]);
    await passMinutes(VERSION_INTERVAL_MINUTES - 0.1);
    await save('<p>mine 2 3</p>');
    expect(await textsOf()).toEqual(['<p>mine</p>']);
    await passMinutes(0.1);
    await save('<p>mine 2 3 4</p>');
    expect(await textsOf()).toEqual(['<p>mine 2 3</p>', '<p>mine</p>']);
  });

  test('keeps when its text was saved and when it was replaced', async () => {
    await passMinutes(60);
    const { rows: before } = await db.admin.query(
      'select id, updated_at, clock_timestamp() as now from entries where user_id = $1 and date = $2',
      [FREE, TODAY],
    );
    await save('<p>mine 2</p>');
    const { rows } = await db.admin.query('select * from entry_versions');
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ user_id: FREE, date: TODAY, entry_id: before[0].id });
    expect(rows[0].written_at).toEqual(before[0].updated_at);
    expect(rows[0].kept_at.getTime()).toBeGreaterThanOrEqual(before[0].now.getTime());
  });

  test('of the formatting alone keeps a version as well', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save('<p><strong>mine</strong></p>');
    expect(await textsOf()).toEqual(['<p>mine</p>']);
  });

  test('that changes nothing, and feedback of the coach, keep no version', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save('<p>mine</p>');
    await runAs(db.database, 'service', "update entries set ai_feedback = 'Good.', hustle_score = 7");
    expect(await versionsOf()).toEqual([]);
  });

  test('of another day or by another user keeps no version of this day', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await saveAs('free', '<p>else</p>', DAYS.firstOpen);
    expect(await saveAs('premium', '<p>theirs</p>')).toBe(0);
    expect(await versionsOf()).toEqual([]);
    expect(await textsOf(FREE, DAYS.firstOpen)).toEqual(['<p>mine</p>']);
  });

  test('that the policies refuse keeps no version', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    expect(await saveAs('free', '<p>x</p>', DAYS.firstLocked)).toBe(0);
    const stale = 'update entries set content = $3 where user_id = $1 and date = $2 and revision = 9';
    expect(await runAs(db.database, 'free', stale, [FREE, TODAY, '<p>x</p>'])).toBe(0);
    const { rows } = await db.admin.query('select count(*)::integer as count from entry_versions');
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('of the service keeps a version by the same rule', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    expect(await saveAs('service', '<p>imported</p>')).toBe(1);
    expect(await textsOf()).toEqual(['<p>mine</p>']);
  });
});

const LONG = 'A long item about the work of a whole morning';

test.each<[what: string, before: string[], after: string[], drops: boolean]>([
  ['typing at the end', ['one', 'two'], ['one', 'two', 'three'], false],
  ['typing in the last item', ['one', 'two'], ['one', 'two words'], false],
  ['one item of two is gone', ['one', 'two'], ['one'], false],
  ['two items of three are gone', ['one', 'two', 'three'], ['one'], true],
  ['the first half of the items is gone', ['a', 'b', 'c', 'd'], ['c', 'd'], false],
  ['more than the first half is gone', ['a', 'b', 'c', 'd'], ['d'], true],
  ['the middle item of three is replaced', ['one', 'two', 'three'], ['one', 'x', 'three'], false],
  ['both outer items of three are replaced', ['one', 'two', 'three'], ['x', 'two', 'y'], true],
  ['half of the items are gone', ['a', 'b', 'c', 'd'], ['a', 'b'], false],
  ['more than half of the items are gone', ['a', 'b', 'c', 'd'], ['a'], true],
  ['more than half are replaced by as many others', ['a', 'b', 'c', 'd'], ['a', 'x', 'y', 'z'], true],
  ['half are replaced', ['a', 'b', 'c', 'd'], ['a', 'b', 'y', 'z'], false],
  ['every item is replaced by more text', ['one', 'two'], ['x', 'y', 'z', 'a much longer text'], true],
  ['half are replaced and one is edited', ['aaa', 'bbb', 'ccc', 'ddd'], ['xxx', 'yyy', 'ccc edited', 'ddd'], false],
  ['repeated items are replaced by others', ['a', 'a', 'a', 'b'], ['a', 'x', 'y', 'z'], true],
  ['the order changes', ['a', 'b', 'c', 'd'], ['d', 'c', 'b', 'a'], false],
  ['repeated items are gone', ['a', 'a', 'a', 'a'], ['a'], true],
  ['a single item is edited at its end', [LONG], [`${LONG}, and more`], false],
  ['a single item is edited at its start', [LONG], [`Now: ${LONG}`], false],
  ['a single item is edited in its middle', [LONG], [LONG.replace('work of', 'hard and good work of')], false],
  ['the end of a single item is deleted', [LONG], [LONG.slice(0, 24)], false],
  ['more than half of a single item is deleted', [LONG], [LONG.slice(0, 20)], true],
  ['a single item is replaced', [LONG], ['x'], true],
  ['every item is edited at its end', ['one', 'two', 'three'], ['one 1', 'two 2', 'three 3'], false],
  ['every item is edited at its start', ['one', 'two', 'three'], ['1 one', '2 two', '3 three'], false],
  ['more than 50 edited items', many('item', ''), many('item', '!'), true],
  ['50 edited items', many('item', '').slice(1), many('item', '!').slice(1), false],
  ['the last item after letters of two bytes is replaced', ['größe', 'übung', 'x'], ['größe', 'übung', 'y'], false],
  ['a letter of two bytes is replaced in one of two items', ['größe', 'x'], ['grüße', 'x'], false],
])('drops_most_items and the trigger that calls it: %s', async (_what, before, after, drops) => {
  const { rows } = await db.admin.query('select drops_most_items($1, $2) as drops', [
    before.join('\n'),
    after.join('\n'),
  ]);
  expect(rows).toEqual([{ drops }]);
  await save(items(...before));
  await save(items(...after));
  expect((await textsOf()).includes(items(...before))).toBe(drops);
});

function many(prefix: string, suffix: string): string[] {
  return Array.from({ length: 51 }, (_, index) => `${prefix} ${index} ${'.'.repeat(20)}${suffix}`);
}

test('drops_most_items takes linear time for two large logs without a common item', async () => {
  const { rows } = await db.admin.query<{ 'QUERY PLAN': { 'Execution Time': number }[] }>(`
    explain (analyze, format json) select drops_most_items(before, after)
      from (select string_agg('a' || n, E'\n') as before, string_agg('b' || n, E'\n') as after
              from generate_series(1, 40000) n) as logs`);
  expect(rows[0]!['QUERY PLAN'][0]!['Execution Time']).toBeLessThan(2_000);
});

describe('within ten minutes of the first save', () => {
  test('a save that drops more than half of the items keeps a version', async () => {
    await save(items('mine', 'two', 'three'));
    await save(items('mine', 'two'));
    expect(await versionsOf()).toEqual([]);
    await save(items('x', 'y'));
    await save(items('x', 'y', 'z'));
    expect(await versionsOf()).toEqual([{ content: items('mine', 'two'), replaced_by: 'drop' }]);
    await save(items('z'));
    expect(await textsOf()).toEqual([items('x', 'y', 'z'), items('mine', 'two')]);
  });

  test.each(['', '<p></p>', '<ol><li><p></p></li></ol>'])('a save of "%s" keeps the text as deleted', async (empty) => {
    await save(empty);
    expect(await versionsOf()).toEqual([{ content: '<p>mine</p>', replaced_by: 'deletion' }]);
    await save('<p>new</p>');
    await save('');
    expect(await textsOf()).toEqual(['<p>new</p>', '<p>mine</p>']);
  });

  test('a deletion keeps the text', async () => {
    expect(await remove()).toBe(1);
    expect(await versionsOf()).toEqual([{ content: '<p>mine</p>', replaced_by: 'deletion' }]);
  });

  test('the deletion of an empty row keeps nothing', async () => {
    await save('');
    await remove();
    expect(await textsOf()).toEqual(['<p>mine</p>']);
  });

  test('bringing a version back keeps the text that it replaces, and so does bringing that one back', async () => {
    const [first, second] = [items('a', 'b', 'c', 'd'), items('a', 'b', 'c', 'd', 'e')];
    await save(first);
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save(second);
    expect(await textsOf()).toEqual([first, '<p>mine</p>']);
    await save(first);
    expect(await versionsOf()).toMatchObject([
      { content: second, replaced_by: 'restore' },
      { content: first },
      { content: '<p>mine</p>' },
    ]);
    await save(second);
    expect(await versionsOf()).toMatchObject([
      // `first` became a version for the second time, but is listed only once.
      { content: first, replaced_by: 'restore' },
      { content: second },
      { content: '<p>mine</p>' },
    ]);
  });
});

test('a log and its deletion in one transaction keep the text', async () => {
  const statement = `with gone as (delete from entries where user_id = $1 and date = $2 returning 1) select * from gone`;
  await runAs(db.database, 'free', statement, [FREE, TODAY]);
  expect(await textsOf()).toEqual(['<p>mine</p>']);
});

test('a new log on a day whose log was deleted keeps the versions of the old one', async () => {
  await remove();
  await insert('<p>again</p>');
  await passMinutes(VERSION_INTERVAL_MINUTES);
  await save('<p>again and again</p>');
  expect(await textsOf()).toEqual(['<p>again</p>', '<p>mine</p>']);
});

describe(`a day keeps ${MAX_VERSIONS_PER_DAY} versions`, () => {
  /** No two of these texts begin or end alike, so each save keeps the text before it. */
  const textOf = (minutesApart: number, index: number): string => `<p>${index}/${minutesApart}/${index}</p>`;

  async function replaceText(times: number, minutesApart: number): Promise<void> {
    for (let index = 1; index <= times; index += 1) {
      await passMinutes(minutesApart);
      await save(textOf(minutesApart, index));
    }
  }

  test('however many other days have', async () => {
    await db.admin.query(
      `insert into entry_versions (user_id, date, entry_id, content, written_at, kept_at, replaced_by)
         select $1, $2, gen_random_uuid(), 'x', now(), now() + interval '1 day', 'edit' from generate_series(1, 20)`,
      [FREE, DAYS.firstLocked],
    );
    await replaceText(MAX_VERSIONS_PER_DAY + 2, VERSION_INTERVAL_MINUTES);
    await saveAs('free', '', DAYS.firstOpen);
    expect(await textsOf()).toHaveLength(MAX_VERSIONS_PER_DAY);
    expect(await textsOf(FREE, DAYS.firstOpen)).toEqual(['<p>mine</p>']);
  });

  test('the ten newest, and the older ones that lie furthest apart', async () => {
    await replaceText(3, 60);
    await replaceText(15, 20);
    await replaceText(MAX_VERSIONS_PER_DAY, 10);
    const newest = Array.from({ length: 10 }, (_, index) => textOf(10, MAX_VERSIONS_PER_DAY - 1 - index));
    const texts = await textsOf();
    expect(texts).toHaveLength(MAX_VERSIONS_PER_DAY);
    expect(texts.slice(0, 10)).toEqual(newest);
    expect(texts.at(-1)).toBe('<p>mine</p>');
    const { rows } = await db.admin.query<{ gap: number }>(
      `select extract(epoch from kept_at - lead(kept_at) over (order by kept_at desc))::float / 60 as gap
         from entry_versions where user_id = $1 and date = $2 order by kept_at desc offset 10 limit 9`,
      [FREE, TODAY],
    );
    expect(Math.min(...rows.map(({ gap }) => gap))).toBeGreaterThan(15);
  });

  test('a burst of replaced texts from a stolen session removes no earlier version', async () => {
    await replaceText(5, VERSION_INTERVAL_MINUTES);
    const before = (await textsOf()).concat(textOf(10, 5));
    await passMinutes(5);
    await replaceText(2 * MAX_VERSIONS_PER_DAY, 0);
    // A longer burst would spread its versions as far apart as the earlier ones, so both would be thinned out.
    await replaceText(MAX_VERSIONS_PER_DAY, 1);
    await remove();
    const texts = await textsOf();
    expect(texts).toHaveLength(MAX_VERSIONS_PER_DAY);
    expect(texts).toEqual(expect.arrayContaining(before));
  });
});

describe('a version with a date header, as they were kept before 0037', () => {
  const day = 'of a day';
  const old = withDateHeader(TODAY, items('one', 'two', day));
  beforeEach(async () => {
    await save(withDateHeader(TODAY, items('one', 'two', 'three', day)));
    await db.admin.query(
      `insert into entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
       select user_id, date, id, $3, now(), 'edit' from entries where user_id = $1 and date = $2`,
      [FREE, TODAY, old],
    );
  });

  test('is brought back by a save, which keeps the replaced text', async () => {
    await save(old);
    expect((await versionsOf())[0]).toEqual({ content: items('one', 'two', 'three', day), replaced_by: 'restore' });
  });

  test('is one version, not two, after it was brought back and replaced', async () => {
    await save(old);
    await save(withDateHeader(TODAY, items('one', 'two', 'three', day)));
    expect((await textsOf()).filter((text) => text.includes('<li>')).sort()).toEqual(
      [items('one', 'two', 'three', day), items('one', 'two', day)].sort(),
    );
  });
});

test('the id of a deleted log is not used again on its day, and another id is', async () => {
  const { rows } = await db.admin.query<{ id: string }>('select id from entries where user_id = $1 and date = $2', [
    FREE,
    TODAY,
  ]);
  const id = rows[0]!.id;
  await remove();
  const insertWith = (rowId: string, date: Day = TODAY) =>
    runAs(db.database, 'free', 'insert into entries (user_id, date, id, content) values ($1, $2, $3, $4)', [
      ...[FREE, date, rowId, '<p>late</p>'],
    ]);
  expect(await insertWith(id)).toBe('23505');
  expect(await insertWith(randomUUID())).toBe(1);
});

describe('moving a log', () => {
  const target = DAYS.firstOpen;
  const move = () =>
    runAs(db.database, 'free', 'update entries set date = $3 where user_id = $1 and date = $2', [FREE, TODAY, target]);

  test('takes its versions along without changing their text, and keeps none itself', async () => {
    await save(withDateHeader(TODAY, '<p>first</p>'));
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save(withDateHeader(TODAY, '<p>first and second</p>'));
    await remove(target);
    await passMinutes(VERSION_INTERVAL_MINUTES);
    expect(await move()).toBe(1);
    expect(await textsOf()).toEqual([]);
    // Oldest last; "mine" was deleted on the target day before.
    expect(await textsOf(FREE, target)).toEqual(['<p>mine</p>', '<p>first</p>', '<p>mine</p>']);
  });

  test('writes no text of its versions', async () => {
    const long = (index: number) => `<p>${randomBytes(190_000).toString('base64')} ${index}</p>`;
    for (let index = 0; index <= MAX_VERSIONS_PER_DAY; index += 1) {
      await save(withDateHeader(TODAY, long(index)));
      await passMinutes(VERSION_INTERVAL_MINUTES);
    }
    expect(await textsOf()).toHaveLength(MAX_VERSIONS_PER_DAY);
    await remove(target);
    const writtenBytes = async (): Promise<number> => {
      const { rows } = await db.admin.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
      return Number(rows[0]!.bytes);
    };
    // Other tests write to the same log of changes, so one move of several counts.
    await vi.waitFor(async () => {
      const before = await writtenBytes();
      await move();
      const bytes = (await writtenBytes()) - before;
      await runAs(db.database, 'free', 'update entries set date = $3 where user_id = $1 and date = $2', [
        FREE,
        target,
        TODAY,
      ]);
      // The log itself, of 250 KB, is written once with its new header.
      expect(bytes).toBeGreaterThan(200_000);
      expect(bytes).toBeLessThan(1_000_000);
    }, 30_000);
  });

  test('leaves the versions of an earlier, deleted log of the day', async () => {
    await remove();
    await insert('<p>new</p>');
    await remove(target);
    await move();
    expect(await versionsOf()).toEqual([{ content: '<p>mine</p>', replaced_by: 'deletion' }]);
  });

  test('with another text in the same statement keeps the old text', async () => {
    await save('<p>mine today</p>');
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await remove(target);
    const both = "update entries set date = $3, content = '<p>moved</p>' where user_id = $1 and date = $2";
    expect(await runAs(db.database, 'free', both, [FREE, TODAY, target])).toBe(1);
    expect(await textsOf(FREE, target)).toEqual(['<p>mine today</p>', '<p>mine</p>']);
  });
});

describe('reading versions', () => {
  beforeEach(async () => {
    await db.admin.query("update entries set created_at = created_at - interval '1 day'");
    await db.admin.query("update entries set content = '<p>mine and more</p>'");
  });
  const READ = 'select content from entry_versions where user_id = $1 and date = $2';

  test.each(PERSON_NAMES.flatMap((person) => DAY_NAMES.map((name) => [person, DAY_LABELS[name], name] as const)))(
    'the %s user reads a version of %s only if the log is readable',
    async (person, _label, name) => {
      const values = [PEOPLE[person].id, DAYS[name]];
      const log = await runAs(db.database, person, READ.replace('entry_versions', 'entries'), values);
      expect(await runAs(db.database, person, READ, values)).toBe(log);
    },
  );

  test.each(PERSON_NAMES)("the %s user cannot read another user's versions", async (person) => {
    expect(
      await runAs(db.database, person, 'select content from entry_versions where user_id <> $1', [PEOPLE[person].id]),
    ).toBe(0);
  });

  test('a plan that ends closes the versions of old days, and the next payment opens them', async () => {
    const values = [PEOPLE.premium.id, DAYS.longAgo];
    const setPlan = (plan: string) =>
      db.admin.query('update profiles set subscription_plan = $2 where id = $1', [PEOPLE.premium.id, plan]);
    expect(await runAs(db.database, 'premium', READ, values)).toBe(1);
    await setPlan('free');
    expect(await runAs(db.database, 'premium', READ, values)).toBe(0);
    await setPlan('premium');
    expect(await runAs(db.database, 'premium', READ, values)).toBe(1);
  });

  test('a guest cannot read versions or deleted days', async () => {
    expect(await runAs(db.database, 'guest', 'select * from entry_versions')).toBe(REFUSED);
    expect(await runAs(db.database, 'guest', 'select * from deleted_days')).toBe(REFUSED);
  });

  test('claims without a user read no versions and no deleted days', async () => {
    const withoutUser = db.database.asUser({ role: 'authenticated', claimsJson: '{}' });
    for (const table of ['entry_versions', 'deleted_days']) {
      expect((await withoutUser.statement(`select user_id, date from ${table}`, [])).rows).toEqual([]);
    }
  });

  test.each(ACTORS)('the %s user cannot write versions', async (actor) => {
    const add = `insert into entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
      values ($1, $2, gen_random_uuid(), 'x', now(), 'edit')`;
    expect(await runAs(db.database, actor, add, [FREE, TODAY])).toBe(REFUSED);
    expect(await runAs(db.database, actor, "update entry_versions set content = 'x'")).toBe(REFUSED);
    expect(await runAs(db.database, actor, 'delete from entry_versions')).toBe(REFUSED);
    expect(await runAs(db.database, actor, 'truncate entry_versions')).toBe(REFUSED);
  });

  test('the service can purge versions but not write them', async () => {
    expect(await runAs(db.database, 'service', "update entry_versions set content = 'x'")).toBe(REFUSED);
    expect(await runAs(db.database, 'service', 'delete from entry_versions where user_id = $1', [FREE])).toBe(
      DAY_NAMES.length,
    );
  });

  test('no role can call the trigger function', async () => {
    for (const actor of ['free', 'guest', 'service'] as const) {
      expect(await runAs(db.database, actor, 'select follow_entry()')).not.toBe(1);
    }
  });

  test('reads a day by the primary key and evaluates the caller once', async () => {
    await db.admin.query('analyze entry_versions');
    await db.admin.query('set enable_seqscan = off');
    const { rows } = await db.database
      .asUser(identityOf('free'))
      .statement<{ 'QUERY PLAN': string }>(`explain (costs off) ${READ}`, [FREE, TODAY]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('InitPlan');
    expect(plan).not.toContain('SubPlan');
  });
});

describe('deleted_days', () => {
  const readDays = async (actor: Actor = 'free') => {
    const text = 'select date, excerpt, version_id from deleted_days order by deleted_at desc';
    const acting = db.database.asUser(identityOf(actor));
    return (await acting.statement<{ date: Day; excerpt: string; version_id: string }>(text, [])).rows;
  };

  test('lists a deleted day with the beginning of its text until the day has a log again', async () => {
    await save(withDateHeader(TODAY, items('one &amp; only', 'x'.repeat(300))));
    await remove();
    const excerpt = `one & only\n${'x'.repeat(300)}`.slice(0, 200);
    expect(await readDays()).toEqual([{ date: TODAY, excerpt, version_id: expect.any(String) }]);
    await insert('<p>back</p>');
    expect(await readDays()).toEqual([]);
  });

  test('lists an emptied day, and each day once with its last text', async () => {
    await remove();
    await insert('<p>second</p>');
    await save('');
    await remove(DAYS.firstOpen);
    expect(await readDays()).toMatchObject([
      { date: DAYS.firstOpen, excerpt: 'mine' },
      { date: TODAY, excerpt: 'second' },
    ]);
  });

  test('lists no day whose log was moved or edited', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save('<p>mine 2</p>');
    await remove(DAYS.firstOpen);
    await runAs(db.database, 'free', 'update entries set date = $3 where user_id = $1 and date = $2', [
      FREE,
      TODAY,
      DAYS.firstOpen,
    ]);
    expect(await readDays()).toEqual([]);
  });

  test('lists no day by a version that an edit has replaced', async () => {
    await db.admin.query('delete from entries where user_id = $1', [FREE]);
    await db.admin.query("update entry_versions set replaced_by = 'edit' where date <> $1", [TODAY]);
    expect((await readDays()).map(({ date }) => date)).toEqual([TODAY]);
  });

  test('lists only own days that the plan opens', async () => {
    await db.admin.query('delete from entries');
    expect((await readDays()).map(({ date }) => date).toSorted()).toEqual(
      [DAYS.firstOpen, DAYS.earliestToday, DAYS.latestToday, DAYS.tomorrow].toSorted(),
    );
    expect(await readDays('endless')).toHaveLength(DAY_NAMES.length);
    expect(await readDays('expired')).toHaveLength(4);
  });

  test.each([...ACTORS, 'service'] as const)('the %s user cannot write through the view', async (actor) => {
    expect(await runAs(db.database, actor, 'delete from deleted_days')).not.toBe(1);
    expect(await runAs(db.database, actor, "update deleted_days set date = '2001-01-01'")).not.toBe(1);
  });
});

describe('purging', () => {
  const clockIn = (days: number, ms = 0) => ({ now: () => new Date(Date.now() + days * 24 * 3_600_000 + ms) });
  const purge = (clock: { now: () => Date }) => purgeVersions(db.database, clock, new AbortController().signal);

  test('deletes versions and deleted logs after 30 days, not before', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save('<p>mine 2</p>');
    await remove();
    expect(await purge(clockIn(VERSION_DAYS, -60_000))).toBe(0);
    expect(await textsOf()).toEqual(['<p>mine 2</p>', '<p>mine</p>']);
    expect(await purge(clockIn(VERSION_DAYS, 1_000))).toBe(2);
    expect(await versionsOf()).toEqual([]);
  });

  test('deletes the records of an import after the same time', async () => {
    await db.admin.query(
      `insert into import_days (user_id, import_id, date, entry_id, revision, change)
       values ($1, gen_random_uuid(), '2020-01-01', gen_random_uuid(), 1, 'added')`,
      [FREE],
    );
    expect(await purge(clockIn(VERSION_DAYS, -60_000))).toBe(0);
    expect(await purge(clockIn(VERSION_DAYS, 1_000))).toBe(1);
  });

  test('deletes more rows than one batch holds', async () => {
    await db.admin.query(
      `insert into entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
         select $1, '2020-01-01'::date + n, gen_random_uuid(), 'x', now(), 'edit' from generate_series(1, 2500) n`,
      [FREE],
    );
    expect(await purge(clockIn(VERSION_DAYS, 1_000))).toBe(2500);
  });

  test('a version of a moved or deleted log is no younger for it', async () => {
    await passMinutes(VERSION_INTERVAL_MINUTES);
    await save('<p>mine 2</p>');
    await passMinutes(20 * 24 * 60);
    await remove();
    expect(await purge(clockIn(10, 1_000))).toBe(1);
    expect(await textsOf()).toEqual(['<p>mine 2</p>']);
  });
});

test('the deletion of an account deletes its logs and keeps no version', async () => {
  await remove(DAYS.firstOpen);
  await db.admin.query('delete from auth.users where id = $1', [FREE]);
  const { rows } = await db.admin.query('select from entry_versions where user_id = $1', [FREE]);
  expect(rows).toEqual([]);
});
