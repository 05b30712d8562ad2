/**
 * The coach's answers on a deleted log (docs/specification/days-and-saving.md 12): hidden while the log is gone, back
 * with its text, and purged with the version that holds it.
 */
import { beforeEach, describe, expect, test } from 'vitest';

import { addDays, type Day } from '#domain/day/day.ts';
import { VERSION_DAYS } from '#domain/log/entry.ts';
import { purgeVersions } from '#server/jobs/purges.ts';

import { setUpTestDatabase } from '../support/set-up.ts';

import { DAYS, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures, runAs } from './fixtures.ts';

const db = setUpTestDatabase();

const { id: USER } = PEOPLE.premium;
const DAY = DAYS.earliestToday;
const OTHER = addDays(DAY, -2);
const TEXT = '<p>mine</p>';

const run = (text: string, ...values: unknown[]) => runAs(db.database, 'premium', text, values);
const remove = (date: Day = DAY) => run('delete from entries where user_id = $1 and date = $2', USER, date);
const insert = (content: string, date: Day = DAY) =>
  run('insert into entries (user_id, date, content) values ($1, $2, $3)', USER, date, content);
const save = (content: string, date: Day = DAY) =>
  run('update entries set content = $3 where user_id = $1 and date = $2', USER, date, content);

const COLUMNS = 'input_hash, provider, model, prompt_version, finish_reason, duration_ms, text, created_at';
const addAnalysis = (text: string, day: Day | null, from: Day | null, to: Day | null, minutesAgo = 0) =>
  db.admin.query(
    `insert into analyses (user_id, kind, date, period_from, period_to, score, cited, missing_fact, ${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, '{1,2}', 'A fact', 'hash', 'google', 'gemini', 1, 'stop', 5, $7,
             clock_timestamp() - make_interval(mins => $8))`,
    [USER, day ? 'feedback' : 'trend', day, from, to, day ? 7 : null, text, minutesAgo],
  );

const READ_ANALYSES = 'select * from analyses where user_id = $1 order by text';
const readAnalyses = async () => (await db.admin.query(READ_ANALYSES, [USER])).rows;
const textsOfAnalyses = async () => (await readAnalyses()).map(({ text }) => text);

async function readCoach(date: Day = DAY) {
  const { rows } = await db.admin.query(
    `select ai_feedback as feedback, hustle_score as score, ai_analyzed_at >= updated_at as "upToDate"
       from entries where user_id = $1 and date = $2`,
    [USER, date],
  );
  return rows[0];
}
const NOTHING = { feedback: null, score: null, upToDate: null };

const analyze = (at = 'now()') =>
  db.admin.query(
    `update entries set ai_feedback = 'Good work.', hustle_score = 7, ai_analyzed_at = ${at} where user_id = $1 and date = $2`,
    [USER, DAY],
  );

beforeEach(async () => {
  await resetFixtures(db.admin);
  await insert('<p>other</p>', OTHER);
  await analyze();
  await addAnalysis('Good work.', DAY, null, null, 5);
  await addAnalysis('A review', null, addDays(DAY, -6), DAY, 4);
  await addAnalysis('Of earlier days', null, addDays(DAY, -20), addDays(DAY, -10), 4);
});

describe.each<[how: string, empty: () => Promise<unknown>, bringBack: (text: string) => Promise<unknown>]>([
  ['deleted', () => remove(), (text) => insert(text)],
  ['emptied', () => save('<p></p>'), (text) => save(text)],
])('the feedback on a day that was %s, and the reviews of its periods', (_how, empty, bringBack) => {
  test('are hidden from clients and the coach', async () => {
    await empty();
    expect(await textsOfAnalyses()).toEqual(['Of earlier days']);
    expect((await readCoach()) ?? NOTHING).toEqual(NOTHING);
    for (const person of [...PERSON_NAMES, 'guest'] as const) {
      expect(await runAs(db.database, person, 'select feedback from entry_versions')).toBe(REFUSED);
    }
  });

  test('are back, whole and current, with the text', async () => {
    const before = await readAnalyses();
    await empty();
    await bringBack(TEXT);
    expect(await readAnalyses()).toEqual(before);
    expect(await readCoach()).toEqual({ feedback: 'Good work.', score: 7, upToDate: true });
  });

  test('are back as outdated with the text and new lines', async () => {
    await empty();
    await bringBack('<p>new</p><ol><li><p>mine</p></li></ol>');
    expect(await textsOfAnalyses()).toEqual(['A review', 'Good work.', 'Of earlier days']);
    expect(await readCoach()).toEqual({ feedback: 'Good work.', score: 7, upToDate: false });
  });

  test('stay hidden while another text stands there, and come back when the deleted one replaces it', async () => {
    await empty();
    await bringBack('<p>Only this</p>');
    await save('<p>Only this, and more</p>');
    expect(await textsOfAnalyses()).toEqual(['Of earlier days']);
    expect(await readCoach()).toEqual(NOTHING);
    await save(TEXT);
    expect(await textsOfAnalyses()).toEqual(['A review', 'Good work.', 'Of earlier days']);
    expect(await readCoach()).toMatchObject({ feedback: 'Good work.' });
  });

  test('come back once', async () => {
    await empty();
    await bringBack(TEXT);
    await save('<p>mine</p><p>more</p>');
    await empty();
    await bringBack('<p>mine</p>');
    // The version of the second deletion has two lines, so its answers wait for both of them.
    expect(await textsOfAnalyses()).toEqual(['Of earlier days']);
    await save('<p>mine</p><p>more</p>');
    expect(await textsOfAnalyses()).toEqual(['A review', 'Good work.', 'Of earlier days']);
  });

  test('go with the version after its time', async () => {
    await empty();
    const later = new Date(Date.now() + (VERSION_DAYS * 24 + 1) * 3_600_000);
    await purgeVersions(db.database, { now: () => later }, new AbortController().signal);
    await bringBack(TEXT);
    expect(await textsOfAnalyses()).toEqual(['Of earlier days']);
    expect(await readCoach()).toEqual(NOTHING);
  });
});

test('feedback that was outdated at the deletion comes back outdated', async () => {
  await analyze("updated_at - interval '1 minute'");
  await remove();
  await insert(TEXT);
  expect(await readCoach()).toEqual({ feedback: 'Good work.', score: 7, upToDate: false });
});

test('a text that is brought back does not replace newer feedback on the day', async () => {
  await remove();
  await insert('<p>Only this</p>');
  await db.admin.query(
    "update entries set ai_feedback = 'Newer.', hustle_score = 3, ai_analyzed_at = now() where user_id = $1 and date = $2",
    [USER, DAY],
  );
  await save(TEXT);
  expect(await readCoach()).toEqual({ feedback: 'Newer.', score: 3, upToDate: false });
});

test('a review of two deleted days is back when both are', async () => {
  await remove();
  await remove(OTHER);
  await insert(TEXT);
  expect(await textsOfAnalyses()).toEqual(['Good work.', 'Of earlier days']);
  await insert('<p>other</p>', OTHER);
  expect(await textsOfAnalyses()).toEqual(['A review', 'Good work.', 'Of earlier days']);
});

test('a review that was generated without a deleted day does not wait for it', async () => {
  await remove();
  await insert('<p>Only this</p>');
  await addAnalysis('A later review', null, addDays(DAY, -6), DAY);
  await remove(OTHER);
  expect(await textsOfAnalyses()).toEqual(['Of earlier days']);
  await insert('<p>other</p>', OTHER);
  expect(await textsOfAnalyses()).toEqual(['A later review', 'Of earlier days']);
});

test('an answer that the table no longer takes is left out, and the log is saved', async () => {
  await remove();
  await db.admin.query(
    `update entry_versions set feedback = jsonb_set(feedback, '{analyses,0,duration_ms}', 'null') where user_id = $1`,
    [USER],
  );
  expect(await insert(TEXT)).toBe(1);
  expect(await readCoach()).toMatchObject({ feedback: 'Good work.' });
});

test('the deletion of another user brings nothing back', async () => {
  await remove();
  await runAs(db.database, 'endless', 'delete from entries where date = $1', [DAY]);
  await runAs(db.database, 'endless', 'insert into entries (user_id, date, content) values ($1, $2, $3)', [
    PEOPLE.endless.id,
    DAY,
    TEXT,
  ]);
  expect(await textsOfAnalyses()).toEqual(['Of earlier days']);
});
