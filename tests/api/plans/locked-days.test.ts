/**
 * A locked day reveals only its date (the view `entry_dates`): every other request is answered as if the log did not
 * exist. Each request is sent without and with the log. The same requests of a premium user must get different answers,
 * which proves that they can reveal a log at all.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, earliestToday } from '#domain/day/day.ts';
import { FREE_WINDOW_DAYS } from '#domain/plan/plan.ts';
import type { WireResponse, Person } from '../data/fixture.ts';
import { FREE_KINDS, KINDS, startPlanWorld, type PlanWorld } from './fixture.ts';

/** A day has just ended for everybody, so `LOCKED`, until then the oldest open day, is locked. */
const AT = new Date('2026-10-25T15:00:00Z');
const TODAY = earliestToday(AT);
const FIRST_OPEN = addDays(TODAY, 1 - FREE_WINDOW_DAYS);
const LOCKED = addDays(FIRST_OPEN, -1);
const WORD = 'kestrel';

let world: PlanWorld;
beforeAll(async () => {
  world = await startPlanWorld();
  await world.clock.set(AT.toISOString());
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const path = '/rest/v1/entries';
const FIND = '/functions/v1/find-entries';
const ID = '11111111-2222-4333-8444-555555555555';
const answerAll = { prefer: 'return=representation,count=exact' };
const merge = { prefer: 'resolution=merge-duplicates,return=representation' };
const ignore = { prefer: 'resolution=ignore-duplicates,return=representation' };

type LogRequest = [method: string, query: string, headers?: Record<string, string>, body?: (person: Person) => unknown];
const row = (date: string) => (person: Person) => ({ user_id: person.id, date, content: '<p>new</p>' });
const rows = (dates: string[]) => (person: Person) => dates.map((date) => row(date)(person));

const REQUESTS: LogRequest[] = [
  ['GET', ''],
  ['GET', `?date=eq.${LOCKED}`],
  ['GET', `?date=lt.${FIRST_OPEN}&select=date`],
  ['GET', `?date=gte.${LOCKED}&date=lte.${LOCKED}&select=date,revision`],
  ['GET', `?date=in.(${LOCKED},${TODAY})&select=date`],
  ['GET', `?date=not.gte.${FIRST_OPEN}&select=id`],
  ['GET', `?or=(date.eq.${LOCKED},date.eq.1999-01-01)&select=date`],
  ['GET', `?not.and=(date.gte.${FIRST_OPEN},date.lte.9999-12-31)&select=date`],
  ['GET', `?content_text=ilike.*${WORD}*&select=date`],
  ['GET', `?content=like.*${WORD}*&select=date`],
  ['GET', `?id=eq.${ID}&select=id`],
  ['GET', '?hustle_score=eq.9&select=hustle_score'],
  ['GET', '?ai_feedback=not.is.null&select=ai_feedback'],
  ['GET', '?select=date&order=date.asc&limit=1'],
  ['GET', '?select=date&order=hustle_score.desc.nullslast&limit=1'],
  ['GET', '?select=date&order=date.desc&offset=1'],
  ['GET', `?date=eq.${LOCKED}`, { accept: 'application/vnd.pgrst.object+json' }],
  ['GET', '?select=date&order=date', { prefer: 'count=exact', range: '0-0' }],
  ['GET', '?select=date&limit=0', { prefer: 'count=exact' }],
  ['GET', '?select=date&limit=0', { prefer: 'count=planned' }],
  ['GET', '?select=date&limit=0', { prefer: 'count=estimated' }],
  ['HEAD', `?date=lte.${LOCKED}`, { prefer: 'count=exact' }],
  ['PATCH', `?date=eq.${LOCKED}`, answerAll, () => ({ content: '<p>new</p>' })],
  ['PATCH', `?date=eq.${LOCKED}`, {}, () => ({ content: '<p>new</p>' })],
  ['PATCH', `?id=eq.${ID}`, answerAll, () => ({ date: addDays(TODAY, -1) })],
  ['PATCH', `?date=lte.${LOCKED}&revision=eq.1`, answerAll, () => ({ content: '<p>new</p>' })],
  ['PATCH', `?date=eq.${TODAY}`, {}, () => ({ date: LOCKED })],
  ['PATCH', `?date=eq.${TODAY}&columns=date`, {}, () => ({ date: LOCKED, content: 'left out' })],
  ['DELETE', `?date=eq.${LOCKED}`, answerAll],
  ['DELETE', `?date=lt.${FIRST_OPEN}`, answerAll],
  ['DELETE', `?id=eq.${ID}`, answerAll],
  ['DELETE', `?content_text=like.*${WORD}*`, answerAll],
  ['POST', '', {}, row(LOCKED)],
  ['POST', '?select=date,revision', answerAll, row(LOCKED)],
  ['POST', '?select=date,revision', merge, row(LOCKED)],
  ['POST', '?on_conflict=user_id,date&select=date', ignore, row(LOCKED)],
  ['POST', '?select=date,revision', merge, rows([TODAY, LOCKED])],
  ['POST', '?select=date', ignore, rows([TODAY, LOCKED])],
  ['POST', '?columns=user_id,date,content', {}, rows([addDays(TODAY, -2), LOCKED])],
  ['POST', FIND, {}, () => ({ query: WORD })],
  ['POST', FIND, {}, () => ({ query: `flew ${WORD.slice(0, 3)}` })],
];

async function send(person: Person, [method, query, headers, body]: LogRequest) {
  const answer = await world.request(person, method, query.startsWith('/') ? query : path + query, {
    headers: headers ?? {},
    body: body?.(person),
  });
  return { observed: revealingParts(answer), isRejected: answer.status === 403, stored: await readLockedLog(person) };
}

/** The parts of a response that could reveal a log. */
const revealingParts = ({ status, headers, text }: WireResponse): string =>
  [status, headers.get('content-range'), headers.get('preference-applied'), text].join('\n');

async function readLockedLog(person: Person): Promise<unknown> {
  const text = 'select id, content, revision, updated_at from public.entries where user_id = $1 and date = $2';
  return (await world.server.admin.query(text, [person.id, LOCKED])).rows;
}

/** Inserts a log of today and, if `locked`, a log on the locked day with every column that could reveal the log. */
async function arrange(person: Person, locked: boolean): Promise<unknown> {
  await world.resetPlans(TODAY);
  // The ids of deleted logs are not used again.
  await world.server.admin.query('delete from public.entry_versions where user_id = $1', [person.id]);
  await world.server.admin.query(
    `insert into public.entries (user_id, date, id, content, created_at, updated_at, hustle_score, ai_feedback)
     select $1, date, id, content, $2, $2, score, feedback from (values
       ($3::date, '99999999-2222-4333-8444-555555555555'::uuid, '<p>today</p>', null::int, null),
       ($4::date, $5::uuid, $6, 9, 'About the ${WORD}')) as log(date, id, content, score, feedback)
     where date = $3 or $7`,
    [person.id, AT.toISOString(), TODAY, LOCKED, ID, `<p>The ${WORD} flew</p>`, locked],
  );
  return readLockedLog(person);
}

describe.each(REQUESTS)('%s %s %j', (...request) => {
  test.each(FREE_KINDS)('reveals nothing to the plan %s', async (kind) => {
    const person = world.people[kind];
    await arrange(person, false);
    const without = await send(person, request);
    const before = await arrange(person, true);
    const withLog = await send(person, request);
    expect(withLog.observed).toBe(without.observed);
    expect(withLog.observed).not.toContain(WORD);
    // The log is unchanged, and no log was created.
    expect(withLog.stored).toEqual(before);
    expect(without.stored).toEqual([]);
  });

  test('reveals the log to a premium user', async () => {
    const person = world.people.premium;
    await arrange(person, false);
    const without = await send(person, request);
    await arrange(person, true);
    const withLog = await send(person, request);
    expect(without.isRejected || withLog.isRejected).toBe(false);
    expect(withLog.observed).not.toBe(without.observed);
  });
});

test.each(KINDS)('rejects aggregates, embedded tables and functions from the plan %s', async (kind) => {
  for (const [query, code] of [
    ['/rest/v1/entries?select=count()', 'PGRST123'],
    ['/rest/v1/entries?select=date.min()', 'PGRST123'],
    ['/rest/v1/profiles?select=id,entries(date)', 'PGRST200'],
    ['/rest/v1/entries?order=profiles(id)', '42703'],
    ['/rest/v1/rpc/first_free_day', 'PGRST202'],
    ['/rest/v1/rpc/is_premium', 'PGRST202'],
  ] as const) {
    expect(await world.request(world.people[kind], 'GET', query)).toMatchObject({ json: { code } });
  }
});

test('rejects dates outside the calendar', async () => {
  const { free } = world.people;
  await world.resetPlans(TODAY);
  for (const date of ['0001-01-01', '0001-01-01 BC', '-infinity', 'infinity', '10000-01-01']) {
    const answer = await world.request(free, 'POST', path, { body: row(date)(free) });
    expect([400, 403]).toContain(answer.status);
  }
});
