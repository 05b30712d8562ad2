/**
 * A log is deleted, or consent, plan or session end while an analysis runs: no further request is sent, no result is
 * stored on the wrong log, and output that the user received counts as a plan use.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { firstDayOf } from '#domain/plan/review-period.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { GOOD_DAY, startCoachWorld } from './fixture.ts';
import { today, type Person } from '../data/fixture.ts';

const DATE = { date: today() };
const WEEK = { period: '7-day', from: firstDayOf('7-day', today()), to: today() };
/** Holds the stream after the whole text and before its end. */
const HOLD_AT_END = { hold: 'after', after: 1_000 } as const;

const world = setUpWorld(startCoachWorld);
let closer: Person;
beforeEach(async () => {
  world.model.reset();
  closer = await world.createCloser();
  await world.writeLog(closer, today(), GOOD_DAY);
});

const sql = (text: string) => world.server.admin.query(text, [closer.id]);
const DELETE_ENTRY = 'delete from public.entries where user_id = $1';

describe.each(['feedback', 'review'] as const)('%s', (name) => {
  const requestAnalysis = () => world[name](closer, name === 'feedback' ? DATE : WEEK);

  test('counts as a use when the user deletes and rewrites the day at the end of the stream', async () => {
    world.model.fail(HOLD_AT_END);
    const asking = requestAnalysis();
    await world.model.whenHeld();
    await sql(DELETE_ENTRY);
    await world.writeLog(closer, today(), GOOD_DAY);
    world.model.release();
    const received = await asking;
    expect(received).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(received.text.length).toBeGreaterThan(50);
    expect(await world.countRows(closer)).toEqual({ analyses: 0, uses: 1, claims: 0, tries: 1 });
    expect(await world.entry(closer)).toMatchObject({ feedback: null, score: null, analyzedAt: null });
  });

  const REVOCATIONS: [what: string, end: () => Promise<unknown>][] = [
    ['consent is withdrawn', () => sql('update public.profiles set ai_consent = false where id = $1')],
    ['plan ends', () => sql(`update public.profiles set subscription_plan = 'free' where id = $1`)],
    ['session is ended everywhere', () => closer.client.auth.signOut({ scope: 'global' })],
  ];

  test.each(REVOCATIONS)('is not retried after the %s', async (_what, end) => {
    world.model.fail({ hold: 'before', status: 500 });
    const asking = requestAnalysis();
    await world.model.whenHeld();
    await end();
    world.model.release();
    expect(await asking).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(world.model.requests()).toHaveLength(1);
    expect(await world.countRows(closer)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 1 });
  });

  test.each(REVOCATIONS)('is not stored but counts as a use after the %s', async (_what, end) => {
    world.model.fail(HOLD_AT_END);
    const asking = requestAnalysis();
    await world.model.whenHeld();
    await end();
    world.model.release();
    expect(await asking).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(await world.countRows(closer)).toEqual({ analyses: 0, uses: 1, claims: 0, tries: 1 });
    expect(await world.entry(closer)).toMatchObject({ feedback: null });
  });

  test('counts as a use if streamed output turns out invalid, but not if the provider breaks off', async () => {
    const reply = {
      score: 9,
      feedback: 'A very fine day, and everything in it was shipped.',
      cited: [],
      missingFact: '',
    };
    const invalidReply =
      name === 'feedback' ? JSON.stringify(reply).replace(/\}$/, ',"feedback":"No."}') : 'Fine so far. Go on!';
    world.model.fail({ text: invalidReply });
    expect((await requestAnalysis()).problem).toMatchObject({ class: 'format' });
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 1 });
    for (const fault of [{ cut: 'stream', after: 3 }, { status: 500, after: 3 }, { reply: 'safety' }] as const) {
      world.model.fail(fault);
      expect((await requestAnalysis()).problem).not.toBeNull();
    }
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 1, claims: 0 });
  });
});

test('feedback is not written to a new log of the same day', async () => {
  world.model.fail({ hold: 'after', after: 2 });
  const asking = world.feedback(closer, DATE);
  await world.model.whenHeld();
  await sql(DELETE_ENTRY);
  await world.writeLog(closer, today(), ['Wrote the quote for the Weber kitchen']);
  world.model.release();
  expect((await asking).done).toBeNull();
  expect(await world.entry(closer)).toMatchObject({ feedback: null, score: null });
});

test('a review is not stored when a log has been moved out of its period', async () => {
  world.model.fail(HOLD_AT_END);
  const asking = world.review(closer, WEEK);
  await world.model.whenHeld();
  await sql('update public.entries set date = date - 30 where user_id = $1');
  world.model.release();
  expect((await asking).done).toBeNull();
  expect(await world.countRows(closer)).toMatchObject({ analyses: 0, claims: 0 });
});
