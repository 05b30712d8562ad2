/** Triggers of `entries`: plain text, revision, time of change, date header. */
import { beforeEach, expect, test } from 'vitest';

import { day } from '#domain/day/day.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';

import { isPartitioned } from '../support/partition-tables.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

import { runAs, DAYS, identityOf, PEOPLE, resetFixtures } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

const KEY = [PEOPLE.free.id, DAYS.earliestToday];
const OF_KEY = 'where user_id = $1 and date = $2';

async function readEntry() {
  const columns = 'content, content_text, revision, updated_at';
  const { rows } = await db.admin.query(`select ${columns} from entries ${OF_KEY}`, KEY);
  return rows[0] as { content: string; content_text: string; revision: number; updated_at: Date };
}

const saveAs = (actor: 'free' | 'service', change: string) =>
  runAs(db.database, actor, `update entries set ${change} ${OF_KEY}`, KEY);

test('new content raises the revision and updates content_text and updated_at', async () => {
  const before = await readEntry();
  expect(before).toMatchObject({ content_text: 'mine', revision: 1 });
  expect(await saveAs('free', "content = '<p>new &amp; better</p>'")).toBe(1);
  const after = await readEntry();
  expect(after).toMatchObject({ content_text: 'new & better', revision: 2 });
  expect(after.updated_at.getTime()).toBeGreaterThan(before.updated_at.getTime());
});

test('an update with the same content changes nothing', async () => {
  const before = await readEntry();
  expect(await saveAs('free', 'content = content')).toBe(1);
  expect(await readEntry()).toEqual(before);
});

test('an empty paragraph alone raises the revision, by which the day saver makes a late save a no-op', async () => {
  expect(await saveAs('free', "content = content || '<p></p>'")).toBe(1);
  expect(await readEntry()).toMatchObject({ content_text: 'mine', revision: 2 });
});

test('feedback written by the service keeps revision and updated_at, so a pending save still succeeds', async () => {
  const before = await readEntry();
  const feedback = "ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = now()";
  expect(await saveAs('service', feedback)).toBe(1);
  expect(await readEntry()).toEqual(before);
  expect(await saveAs('service', 'ai_feedback = null, hustle_score = null, ai_analyzed_at = null')).toBe(1);
  expect(await readEntry()).toEqual(before);
  const save = `update entries set content = $3 ${OF_KEY} and revision = $4`;
  expect(await runAs(db.database, 'free', save, [...KEY, '<p>on</p>', before.revision])).toBe(1);
  expect(await readEntry()).toMatchObject({ content: '<p>on</p>', revision: before.revision + 1 });
});

test('moving an entry updates its date header, raises the revision and outdates its feedback', async () => {
  await saveAs('free', `content = '${withDateHeader(DAYS.earliestToday, '<p>mine &amp; fine</p>')}'`);
  await saveAs('service', "ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = now()");
  const { revision } = await readEntry();
  const move = `update entries set date = $3 ${OF_KEY}
    returning date, content, content_text, revision, ai_feedback, ai_analyzed_at < updated_at as outdated`;
  const { rows } = await db.admin.query(move, [...KEY, '2020-02-02']);
  expect(rows).toEqual([
    {
      date: '2020-02-02',
      content: withDateHeader(day('2020-02-02'), '<p>mine &amp; fine</p>'),
      content_text: 'mine & fine',
      revision: revision + 1,
      ai_feedback: 'Good.',
      outdated: true,
    },
  ]);
});

test('moving an entry without a date header keeps its content', async () => {
  const { rows } = await db.admin.query(`update entries set date = $3 ${OF_KEY} returning content`, [
    ...KEY,
    '2020-02-02',
  ]);
  expect(rows).toEqual([{ content: '<p>mine</p>' }]);
});

test('the service cannot set content_text or revision', async () => {
  await saveAs('service', "content_text = 'other', revision = 40, content = '<p>words</p>'");
  expect(await readEntry()).toMatchObject({ content_text: 'words', revision: 2 });
  await saveAs('service', 'revision = 40');
  expect(await readEntry()).toMatchObject({ revision: 2 });
});

test('a save with a stale revision affects no row', async () => {
  const save = `update entries set content = $3 ${OF_KEY} and revision = $4`;
  const saveOn = (content: string, revision: number) => runAs(db.database, 'free', save, [...KEY, content, revision]);
  expect(await saveOn('<p>first</p>', 1)).toBe(1);
  expect(await saveOn('<p>second</p>', 1)).toBe(0);
  expect(await readEntry()).toMatchObject({ content: '<p>first</p>', revision: 2 });
});

test('exactly one of many concurrent saves on the same revision succeeds', async () => {
  const save = `update entries set content = $3 ${OF_KEY} and revision = 1`;
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) => runAs(db.database, 'free', save, [...KEY, `<p>${i}</p>`])),
  );
  expect(outcomes.toSorted()).toEqual([...Array.from({ length: 19 }, () => 0), 1]);
});

test('entries accepts 256 KB plus a date header and rejects one byte more', async () => {
  const save = (content: string) =>
    runAs(db.database, 'free', `update entries set content = $3 ${OF_KEY}`, [...KEY, content]);
  const maxContent = 'é'.repeat((ENTRY_MAX_BYTES + 64) / 2);
  expect(await save(maxContent)).toBe(1);
  expect(await save(`${maxContent}x`)).toBe('23514');
  expect(withDateHeader(day('2026-09-30'), '').length).toBeLessThanOrEqual(64);
});

test.each([['infinity'], ['-infinity'], ['0001-01-01 BC']])(
  'the service cannot insert an entry with the date %s',
  async (date) => {
    const insert = "insert into entries (user_id, date, content) values ($1, $2, '')";
    expect(await runAs(db.database, 'service', insert, [PEOPLE.free.id, date])).toBe('23514');
  },
);

test.skipIf(isPartitioned)('reading an entry uses the primary key and evaluates the caller once', async () => {
  await db.admin.query(`
    insert into entries (user_id, date, content)
      select '${PEOPLE.endless.id}', '2020-01-01'::date + n, '' from generate_series(1, 2000) n`);
  await db.admin.query('analyze entries');
  const plan = await db.database
    .asUser(identityOf('free'))
    .statement<{ 'QUERY PLAN': string }>(`explain (costs off) select * from entries ${OF_KEY}`, KEY);
  const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(lines).toContain('Index Scan using entries_pkey');
  expect(lines).toContain('InitPlan');
  expect(lines).not.toContain('SubPlan');
});
