/** Policies of `entries`: every operation of every kind of user on own and foreign logs of every boundary day. */
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../support/set-up.ts';

import {
  ACTORS,
  DAY_LABELS,
  DAY_NAMES,
  DAYS,
  describeOutcome,
  PEOPLE,
  PERSON_NAMES,
  REFUSED,
  resetFixtures,
  runAs,
  type Actor,
  type DayName,
  type Outcome,
} from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

type Row = Record<DayName, Outcome>;
const always = (outcome: Outcome): Row => Object.fromEntries(DAY_NAMES.map((day) => [day, outcome])) as Row;

const recent: Row = { tomorrow: 1, latestToday: 1, earliestToday: 1, firstOpen: 1, firstLocked: 0, longAgo: 0 };
const recentOrRefused: Row = { ...recent, tomorrow: REFUSED, firstLocked: REFUSED, longAgo: REFUSED };
const futureRefused = (row: Row): Row => ({ ...row, tomorrow: REFUSED });

/** An expired and a refunded plan follow the free rules. */
const RULES: Record<Actor, 'free' | 'premium' | 'guest'> = {
  free: 'free',
  expired: 'free',
  refunded: 'free',
  premium: 'premium',
  endless: 'premium',
  guest: 'guest',
};

const OWN: Record<string, Record<'free' | 'premium' | 'guest', Row>> = {
  select: { free: recent, premium: always(1), guest: always(0) },
  insert: { free: recentOrRefused, premium: futureRefused(always(1)), guest: always(REFUSED) },
  update: { free: futureRefused(recent), premium: futureRefused(always(1)), guest: always(REFUSED) },
  delete: { free: recent, premium: always(1), guest: always(REFUSED) },
};
const ownOutcome = (operation: string, actor: Actor, day: DayName) => OWN[operation]![RULES[actor]][day];

const STATEMENTS: Record<string, string> = {
  select: 'select * from entries where user_id = $1 and date = $2',
  insert: "insert into entries (user_id, date, content) values ($1, $2, '<p>new</p>')",
  update: "update entries set content = '<p>new</p>' where user_id = $1 and date = $2",
  delete: 'delete from entries where user_id = $1 and date = $2',
};
const OPERATIONS = Object.keys(STATEMENTS);

describe.each(OPERATIONS)('%s on entries', (operation) => {
  describe.each(ACTORS)('by the %s user', (actor) => {
    const ownCases = DAY_NAMES.map(
      (day) => [DAY_LABELS[day], describeOutcome(ownOutcome(operation, actor, day)), day] as const,
    );
    test.each(ownCases)('for an own log of %s %s', async (_label, _outcome, day) => {
      // A guest has no logs, so the guest tries the logs of the free user.
      const { id } = PEOPLE[actor === 'guest' ? 'free' : actor];
      if (operation === 'insert') await db.admin.query('delete from entries');
      expect(await runAs(db.database, actor, STATEMENTS[operation]!, [id, DAYS[day]])).toBe(
        ownOutcome(operation, actor, day),
      );
    });

    const refusal = operation === 'insert' || (actor === 'guest' && operation !== 'select') ? REFUSED : 0;
    const foreignCases = DAY_NAMES.map((day) => [DAY_LABELS[day], describeOutcome(refusal), day] as const);
    test.each(foreignCases)("for another user's log of %s %s", async (_label, _outcome, day) => {
      const { id } = PEOPLE[actor === 'endless' ? 'premium' : 'endless'];
      expect(await runAs(db.database, actor, STATEMENTS[operation]!, [id, DAYS[day]])).toBe(refusal);
    });
  });
});

describe('a statement without a condition', () => {
  test.each(PERSON_NAMES)('by the %s user reads and deletes only own entries of open days', async (person) => {
    const open = DAY_NAMES.filter((day) => ownOutcome('select', person, day) === 1).length;
    expect(await runAs(db.database, person, 'select * from entries')).toBe(open);
    expect(await runAs(db.database, person, 'delete from entries')).toBe(open);
    const { rows } = await db.admin.query('select count(*) as left from entries');
    expect(rows).toEqual([{ left: PERSON_NAMES.length * DAY_NAMES.length - open }]);
  });

  // An update that reads no column does not apply the select policy: only the update policy protects the rows.
  test.each(PERSON_NAMES)('by the %s user updates only own entries of open days', async (person) => {
    await db.admin.query('delete from entries where date = $1', [DAYS.tomorrow]);
    const open = DAY_NAMES.filter((day) => ownOutcome('update', person, day) === 1).length;
    expect(await runAs(db.database, person, "update entries set content = '<p>new</p>'")).toBe(open);
    const { rows } = await db.admin.query("select user_id from entries where content = '<p>new</p>'");
    expect(rows).toEqual(Array.from({ length: open }, () => ({ user_id: PEOPLE[person].id })));
  });

  test.each(PERSON_NAMES)(
    'by the %s user cannot move entries to another user or out of the open days',
    async (person) => {
      const { id } = PEOPLE[person];
      const other = PEOPLE[person === 'free' ? 'premium' : 'free'].id;
      await db.admin.query('delete from entries where user_id <> $1 or date <> $2', [id, DAYS.firstOpen]);
      expect(await runAs(db.database, person, 'update entries set user_id = $1', [other])).toBe(REFUSED);
      for (const day of DAY_NAMES) {
        const outcome = ownOutcome('insert', person, day);
        expect(await runAs(db.database, person, 'update entries set date = $1', [DAYS[day]])).toBe(outcome);
      }
    },
  );
});

const move = (column: 'user_id' | 'date') => `update entries set ${column} = $3 where user_id = $1 and date = $2`;

describe('moving an entry', () => {
  test.each(PERSON_NAMES)('from the %s user to another user is refused', async (person) => {
    const other = PEOPLE[person === 'free' ? 'premium' : 'free'].id;
    await db.admin.query('delete from entries where user_id = $1', [other]);
    const values = [PEOPLE[person].id, DAYS.earliestToday, other];
    expect(await runAs(db.database, person, move('user_id'), values)).toBe(REFUSED);
  });

  test.each([
    ['free', 'tomorrow'],
    ['premium', 'tomorrow'],
    ['free', 'firstLocked'],
    ['expired', 'longAgo'],
  ] as const)('by the %s user to a day outside the plan is refused: %s', async (person, day) => {
    await db.admin.query('delete from entries where date = $1', [DAYS[day]]);
    const values = [PEOPLE[person].id, DAYS.firstOpen, DAYS[day]];
    expect(await runAs(db.database, person, move('date'), values)).toBe(REFUSED);
  });

  test.each([
    ['firstOpen', '23505'],
    // Threat: probing for logs on locked days. The refusal is the same with and without a log.
    ['firstLocked', REFUSED],
  ] as const)('by a free user to a day with an entry fails: %s with %s', async (day, outcome) => {
    const values = [PEOPLE.free.id, DAYS.earliestToday, DAYS[day]];
    expect(await runAs(db.database, 'free', move('date'), values)).toBe(outcome);
  });

  test('by a free user from a locked day affects no row', async () => {
    await db.admin.query('delete from entries where date = $1', [DAYS.firstOpen]);
    const values = [PEOPLE.free.id, DAYS.firstLocked, DAYS.firstOpen];
    expect(await runAs(db.database, 'free', move('date'), values)).toBe(0);
  });

  test('by a free user within the open days succeeds', async () => {
    await db.admin.query('delete from entries where date = $1', [DAYS.earliestToday]);
    const values = [PEOPLE.free.id, DAYS.firstOpen, DAYS.earliestToday];
    expect(await runAs(db.database, 'free', move('date'), values)).toBe(1);
  });
});

describe('an upsert into entries', () => {
  const upsert = `insert into entries (user_id, date, content) values ($1, $2, '<p>new</p>')
    on conflict (user_id, date) do update set user_id = excluded.user_id, date = excluded.date, content = excluded.content`;

  test.each([
    ['free', 'latestToday', 1],
    ['free', 'firstOpen', 1],
    // Threat: probing for logs on locked days. The refusal is the same with and without a log.
    ['free', 'firstLocked', REFUSED],
    ['premium', 'longAgo', 1],
    ['premium', 'tomorrow', REFUSED],
    ['guest', 'latestToday', REFUSED],
  ] as const)('by the %s user on %s results in %s', async (actor, day, outcome) => {
    const { id } = PEOPLE[actor === 'guest' ? 'free' : actor];
    expect(await runAs(db.database, actor, upsert, [id, DAYS[day]])).toBe(outcome);
  });

  test("by a premium user on another user's entry is refused", async () => {
    expect(await runAs(db.database, 'premium', upsert, [PEOPLE.endless.id, DAYS.latestToday])).toBe(REFUSED);
  });
});

describe('a row id that a user chooses', () => {
  const ID = '5f2c0d3e-8a51-4b7e-9f62-3c1d7a90b4e8';
  const insert = 'insert into entries (id, user_id, date, content) values ($1, $2, $3, $4)';
  const insertAs = (actor: 'free' | 'premium', id: string, day: DayName) =>
    runAs(db.database, actor, insert, [id, PEOPLE[actor].id, DAYS[day], '<p>new</p>']);
  beforeEach(() => db.admin.query('delete from entries'));

  test('is stored as the id of the row', async () => {
    expect(await insertAs('free', ID, 'latestToday')).toBe(1);
    const { rows } = await db.admin.query('select id, user_id from entries');
    expect(rows).toEqual([{ id: ID, user_id: PEOPLE.free.id }]);
  });

  test('is refused for a second row, also on another day', async () => {
    await insertAs('free', ID, 'earliestToday');
    expect(await insertAs('free', ID, 'latestToday')).toBe('23505');
    expect((await db.admin.query('select date from entries')).rowCount).toBe(1);
  });

  // Threat: with the id of another user's row, a refusal would reveal the row, and an id taken in advance would block
  // it.
  test('is independent of the ids of other users', async () => {
    expect(await insertAs('premium', ID, 'latestToday')).toBe(1);
    expect(await insertAs('free', ID, 'latestToday')).toBe(1);
    const update = "update entries set content = '<p>stolen</p>' where id = $1";
    expect(await runAs(db.database, 'free', update, [ID])).toBe(1);
    const { rows } = await db.admin.query('select user_id, content_text from entries order by content_text');
    expect(rows).toEqual([
      { user_id: PEOPLE.premium.id, content_text: 'new' },
      { user_id: PEOPLE.free.id, content_text: 'stolen' },
    ]);
  });

  test('cannot be changed later, not by an upsert either', async () => {
    await insertAs('free', ID, 'latestToday');
    const other = '00000000-0000-4000-8000-000000000001';
    expect(await runAs(db.database, 'free', 'update entries set id = $1', [other])).toBe(REFUSED);
    const upsert = `${insert} on conflict (user_id, date) do update set id = excluded.id`;
    const values = [other, PEOPLE.free.id, DAYS.latestToday, '<p>new</p>'];
    expect(await runAs(db.database, 'free', upsert, values)).toBe(REFUSED);
  });
});
