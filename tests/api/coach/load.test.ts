/** Cost of many coach requests for other users: statements, result sizes and queueing. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCoach } from '#server/coach/coach.ts';
import { PROMPT_LIMITS } from '#server/coach/prompts.ts';
import type { Statements } from '#server/database/database.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { createRequestContext, runInRequestContext } from '#server/load/request-context.ts';
import { firstDayOf } from '#domain/plan/review-period.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { GOOD_DAY, openStream, startCoachWorld } from './fixture.ts';
import { daysAgo, signUp, today, type Person } from '../data/fixture.ts';

const DATE = { date: today() };
const MONTH = { period: '30-day', from: firstDayOf('30-day', today()), to: today() };
const FULL_DAY = ['слово '.repeat(20_000)];

const world = setUpWorld(() => startCoachWorld({ AI_DAILY_LIMIT: '2' }));
let closer: Person;
beforeEach(async () => {
  world.model.reset();
  closer = await world.createCloser();
});
afterEach(() => vi.restoreAllMocks());

type SentStatement = { text: string; rows: readonly unknown[] };

/** Records every statement from now on with its result. `before` may delay a statement. */
function recordStatements(before: (text: string) => Promise<void> | void = () => undefined): SentStatement[] {
  const sent: SentStatement[] = [];
  const recording = <S extends Statements>(statements: S): S => ({
    ...statements,
    async statement(text: string, values: readonly unknown[]) {
      await before(text);
      const result = await statements.statement(text, values);
      sent.push({ text, rows: result.rows });
      return result;
    },
  });
  const { database } = world.server;
  const [asUser, asService] = [database.asUser.bind(database), database.asService.bind(database)];
  vi.spyOn(database, 'asUser').mockImplementation((identity) => recording(asUser(identity)));
  vi.spyOn(database, 'asService').mockImplementation((reason) => recording(asService(reason)));
  return sent;
}

const isLogQuery = (text: string): boolean => /content_text/.test(text);
const resultSize = (sent: readonly SentStatement[]): number => JSON.stringify(sent.map(({ rows }) => rows)).length;
const countRuns = async (person: Person): Promise<number> =>
  (await world.server.admin.query('select from public.analysis_runs where user_id = $1', [person.id])).rowCount ?? 0;

const save = async ({ client, id }: Person) =>
  (await client.from('entries').upsert({ user_id: id, date: today(), content: '<p>And one more thing</p>' })).error;

async function fillMonth(person: Person): Promise<void> {
  for (let days = 0; days < 30; days += 1) await world.writeLog(person, daysAgo(days), FULL_DAY);
}

const requestAnalysis = (person: Person, name: 'feedback' | 'review', force = false) =>
  name === 'feedback' ? world.feedback(person, { ...DATE, force }) : world.review(person, { ...MONTH, force });

describe.each(['feedback', 'review'] as const)('%s', (name) => {
  test('refuses a user without plan or consent with two small queries', async () => {
    const free = await signUp(world.server, `free-${name}`);
    await fillMonth(free);
    await world.server.admin.query(`update public.profiles set ai_consent = false where id = $1`, [closer.id]);
    for (const person of [free, closer]) {
      const sent = recordStatements();
      expect((await requestAnalysis(person, name)).status).toBe(403);
      expect(sent.filter(({ text }) => isLogQuery(text))).toEqual([]);
      expect(resultSize(sent)).toBeLessThan(1_000);
      vi.restoreAllMocks();
    }
  });

  test('loads no more of long logs than the prompt contains', async () => {
    await fillMonth(closer);
    const sent = recordStatements();
    expect((await requestAnalysis(closer, name)).done).not.toBeNull();
    const read = sent.filter(({ text }) => isLogQuery(text));
    expect(read).toHaveLength(1);
    expect(resultSize(read)).toBeLessThan(
      Math.max(PROMPT_LIMITS.review, PROMPT_LIMITS.newestRead + 3 * PROMPT_LIMITS.earlierLog) + 3_000,
    );
    expect(world.model.requests().at(-1)?.body).toContain(String.raw`\"cut\":true`);
  });

  test('over the daily limit loads no log and writes no row', async () => {
    await fillMonth(closer);
    for (let tries = 0; tries < 2; tries += 1) expect((await requestAnalysis(closer, name, true)).done).not.toBeNull();
    const rows = await countRuns(closer);
    const sent = recordStatements();
    expect((await requestAnalysis(closer, name, true)).status).toBe(429);
    expect(sent.filter(({ text }) => isLogQuery(text))).toEqual([]);
    for (let days = 1; days < 5; days += 1) {
      expect((await world.feedback(closer, { date: daysAgo(days) })).status).toBe(429);
    }
    expect(await countRuns(closer)).toBe(rows);
  });

  test('loads logs for two users at a time without delaying saves', async () => {
    const people = [closer, await world.createCloser(), await world.createCloser()];
    for (const person of people) await world.writeLog(person, today(), GOOD_DAY);
    const { promise: readsAllowed, resolve: allowReads } = Promise.withResolvers<void>();
    let reading = 0;
    const sent = recordStatements(async (text) => {
      if (!isLogQuery(text)) return;
      reading += 1;
      await readsAllowed;
    });
    const received = people.map((person) => requestAnalysis(person, name));
    await expect.poll(() => reading).toBe(2);
    // Waits until the third request has passed the access check: from then on it waits for the limiter.
    await expect.poll(() => sent.filter(({ text }) => /ai_consent/.test(text)).length).toBe(3);
    expect(await save(closer)).toBeNull();
    expect(reading).toBe(2);
    allowReads();
    for (const { done } of await Promise.all(received)) expect(done).not.toBeNull();
  });

  test('answers 503 with Retry-After when one user queues too many requests', async () => {
    await world.writeLog(closer, today(), GOOD_DAY);
    const { promise: readsAllowed, resolve: allowReads } = Promise.withResolvers<void>();
    recordStatements((text) => (isLogQuery(text) ? readsAllowed : undefined));
    const [refused, running] = [
      Promise.withResolvers<Awaited<ReturnType<typeof requestAnalysis>>>(),
      Promise.withResolvers<void>(),
    ];
    world.model.fail({ hold: 'before' });
    const all = Array.from({ length: 14 }, async () => {
      const received = await requestAnalysis(closer, name);
      if (received.status === 503) refused.resolve(received);
      if (received.status === 409) running.resolve();
      return received.status;
    });
    const { headers, json } = await refused.promise;
    expect(headers.get('retry-after')).toBe('1');
    expect(json).toMatchObject({ success: false, error: expect.stringContaining('try again') });
    expect(await save(closer)).toBeNull();
    allowReads();
    await running.promise;
    world.model.release();
    expect(new Set(await Promise.all(all))).toEqual(new Set([200, 409, 503]));
  });
});

describe('a client that disconnects before the provider is called', () => {
  const CLAIM = /insert into public\.analysis_runs/;

  /** Disconnects the client while a matching statement is held, and then lets the statement run. */
  async function disconnectDuring(statement: RegExp): Promise<void> {
    const [reached, canContinue] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    recordStatements(async (text) => {
      if (!statement.test(text)) return;
      reached.resolve();
      await canContinue.promise;
    });
    const disconnect = new AbortController();
    const opened = openStream(world.server, closer, 'ai-feedback', DATE, disconnect.signal);
    await reached.promise;
    disconnect.abort();
    await expect(opened).rejects.toThrow();
    // Each health check uses a new connection, so the server handles it after the closed one.
    for (let checks = 0; checks < 3; checks += 1) await fetch(`${world.server.url}/healthz`, { keepalive: false });
    canContinue.resolve();
  }

  const countLoggedRequests = () => world.logged.filter((line) => /"route":"\/functions/.test(line)).length;

  test.each([
    ['while the claim is written', CLAIM],
    ['while the tries are counted', /delete from public\.analysis_runs/],
  ])('%s uses up no try', async (_when, statement) => {
    await world.writeLog(closer, today(), GOOD_DAY);
    const before = countLoggedRequests();
    await disconnectDuring(statement);
    await expect.poll(countLoggedRequests).toBeGreaterThan(before);
    await expect.poll(() => world.countRows(closer)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 0 });
    expect(world.model.requests()).toEqual([]);
  });

  test('while the logs are loaded makes no claim', async () => {
    await world.writeLog(closer, today(), GOOD_DAY);
    const before = countLoggedRequests();
    await disconnectDuring(/content_text/);
    await expect.poll(countLoggedRequests).toBeGreaterThan(before);
    expect(await countRuns(closer)).toBe(0);
  });
});

test('an analysis from before midnight still counts towards the five concurrent ones', async () => {
  const other = await startCoachWorld();
  const { cleo, model, server } = other;
  const days = [0, 1, 2, 3, 4, 5].map(daysAgo);
  for (const day of days) await other.writeLog(cleo, day, GOOD_DAY);
  model.fail({ hold: 'before', times: 5 });
  const received = days.slice(0, 5).map((date) => other.feedback(cleo, { date }));
  await model.whenHeld(5);
  await server.admin.query('update public.analysis_runs set counted_on = counted_on - 1');
  expect(await other.feedback(cleo, { date: days[5]! })).toMatchObject({ status: 409, json: { code: 'running' } });
  model.release();
  for (const { done } of await Promise.all(received)) expect(done).not.toBeNull();
  await other.close();
});

test('refuses, counts and delays an analysis beyond those that may run, until one ends', async () => {
  const limiters = createLimiters();
  const coach = createCoach({
    settings: world.server.config.coach!,
    database: world.server.database,
    clock: world.server.clock,
    // Two analyses at a time. One client address may hold half of the quota, so only one.
    limiters: { ...limiters, createQuota: (name) => limiters.createQuota(name, 2) },
    log: pino({ enabled: false }),
  });
  const context = createRequestContext('192.0.2.1');
  const open = new AbortController().signal;
  async function beginAnalysis(person: Person) {
    await world.writeLog(person, today(), GOOD_DAY);
    const claimsJson = JSON.stringify({ sub: person.id, role: 'authenticated' });
    const caller = { identity: { role: 'authenticated', claimsJson } as const, userId: person.id };
    return runInRequestContext(context, () => coach.feedback(caller, DATE, open));
  }
  const state = () => limiters.states().quotas.get('analyses');
  const [first, other] = [await beginAnalysis(closer), await world.createCloser()];
  if (first === 'disconnected' || !('events' in first)) throw new Error('the first analysis was refused');
  expect(state()).toEqual({ taken: 1, refused: 0, displaced: 0 });
  await expect(beginAnalysis(other)).rejects.toMatchObject({ name: 'BusyError', reason: 'full' });
  expect(state()).toEqual({ taken: 1, refused: 1, displaced: 0 });
  expect(context.wasRefused).toBe(true);
  expect(await countRuns(other)).toBe(0);
  for await (const { event } of first.events(open)) expect(event).not.toBe('problem');
  expect(state()).toEqual({ taken: 0, refused: 1, displaced: 0 });
  // A refusal after the quota is taken gives it back: another process runs an analysis of this day.
  await world.server.admin.query(
    `insert into public.analysis_runs (user_id, kind, key, run, lease_until, counted_on, tries)
     values ($1, 'feedback', $2, gen_random_uuid(), now() + interval '1 minute', current_date, 1)`,
    [other.id, today()],
  );
  expect(await beginAnalysis(other)).toEqual({ refused: 'running' });
  expect(state()).toEqual({ taken: 0, refused: 1, displaced: 0 });
});
