/**
 * What happens to somebody while the coach answers them: their words go, their agreement, their plan or their session
 * ends. Nothing more is sent then, nothing lands where it does not belong, and what was read is a use of the plan.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { firstDayOf } from '#domain/plan/review-period.ts';
import { GOOD_DAY, startCoachWorld } from './world.ts';
import type { CoachWorld } from './world.ts';
import { today } from '../data/world.ts';
import type { Person } from '../data/world.ts';

const DATE = { date: today() };
const WEEK = { period: '7-day', from: firstDayOf('7-day', today()), to: today() };
/** The question is held once all of the answer has been told, before its end. */
const TOLD = { hold: 'after', after: 1_000 } as const;

let world: CoachWorld;
let closer: Person;
beforeAll(async () => {
  world = await startCoachWorld();
});
beforeEach(async () => {
  world.model.reset();
  closer = await world.newCloser();
  await world.wrote(closer, today(), GOOD_DAY);
});
afterAll(() => world.close());

const sql = (text: string) => world.server.admin.query(text, [closer.id]);
const ENTRY_GONE = 'delete from public.entries where user_id = $1';

describe.each(['feedback', 'trend'] as const)('%s', (name) => {
  const ask = () => world[name](closer, name === 'feedback' ? DATE : WEEK);

  test('is a use when it was read, and its day was deleted with the last word and put back', async () => {
    world.model.fail(TOLD);
    const asking = ask();
    await world.model.whenHeld();
    await sql(ENTRY_GONE);
    await world.wrote(closer, today(), GOOD_DAY);
    world.model.release();
    const heard = await asking;
    expect(heard).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(heard.text.length).toBeGreaterThan(50);
    expect(await world.kept(closer)).toEqual({ analyses: 0, uses: 1, claims: 0, tries: 1 });
    expect(await world.entry(closer)).toMatchObject({ feedback: null, score: null, analyzedAt: null });
  });

  const OVER: [what: string, end: () => Promise<unknown>][] = [
    ['agreement is taken back', () => sql('update public.profiles set ai_consent = false where id = $1')],
    ['plan ends', () => sql(`update public.profiles set subscription_plan = 'free' where id = $1`)],
    ['session is ended everywhere', () => closer.client.auth.signOut({ scope: 'global' })],
  ];

  test.each(OVER)('is not asked for a second time once the %s', async (_what, end) => {
    world.model.fail({ hold: 'before', status: 500 });
    const asking = ask();
    await world.model.whenHeld();
    await end();
    world.model.release();
    expect(await asking).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(world.model.requests()).toHaveLength(1);
    expect(await world.kept(closer)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 1 });
  });

  test.each(OVER)('is not kept once the %s, and a use as far as it was read', async (_what, end) => {
    world.model.fail(TOLD);
    const asking = ask();
    await world.model.whenHeld();
    await end();
    world.model.release();
    expect(await asking).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(await world.kept(closer)).toEqual({ analyses: 0, uses: 1, claims: 0, tries: 1 });
    expect(await world.entry(closer)).toMatchObject({ feedback: null });
  });

  test('that was told and then turned out to be none is a use; one that was broken off is not', async () => {
    const telling = {
      score: 9,
      feedback: 'A very fine day, and everything in it was shipped.',
      cited: [],
      missingFact: '',
    };
    const broken =
      name === 'feedback' ? JSON.stringify(telling).replace(/\}$/, ',"feedback":"No."}') : 'Fine so far. Go on!';
    world.model.fail({ text: broken });
    expect((await ask()).problem).toMatchObject({ class: 'format' });
    expect(await world.kept(closer)).toMatchObject({ analyses: 0, uses: 1 });
    for (const fault of [{ cut: 'stream', after: 3 }, { status: 500, after: 3 }, { reply: 'safety' }] as const) {
      world.model.fail(fault);
      expect((await ask()).problem).not.toBeNull();
    }
    expect(await world.kept(closer)).toMatchObject({ analyses: 0, uses: 1, claims: 0 });
  });
});

test('other words that stand on the day by then are not the ones that were read', async () => {
  world.model.fail({ hold: 'after', after: 2 });
  const asking = world.feedback(closer, DATE);
  await world.model.whenHeld();
  await sql(ENTRY_GONE);
  await world.wrote(closer, today(), ['Wrote the quote for the Weber kitchen']);
  world.model.release();
  expect((await asking).done).toBeNull();
  expect(await world.entry(closer)).toMatchObject({ feedback: null, score: null });
});

test('a review is not kept when a log has been moved out of its days by then', async () => {
  world.model.fail(TOLD);
  const asking = world.trend(closer, WEEK);
  await world.model.whenHeld();
  await sql('update public.entries set date = date - 30 where user_id = $1');
  world.model.release();
  expect((await asking).done).toBeNull();
  expect(await world.kept(closer)).toMatchObject({ analyses: 0, claims: 0 });
});
