/** Who may have what analysed: all of it is decided before anything is sent to anybody, and by the database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AI_MESSAGES, dailyLimitText } from '#domain/coach/coach.ts';
import { addDays, earliestToday, latestToday } from '#domain/day/day.ts';
import { QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import { firstDayOf } from '#domain/plan/review-period.ts';
import { GOOD_DAY, startCoachWorld } from './world.ts';
import type { CoachWorld } from './world.ts';
import { daysAgo, signUp, today } from '../data/world.ts';
import type { Person } from '../data/world.ts';

const DATE = { date: today() };
const WEEK = { period: '7-day', from: firstDayOf('7-day', today()), to: today() };

let world: CoachWorld;
let person: Person;
beforeAll(async () => {
  world = await startCoachWorld({ AI_DAILY_LIMIT: '3' });
});
beforeEach(async () => {
  world.model.reset();
  person = await world.newCloser();
});
afterAll(() => world.close());

const profile = (set: string) =>
  world.server.admin.query(`update public.profiles set ${set} where id = $1`, [person.id]);

const FUNCTIONS = [
  ['feedback', DATE, AI_MESSAGES.premium],
  ['trend', WEEK, AI_MESSAGES.reviewsPremium],
] as const;

describe.each(FUNCTIONS)('%s', (name, body, premium) => {
  const call = (who: Person | null, asked: unknown = body) => world[name](who, asked);

  beforeEach(() => world.wrote(person, today(), GOOD_DAY));

  test('is for Closers, as the database judges them at this moment', async () => {
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

  test('needs an agreement, which can be taken back', async () => {
    await profile('ai_consent = false');
    const refusal = { success: false, code: 'ai_consent', error: AI_MESSAGES.noConsent };
    expect(await call(person)).toMatchObject({ status: 403, json: refusal });
    const agree = (ai_consent: boolean) => person.client.from('profiles').update({ ai_consent }).eq('id', person.id);
    expect((await agree(true)).error).toBeNull();
    expect((await call(person)).status).toBe(200);
    await agree(false);
    expect(await call(person)).toMatchObject({ status: 403, json: refusal });
  });

  test('asks a guest to sign in', async () => {
    expect((await call(null)).status).toBe(401);
  });

  test.each([{}, { date: 'today' }, { date: '2026-02-30' }, { period: '8-day' }, 'text', null, []])(
    'does not take %j',
    async (asked) => {
      expect(await call(person, asked)).toMatchObject({ status: 400, json: { code: 'bad_request' } });
    },
  );

  test('sees nothing of what others wrote', async () => {
    const other = await world.newCloser();
    expect(await call(other)).toMatchObject({ status: 404, json: { code: 'no_entry' } });
    expect(await call(other, { ...body, user_id: person.id })).toMatchObject({ status: 404 });
  });

  test('has a limit for the day, and says when the next one begins', async () => {
    for (let tries = 0; tries < 3; tries += 1) expect((await call(person, { ...body, force: true })).status).toBe(200);
    const refused = await call(person, { ...body, force: true });
    expect(refused).toMatchObject({ status: 429, json: { code: 'daily_limit', error: dailyLimitText(3) } });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
    // What has been paid for is told for ever.
    expect((await call(person)).done).toMatchObject({ reused: true });
    await world.server.admin.query('update public.analysis_runs set counted_on = counted_on - 1 where user_id = $1', [
      person.id,
    ]);
    expect((await call(person, { ...body, force: true })).status).toBe(200);
    expect(await world.kept(person)).toMatchObject({ claims: 0, tries: 1 });
  });

  test('an analysis that failed before its first word, and one that was refused, are none of the day', async () => {
    world.model.fail({ status: 403, times: 5 });
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await call(person)).problem).toMatchObject({ class: 'configuration' });
    }
    expect(await world.kept(person)).toMatchObject({ claims: 0, tries: 0, uses: 0 });
    expect((await call(person)).done).not.toBeNull();
  });
});

describe('feedback', () => {
  test('needs a log of that day', async () => {
    const refusal = { success: false, code: 'no_entry', error: AI_MESSAGES.noEntry };
    expect(await world.feedback(person, DATE)).toMatchObject({ status: 404, json: refusal });
  });

  test.each([
    [['Nine char'], 400],
    [['   Nine char   '], 400],
    [['Ten chars.'], 200],
    [['One', 'two', 'thr'], 200],
  ])('needs 10 characters: %j is answered with %i', async (items, status) => {
    await world.wrote(person, today(), items);
    const heard = await world.feedback(person, DATE);
    expect(heard.status).toBe(status);
    if (status === 400) expect(heard.json).toMatchObject({ code: 'too_short', error: AI_MESSAGES.tooShort });
  });

  test.each(QUICK_ENTRIES.map(({ text }) => text))('is not given on "%s"', async (text) => {
    await world.wrote(person, today(), [text]);
    const refusal = { success: false, code: 'canned', error: AI_MESSAGES.canned };
    expect(await world.feedback(person, DATE)).toMatchObject({ status: 400, json: refusal });
  });

  test('is given on a day of long ago, with what was written before it', async () => {
    await world.wrote(person, daysAgo(400), GOOD_DAY);
    expect((await world.feedback(person, { date: daysAgo(400) })).done).toMatchObject({ upToDate: true });
  });

  test('nothing is sent to anybody for what is refused', async () => {
    await world.feedback(person, DATE);
    expect(world.model.requests()).toEqual([]);
    expect(await world.kept(person)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 0 });
  });
});

describe('a trend', () => {
  test('needs a log in the period', async () => {
    await world.wrote(person, daysAgo(7), GOOD_DAY);
    const refusal = { success: false, code: 'no_entry', error: AI_MESSAGES.emptyPeriod };
    expect(await world.trend(person, WEEK)).toMatchObject({ status: 404, json: refusal });
    await world.wrote(person, daysAgo(6), GOOD_DAY);
    expect((await world.trend(person, WEEK)).status).toBe(200);
  });

  test('needs more than 10 characters in one of its logs', async () => {
    await world.wrote(person, today(), ['Ten chars.']);
    await world.wrote(person, daysAgo(1), ['Short']);
    expect(await world.trend(person, WEEK)).toMatchObject({ status: 400, json: { code: 'too_short' } });
    await world.wrote(person, daysAgo(1), ['Eleven char']);
    expect((await world.trend(person, WEEK)).status).toBe(200);
  });

  test('ends on a day that is today somewhere, and begins where its name says', async () => {
    await world.wrote(person, today(), GOOD_DAY);
    const now = new Date();
    const ask = async (period: '7-day' | '30-day', to = today(), from = firstDayOf(period, to)) =>
      (await world.trend(person, { period, from, to })).status;
    expect(await ask('7-day', earliestToday(now))).not.toBe(400);
    expect(await ask('30-day', latestToday(now))).toBe(200);
    expect(await ask('7-day', addDays(earliestToday(now), -1))).toBe(400);
    expect(await ask('7-day', addDays(latestToday(now), 1))).toBe(400);
    expect(await ask('7-day', today(), daysAgo(29))).toBe(400);
    expect(await ask('30-day', today(), daysAgo(30))).toBe(400);
  });
});

describe('without a provider', () => {
  test('a Closer is told so, and nobody else learns of it', async () => {
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
