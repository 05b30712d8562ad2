/** Refusals of the coach. The database decides them before anything is sent to the provider. */
import { beforeEach, describe, expect, test } from 'vitest';
import { AI_MESSAGES, dailyLimitText } from '#domain/coach/coach.ts';
import { addDays, earliestCurrentDay, earliestToday, latestToday } from '#domain/day/day.ts';
import { QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import { firstDayOf } from '#domain/plan/review-period.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { GOOD_DAY, startCoachWorld } from './fixture.ts';
import { daysAgo, signUp, today, type Person } from '../data/fixture.ts';

const DATE = { date: today() };
const WEEK = { period: '7-day', from: firstDayOf('7-day', today()), to: today() };

const world = setUpWorld(() => startCoachWorld({ AI_DAILY_LIMIT: '3' }));
let person: Person;
beforeEach(async () => {
  world.model.reset();
  person = await world.createCloser();
});

const profile = (set: string) =>
  world.server.admin.query(`update public.profiles set ${set} where id = $1`, [person.id]);

const FUNCTIONS = [
  ['feedback', DATE, AI_MESSAGES.premium],
  ['review', WEEK, AI_MESSAGES.reviewsPremium],
] as const;

describe.each(FUNCTIONS)('%s', (name, body, premium) => {
  const call = (caller: Person | null, sent: unknown = body) => world[name](caller, sent);

  beforeEach(() => world.writeLog(person, today(), GOOD_DAY));

  test('refuses a user whose plan is free or has ended', async () => {
    for (const plan of [
      `subscription_plan = 'free'`,
      `subscription_plan = 'premium', access_valid_until = '${addDays(earliestToday(new Date()), -1)}'`,
      `subscription_plan = 'free', access_valid_until = '9999-12-31'`,
    ]) {
      await profile(plan);
      expect(await call(person)).toMatchObject({
        status: 403,
        json: { success: false, code: 'premium', error: premium },
      });
    }
    await profile(`subscription_plan = 'premium', access_valid_until = '${earliestToday(new Date())}'`);
    expect((await call(person)).status).toBe(200);
  });

  test('refuses a user who has not given consent or has withdrawn it', async () => {
    await profile('ai_consent = false');
    const refusal = { success: false, code: 'ai_consent', error: AI_MESSAGES.noConsent };
    expect(await call(person)).toMatchObject({ status: 403, json: refusal });
    const setConsent = (ai_consent: boolean) =>
      person.client.from('profiles').update({ ai_consent }).eq('id', person.id);
    expect((await setConsent(true)).error).toBeNull();
    expect((await call(person)).status).toBe(200);
    await setConsent(false);
    expect(await call(person)).toMatchObject({ status: 403, json: refusal });
  });

  test('answers a guest with 401', async () => {
    expect((await call(null)).status).toBe(401);
  });

  test.each([{}, { date: 'today' }, { date: '2026-02-30' }, { period: '8-day' }, 'text', null, []])(
    'rejects the body %j',
    async (sent) => {
      expect(await call(person, sent)).toMatchObject({ status: 400, json: { code: 'bad_request' } });
    },
  );

  test("does not read another user's logs", async () => {
    const other = await world.createCloser();
    expect(await call(other)).toMatchObject({ status: 404, json: { code: 'no_entry' } });
    expect(await call(other, { ...body, user_id: person.id })).toMatchObject({ status: 404 });
  });

  test('enforces the daily limit and sends Retry-After', async () => {
    for (let tries = 0; tries < 3; tries += 1) expect((await call(person, { ...body, force: true })).status).toBe(200);
    const refused = await call(person, { ...body, force: true });
    expect(refused).toMatchObject({ status: 429, json: { code: 'daily_limit', error: dailyLimitText(3) } });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
    // A stored analysis is replayed even when the daily limit is reached.
    expect((await call(person)).done).toMatchObject({ reused: true });
    await world.server.admin.query('update public.analysis_runs set counted_on = counted_on - 1 where user_id = $1', [
      person.id,
    ]);
    expect((await call(person, { ...body, force: true })).status).toBe(200);
    expect(await world.countRows(person)).toMatchObject({ claims: 0, tries: 1 });
  });

  test('does not count analyses that fail before their first output towards the daily limit', async () => {
    world.model.fail({ status: 403, times: 5 });
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await call(person)).problem).toMatchObject({ class: 'configuration' });
    }
    expect(await world.countRows(person)).toMatchObject({ claims: 0, tries: 0, uses: 0 });
    expect((await call(person)).done).not.toBeNull();
  });
});

describe('feedback', () => {
  test('is refused for a day without a log', async () => {
    const refusal = { success: false, code: 'no_entry', error: AI_MESSAGES.noEntry };
    expect(await world.feedback(person, DATE)).toMatchObject({ status: 404, json: refusal });
  });

  test.each([
    [['Nine char'], 400],
    [['   Nine char   '], 400],
    [['Ten chars.'], 200],
    [['One', 'two', 'thr'], 200],
  ])('needs 10 characters: answers %j with %i', async (items, status) => {
    await world.writeLog(person, today(), items);
    const received = await world.feedback(person, DATE);
    expect(received.status).toBe(status);
    if (status === 400) expect(received.json).toMatchObject({ code: 'too_short', error: AI_MESSAGES.tooShort });
  });

  test.each(QUICK_ENTRIES.map(({ text }) => text))('is refused for the quick entry "%s"', async (text) => {
    await world.writeLog(person, today(), [text]);
    const refusal = { success: false, code: 'canned', error: AI_MESSAGES.canned };
    expect(await world.feedback(person, DATE)).toMatchObject({ status: 400, json: refusal });
  });

  test('is given on a day 400 days ago', async () => {
    await world.writeLog(person, daysAgo(400), GOOD_DAY);
    expect((await world.feedback(person, { date: daysAgo(400) })).done).toMatchObject({ upToDate: true });
  });

  test('sends nothing to the provider and writes no row for a refused request', async () => {
    await world.feedback(person, DATE);
    expect(world.model.requests()).toEqual([]);
    expect(await world.countRows(person)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 0 });
  });
});

describe('review', () => {
  test('is refused for a period without a log', async () => {
    await world.writeLog(person, daysAgo(7), GOOD_DAY);
    const refusal = { success: false, code: 'no_entry', error: AI_MESSAGES.emptyPeriod };
    expect(await world.review(person, WEEK)).toMatchObject({ status: 404, json: refusal });
    await world.writeLog(person, daysAgo(6), GOOD_DAY);
    expect((await world.review(person, WEEK)).status).toBe(200);
  });

  test('is refused when no log of the period has more than 10 characters', async () => {
    await world.writeLog(person, today(), ['Ten chars.']);
    await world.writeLog(person, daysAgo(1), ['Short']);
    expect(await world.review(person, WEEK)).toMatchObject({ status: 400, json: { code: 'too_short' } });
    await world.writeLog(person, daysAgo(1), ['Eleven char']);
    expect((await world.review(person, WEEK)).status).toBe(200);
  });

  test('rejects a range that does not end on a possible today or does not match its period', async () => {
    await world.writeLog(person, today(), GOOD_DAY);
    const now = new Date();
    const requestReview = async (period: '7-day' | '30-day', to = today(), from = firstDayOf(period, to)) =>
      (await world.review(person, { period, from, to })).status;
    expect(await requestReview('7-day', earliestCurrentDay(now))).not.toBe(400);
    expect(await requestReview('30-day', latestToday(now))).toBe(200);
    expect(await requestReview('7-day', addDays(earliestCurrentDay(now), -1))).toBe(400);
    expect(await requestReview('7-day', addDays(latestToday(now), 1))).toBe(400);
    expect(await requestReview('7-day', today(), daysAgo(29))).toBe(400);
    expect(await requestReview('30-day', today(), daysAgo(30))).toBe(400);
  });
});

describe('without a provider', () => {
  test('a premium user gets not_configured and a free user gets the refusal of the plan', async () => {
    const without = await startCoachWorld({ AI_PROVIDER: 'none' });
    const refusal = { success: false, code: 'not_configured', error: AI_MESSAGES.notConfigured };
    const dabbler = await signUp(without.server, 'dabbler');
    for (const [name, body] of FUNCTIONS) {
      expect(await without[name](without.cleo, body)).toMatchObject({ status: 503, json: refusal });
      expect(await without[name](dabbler, body)).toMatchObject({ status: 403, json: { code: 'premium' } });
    }
    await without.close();
  });
});
