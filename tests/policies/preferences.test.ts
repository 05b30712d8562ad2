/** Policies and limits of `preferences`, and the schedule that follows them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { setUpTestDatabase } from '../support/set-up.ts';
import { ACTORS, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures, runAs } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

const CHECK_VIOLATION = '23514';
const set = (change: string) => `update preferences set ${change} where user_id = '${PEOPLE.free.id}'`;

describe('preferences', () => {
  test.each(ACTORS)('the %s user reads at most their own preferences', async (actor) => {
    expect(await runAs(db.database, actor, 'select * from preferences')).toBe(actor === 'guest' ? REFUSED : 1);
  });

  test.each(PERSON_NAMES)('the %s user changes only their own, even without a condition', async (person) => {
    expect(await runAs(db.database, person, 'update preferences set day_ends_at = 3')).toBe(1);
    const { rows } = await db.admin.query('select user_id from preferences where day_ends_at = 3');
    expect(rows).toEqual([{ user_id: PEOPLE[person].id }]);
  });

  test('a user cannot write preferences of another user, or delete their own', async () => {
    await db.admin.query('delete from preferences');
    const insert = 'insert into preferences (user_id) values ($1)';
    expect(await runAs(db.database, 'free', insert, [PEOPLE.premium.id])).toBe(REFUSED);
    expect(await runAs(db.database, 'free', insert, [PEOPLE.free.id])).toBe(1);
    expect(await runAs(db.database, 'free', 'update preferences set user_id = $1', [PEOPLE.premium.id])).toBe(REFUSED);
    expect(await runAs(db.database, 'free', 'delete from preferences')).toBe(REFUSED);
  });

  test.each([
    "time_zone = ''",
    "time_zone = 'Europe/Lisbon; drop'",
    `time_zone = repeat('a', 65)`,
    "workdays = '{7}'",
    "workdays = '{-1}'",
    "workdays = '{null}'",
    "workdays = '{1,1,1,1,1,1,1,1}'",
    'remind_at = 359',
    'remind_at = 1381',
    'day_ends_at = 1',
  ])('the value %s is rejected', async (change) => {
    expect(await runAs(db.database, 'free', set(change))).toBe(CHECK_VIOLATION);
  });

  test.each([
    "time_zone = 'America/Argentina/ComodRivadavia'",
    "workdays = '{}'",
    "workdays = '{0,6}'",
    'remind_at = 360',
  ])('the value %s is stored', async (change) => {
    expect(await runAs(db.database, 'free', set(change))).toBe(1);
  });

  test('deleting an account deletes its preferences, its schedule and its tokens', async () => {
    await db.admin.query(
      "insert into mail_tokens (user_id, token_hash, purpose, day, expires_at) values ($1, 'x', 'tap', '2026-01-05', now())",
      [PEOPLE.free.id],
    );
    await db.admin.query('delete from auth.users where id = $1', [PEOPLE.free.id]);
    for (const table of ['preferences', 'reminder_schedule', 'mail_tokens']) {
      expect((await db.admin.query(`select from ${table} where user_id = $1`, [PEOPLE.free.id])).rowCount, table).toBe(
        0,
      );
    }
  });
});

describe('the schedule', () => {
  const readSchedule = async () =>
    (
      await db.admin.query<Record<string, unknown>>(
        `select kind, due_at = 'infinity' as "isOff", day, sent_day from reminder_schedule where user_id = $1 order by kind desc`,
        [PEOPLE.free.id],
      )
    ).rows;
  const planAll = () =>
    db.admin.query(
      "update reminder_schedule set day = '2026-01-05', sent_day = '2026-01-02', lease = gen_random_uuid()",
    );

  test.each(ACTORS)('the %s user can neither read nor write it', async (actor) => {
    for (const table of ['reminder_schedule', 'mail_tokens']) {
      expect(await runAs(db.database, actor, `select * from ${table}`)).toBe(REFUSED);
      expect(await runAs(db.database, actor, `delete from ${table}`)).toBe(REFUSED);
    }
  });

  test('is off by default, and with an hour but no channel', async () => {
    expect(await runAs(db.database, 'free', set('remind_at = 1080'))).toBe(1);
    expect(await readSchedule()).toEqual([
      { kind: 'reminder', isOff: true, day: null, sent_day: null },
      { kind: 'digest', isOff: true, day: null, sent_day: null },
    ]);
  });

  test('a change of what it depends on plans it again and keeps the last day', async () => {
    await runAs(db.database, 'free', set('remind_at = 1080, remind_by_mail = true'));
    await planAll();
    expect(await runAs(db.database, 'free', set("time_zone = 'Asia/Tokyo'"))).toBe(1);
    expect(await readSchedule()).toMatchObject([
      { kind: 'reminder', isOff: false, day: null, sent_day: '2026-01-02' },
      { kind: 'digest', isOff: true, day: null, sent_day: '2026-01-02' },
    ]);
  });

  test('a change of something else leaves it', async () => {
    await runAs(db.database, 'free', set('remind_at = 1080, remind_by_push = true, digest = true'));
    await planAll();
    expect(await runAs(db.database, 'free', set('prompts = true'))).toBe(1);
    expect(await readSchedule()).toMatchObject([
      { kind: 'reminder', isOff: false, day: '2026-01-05' },
      { kind: 'digest', isOff: false, day: '2026-01-05' },
    ]);
  });
});
