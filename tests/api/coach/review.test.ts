import { beforeEach, describe, expect, test } from 'vitest';
import type { Day } from '#domain/day/day.ts';
import { firstDayOf, type ReviewPeriod } from '#domain/plan/review-period.ts';
import { splitReview } from '#domain/coach/win-bullets.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { GOOD_DAY, PROVIDERS, startCoachWorld } from './fixture.ts';
import { daysAgo, today, type Person } from '../data/fixture.ts';

const review = (period: ReviewPeriod, to: Day = today()) => ({ period, from: firstDayOf(period, to), to });

describe.each(PROVIDERS)('%s', (provider) => {
  const world = setUpWorld(() => startCoachWorld({}, provider));
  let closer: Person;
  beforeEach(async () => {
    world.model.reset();
    closer = await world.createCloser();
    for (const days of [0, 2, 6, 7, 29, 30]) await world.writeLog(closer, daysAgo(days), GOOD_DAY);
    await world.server.admin.query(
      'update public.entries set hustle_score = 10 - ($2::date - date) / 10 where user_id = $1 and date <> $3',
      [closer.id, today(), daysAgo(2)],
    );
  });

  test('analyses exactly the days of the period', async () => {
    const week = await world.review(closer, review('7-day'));
    expect(week.score).toBeNull();
    expect(week.text).toMatch(new RegExp(`^Sandbox model: 3 days with 9 items.*from ${daysAgo(6)} to ${today()}`));
    expect(week.done).toEqual({
      period: '7-day',
      analysis: week.text,
      entryCount: 3,
      dateRange: { from: daysAgo(6), to: today() },
      generatedAt: expect.stringMatching(/Z$/),
      scores: [
        { date: daysAgo(6), score: 10 },
        { date: today(), score: 10 },
      ],
      reused: false,
    });
    const month = await world.review(closer, review('30-day'));
    expect(month.done).toMatchObject({ entryCount: 5, dateRange: { from: daysAgo(29), to: today() } });
    expect(month.done?.scores.map(({ score }) => score)).toEqual([8, 10, 10, 10]);
    expect(await world.countRows(closer)).toEqual({ analyses: 2, uses: 2, claims: 0, tries: 2 });
  });

  test('keeps wins only of days that have a log', async () => {
    expect(splitReview((await world.review(closer, review('7-day'))).text).wins).toEqual(
      [6, 2, 0].map((days) => ({ date: daysAgo(days), text: GOOD_DAY[0] })),
    );
    const prose = 'What you began you ended, and the best of it went to customers the same day.';
    const line = (days: number) => `- ${daysAgo(days)}: Shipped the importer`;
    world.model.fail({ text: [prose, '', '**Wins**', line(7), line(2), line(1)].join('\n') });
    const { text, done } = await world.review(closer, { ...review('7-day'), force: true });
    expect(text).toBe([prose, '', '**Wins**', line(2)].join('\n'));
    expect(done?.analysis).toBe(text);
  });

  test('is stored with its period and replayed with its original time', async () => {
    const first = await world.review(closer, review('7-day'));
    const again = await world.review(closer, review('7-day'));
    expect(again.done).toEqual({ ...first.done, reused: true });
    expect(again.text).toBe(first.text);
    expect(world.model.requests()).toHaveLength(1);
    const { rows } = await world.server.admin.query(
      'select kind, date, period_from::text, period_to::text, score, text from public.analyses where user_id = $1',
      [closer.id],
    );
    expect(rows).toEqual([
      { kind: 'trend', date: null, period_from: daysAgo(6), period_to: today(), score: null, text: first.text },
    ]);
    expect(await world.entry(closer)).toMatchObject({ feedback: null });
  });

  test.each([
    ['deleted', 'delete from public.entries where user_id = $1 and date = $2'],
    ['emptied', "update public.entries set content = '<p></p>' where user_id = $1 and date = $2"],
  ])('is deleted when a day of it is %s, and not stored when that happens while it runs', async (_what, statement) => {
    await world.writeLog(closer, daysAgo(4), ['']);
    await world.review(closer, review('30-day'));
    world.model.fail({ hold: 'after' });
    const received = world.review(closer, review('7-day'));
    await world.model.whenHeld();
    expect(await world.countRows(closer)).toMatchObject({ analyses: 1 });
    await world.server.admin.query(statement, [closer.id, daysAgo(2)]);
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0 });
    world.model.release();
    expect(await received).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 2, claims: 0 });
    expect((await world.review(closer, review('7-day'))).done).toMatchObject({ reused: false });
  });

  test('is kept with its days, also after they have changed, until it is deleted', async () => {
    const readKept = async () => {
      const { rows } = await world.server.admin.query<object>(
        `select period, period_from::text as from, period_to::text as to, entry_count as count, text
           from public.reviews where user_id = $1`,
        [closer.id],
      );
      return rows;
    };
    const { text } = await world.review(closer, review('7-day'));
    const kept = { period: '7-day', from: daysAgo(6), to: today(), count: 3, text };
    expect(await readKept()).toEqual([kept]);
    await world.server.admin.query('delete from public.entries where user_id = $1 and date = $2', [
      closer.id,
      daysAgo(2),
    ]);
    expect(await readKept()).toEqual([kept]);
    const second = await world.review(closer, review('7-day'));
    expect(await readKept()).toEqual([kept, { ...kept, count: 2, text: second.text }]);
    await world.server.admin.query('delete from public.reviews where user_id = $1', [closer.id]);
    const third = await world.review(closer, review('7-day'));
    expect(third.done).toMatchObject({ reused: false });
    expect(await readKept()).toHaveLength(1);
    expect((await world.review(closer, review('7-day'))).done).toMatchObject({ reused: true });
    expect(await readKept()).toHaveLength(1);
  });

  test.each(['length', 'safety', 'nothing'] as const)('a reply that ends with %s is rejected', async (reply) => {
    world.model.fail({ reply });
    expect(await world.review(closer, review('7-day'))).toMatchObject({
      done: null,
      problem: { class: reply === 'safety' ? 'general' : 'format' },
    });
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: reply === 'length' ? 1 : 0, claims: 0 });
  });

  test('a reply whose stream breaks off is rejected', async () => {
    world.model.fail({ cut: 'stream', after: 5 });
    expect(await world.review(closer, review('7-day'))).toMatchObject({ done: null, problem: { class: 'network' } });
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 0, claims: 0 });
  });

  test('a reply under 50 characters is rejected', async () => {
    world.model.fail({ text: 'A fine week, all in all. Nothing to add. Go on!' });
    expect(await world.review(closer, review('7-day'))).toMatchObject({ done: null, problem: { class: 'format' } });
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 1 });
  });
});
