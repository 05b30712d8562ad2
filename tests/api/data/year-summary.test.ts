/** The days, tags and names of a year: a plan that does not open a day gives its date alone. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { YearAnswer } from '#domain/year.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { daysAgo, startDataWorld, today, type Person } from './fixture.ts';

const world = setUpWorld(startDataWorld);
beforeEach(() => world.server.admin.query('delete from public.entries'));
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));

const PATH = '/functions/v1/year-summary';

async function write(person: Person, date: string, lines: readonly string[], score: number | null = null) {
  await world.server.admin.query(
    'insert into public.entries (user_id, date, content, hustle_score) values ($1, $2, $3, $4)',
    [person.id, date, lines.map((line) => `<p>${line}</p>`).join(''), score],
  );
}

async function read(person: Person, year: string): Promise<YearAnswer> {
  const response = await world.request(person, 'POST', PATH, { body: { year } });
  expect(response.status, response.text).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return response.json as YearAnswer;
}

test('gives the days of one year with scores and lines, its tags and names, and the first log of all', async () => {
  const { cleo, ana } = world;
  for (const date of ['2001-03-01', '2001-03-02', '2001-12-31'])
    await write(cleo, date, ['Sent the offer to Weber #sales', 'Slept'], 7);
  await write(cleo, '2001-05-05', []);
  await write(cleo, '2000-06-01', ['Begun with Weber']);
  await write(cleo, '2002-01-01', ['#other']);
  await write(ana, '2001-03-05', ['Called Weber #secret']);
  expect(await read(cleo, '2001')).toEqual({
    success: true,
    days: ['2001-03-01', '2001-03-02', '2001-12-31'].map((date) => ({ date, score: 7, lines: 2 })),
    first: '2000-06-01',
    tags: [{ text: '#sales', days: 3 }],
    names: [{ text: 'Weber', days: 3 }],
  });
});

test('gives the dates of locked days without scores, lines, tags and names', async () => {
  const { ana } = world;
  for (const day of ['2001-03-01', '2001-03-02', '2001-03-03']) await write(ana, day, ['Saw Weber #old'], 9);
  await write(ana, today(), ['#new'], 5);
  expect(await read(ana, '2001')).toMatchObject({
    days: ['2001-03-01', '2001-03-02', '2001-03-03'].map((date) => ({ date, score: null, lines: null })),
    tags: [],
    names: [],
  });
  expect(await read(ana, today().slice(0, 4))).toMatchObject({
    days: [{ date: today(), score: 5, lines: 1 }],
    first: '2001-03-01',
    tags: [{ text: '#new', days: 1 }],
  });
});

test('knows nothing of an account without logs', async () => {
  expect(await read(world.cleo, '2001')).toEqual({ success: true, days: [], first: null, tags: [], names: [] });
});

test.each([undefined, [], '1', '0000', '20011', 'year', '2001-01'])('refuses the year %j', async (year) => {
  expect((await world.request(world.cleo, 'POST', PATH, { body: { year } })).status).toBe(400);
});

test('refuses a guest', async () => {
  await write(world.cleo, daysAgo(1), ['Words']);
  expect((await world.request(null, 'POST', PATH, { body: { year: '2001' } })).status).toBe(401);
});
