/** What many questions to the coach cost everybody else: counted in statements, in what they answer, and in turns. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CAPS } from '#server/coach/prompts.ts';
import type { Statements } from '#server/database/database.ts';
import { firstDayOf } from '#domain/plan/review-period.ts';
import { GOOD_DAY, openStream, startCoachWorld } from './world.ts';
import type { CoachWorld } from './world.ts';
import { daysAgo, signUp, today } from '../data/world.ts';
import type { Person } from '../data/world.ts';

const DATE = { date: today() };
const MONTH = { period: '30-day', from: firstDayOf('30-day', today()), to: today() };
const FULL_DAY = ['слово '.repeat(20_000)];

let world: CoachWorld;
let closer: Person;
beforeAll(async () => {
  world = await startCoachWorld({ AI_DAILY_LIMIT: '2' });
});
beforeEach(async () => {
  world.model.reset();
  closer = await world.newCloser();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => world.close());

type Seen = { text: string; rows: readonly unknown[] };

/** Every statement that the server sends from now on with its answer; `before` may hold it back. */
function watchStatements(before: (text: string) => Promise<void> | void = () => undefined): Seen[] {
  const seen: Seen[] = [];
  const watched = <S extends Statements>(statements: S): S => ({
    ...statements,
    async statement(text: string, values: readonly unknown[]) {
      await before(text);
      const result = await statements.statement(text, values);
      seen.push({ text, rows: result.rows });
      return result;
    },
  });
  const { database } = world.server;
  const [asUser, asService] = [database.asUser.bind(database), database.asService.bind(database)];
  vi.spyOn(database, 'asUser').mockImplementation((identity) => watched(asUser(identity)));
  vi.spyOn(database, 'asService').mockImplementation((reason) => watched(asService(reason)));
  return seen;
}

const readsLogs = (text: string): boolean => /content_text/.test(text);
const lengthOf = (seen: readonly Seen[]): number => JSON.stringify(seen.map(({ rows }) => rows)).length;
const rowsOf = async (person: Person): Promise<number> =>
  (await world.server.admin.query('select from public.analysis_runs where user_id = $1', [person.id])).rowCount ?? 0;

const save = async ({ client, id }: Person) =>
  (await client.from('entries').upsert({ user_id: id, date: today(), content: '<p>And one more thing</p>' })).error;

async function fillMonth(person: Person): Promise<void> {
  for (let days = 0; days < 30; days += 1) await world.wrote(person, daysAgo(days), FULL_DAY);
}

const ask = (person: Person, name: 'feedback' | 'trend', force = false) =>
  name === 'feedback' ? world.feedback(person, { ...DATE, force }) : world.trend(person, { ...MONTH, force });

describe.each(['feedback', 'trend'] as const)('%s', (name) => {
  test('of somebody who may not have it costs two small statements, however much they wrote', async () => {
    const free = await signUp(world.server, `free-${name}`);
    await fillMonth(free);
    await world.server.admin.query(`update public.profiles set ai_consent = false where id = $1`, [closer.id]);
    for (const who of [free, closer]) {
      const seen = watchStatements();
      expect((await ask(who, name)).status).toBe(403);
      expect(seen.filter(({ text }) => readsLogs(text))).toEqual([]);
      expect(lengthOf(seen)).toBeLessThan(1_000);
      vi.restoreAllMocks();
    }
  });

  test('of full days reads no more of them than the model is shown', async () => {
    await fillMonth(closer);
    const seen = watchStatements();
    expect((await ask(closer, name)).done).not.toBeNull();
    const read = seen.filter(({ text }) => readsLogs(text));
    expect(read).toHaveLength(1);
    expect(lengthOf(read)).toBeLessThan(Math.max(CAPS.trend, CAPS.newestRead + 3 * CAPS.earlierLog) + 3_000);
    expect(world.model.requests().at(-1)?.body).toContain(String.raw`\"cut\":true`);
  });

  test('beyond the limit of the day reads no log and leaves no row', async () => {
    await fillMonth(closer);
    for (let tries = 0; tries < 2; tries += 1) expect((await ask(closer, name, true)).done).not.toBeNull();
    const rows = await rowsOf(closer);
    const seen = watchStatements();
    expect((await ask(closer, name, true)).status).toBe(429);
    expect(seen.filter(({ text }) => readsLogs(text))).toEqual([]);
    for (let days = 1; days < 5; days += 1) {
      expect((await world.feedback(closer, { date: daysAgo(days) })).status).toBe(429);
    }
    expect(await rowsOf(closer)).toBe(rows);
  });

  test('of three people at once is read for two; the third waits, and a save does not', async () => {
    const people = [closer, await world.newCloser(), await world.newCloser()];
    for (const person of people) await world.wrote(person, today(), GOOD_DAY);
    const { promise: mayRead, resolve: readOn } = Promise.withResolvers<void>();
    let reading = 0;
    const seen = watchStatements(async (text) => {
      if (!readsLogs(text)) return;
      reading += 1;
      await mayRead;
    });
    const heard = people.map((person) => ask(person, name));
    await expect.poll(() => reading).toBe(2);
    // The third has been let in by then, and its logs are not read yet.
    await expect.poll(() => seen.filter(({ text }) => /ai_consent/.test(text)).length).toBe(3);
    expect(await save(closer)).toBeNull();
    expect(reading).toBe(2);
    readOn();
    for (const { done } of await Promise.all(heard)) expect(done).not.toBeNull();
  });

  test('asked for without end is told to come back', async () => {
    await world.wrote(closer, today(), GOOD_DAY);
    const { promise: mayRead, resolve: readOn } = Promise.withResolvers<void>();
    watchStatements((text) => (readsLogs(text) ? mayRead : undefined));
    const refused = Promise.withResolvers<Awaited<ReturnType<typeof ask>>>();
    const all = Array.from({ length: 14 }, async () => {
      const heard = await ask(closer, name);
      if (heard.status === 503) refused.resolve(heard);
      return heard.status;
    });
    const { headers, json } = await refused.promise;
    expect(headers.get('retry-after')).toBe('1');
    expect(json).toMatchObject({ success: false, error: expect.stringContaining('try again') });
    expect(await save(closer)).toBeNull();
    readOn();
    expect(new Set(await Promise.all(all))).toEqual(new Set([200, 409, 503]));
  });
});

describe('whoever leaves before the model is asked', () => {
  const CLAIM = /insert into public\.analysis_runs/;

  /** Leaves while a statement is under way that begins so, and comes back once the server has seen it. */
  async function leaveDuring(begins: RegExp): Promise<void> {
    const [reached, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    watchStatements(async (text) => {
      if (!begins.test(text)) return;
      reached.resolve();
      await mayGoOn.promise;
    });
    const leaving = new AbortController();
    const opened = openStream(world.server, closer, 'ai-feedback', DATE, leaving.signal);
    await reached.promise;
    leaving.abort();
    await expect(opened).rejects.toThrow();
    // Answered on a connection of its own, after the one that was closed.
    for (let looks = 0; looks < 3; looks += 1) await fetch(`${world.server.url}/healthz`, { keepalive: false });
    mayGoOn.resolve();
  }

  const ended = () => world.logged.filter((line) => /"route":"\/functions/.test(line)).length;

  test.each([
    ['while the claim is written', CLAIM],
    ['while the tries are counted', /delete from public\.analysis_runs/],
  ])('%s has had no try', async (_when, statement) => {
    await world.wrote(closer, today(), GOOD_DAY);
    const before = ended();
    await leaveDuring(statement);
    await expect.poll(ended).toBeGreaterThan(before);
    await expect.poll(() => world.kept(closer)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 0 });
    expect(world.model.requests()).toEqual([]);
  });

  test('and while the logs are read makes no claim', async () => {
    await world.wrote(closer, today(), GOOD_DAY);
    const before = ended();
    await leaveDuring(/content_text/);
    await expect.poll(ended).toBeGreaterThan(before);
    expect(await rowsOf(closer)).toBe(0);
  });
});

test('what was begun before midnight still counts among the five at once', async () => {
  const other = await startCoachWorld();
  const { cleo, model, server } = other;
  const days = [0, 1, 2, 3, 4, 5].map(daysAgo);
  for (const day of days) await other.wrote(cleo, day, GOOD_DAY);
  model.fail({ hold: 'before', times: 5 });
  const heard = days.slice(0, 5).map((date) => other.feedback(cleo, { date }));
  await model.whenHeld(5);
  await server.admin.query('update public.analysis_runs set counted_on = counted_on - 1');
  expect(await other.feedback(cleo, { date: days[5]! })).toMatchObject({ status: 409, json: { code: 'running' } });
  model.release();
  for (const { done } of await Promise.all(heard)) expect(done).not.toBeNull();
  await other.close();
});
