/** Users of the policy tests: one per plan state, each with a log on every boundary day, and a guest. */
import pg from 'pg';

import { addDays, earliestCurrentDay, earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import type { Database, Identity } from '#server/database/database.ts';

const now = new Date();
const first = earliestToday(now);
const firstOpen = addDays(earliestCurrentDay(now), -29);

/** The boundary days of the policies, and one day far in the past. */
export const DAYS = {
  tomorrow: addDays(latestToday(now), 1),
  latestToday: latestToday(now),
  earliestToday: first,
  firstOpen,
  firstLocked: addDays(firstOpen, -1),
  longAgo: addDays(first, -400),
} as const satisfies Record<string, Day>;
export type DayName = keyof typeof DAYS;
export const DAY_NAMES = Object.keys(DAYS) as DayName[];

/** The name of each day in test titles. */
export const DAY_LABELS: Readonly<Record<DayName, string>> = {
  tomorrow: 'a future day',
  latestToday: 'the latest today on Earth',
  earliestToday: 'the earliest today on Earth',
  firstOpen: 'the oldest of 30 free days',
  firstLocked: 'a day older than 30 days',
  longAgo: 'a day 400 days ago',
};

const yesterday = addDays(first, -1);
export const PEOPLE = {
  free: { id: '00000000-0000-4000-8000-000000000001', plan: 'free', until: null },
  premium: { id: '00000000-0000-4000-8000-000000000002', plan: 'premium', until: first },
  endless: { id: '00000000-0000-4000-8000-000000000003', plan: 'premium', until: null },
  expired: { id: '00000000-0000-4000-8000-000000000004', plan: 'premium', until: yesterday },
  /** As after a refund: plan `free` with a date in the future. The plan decides, so this user has no paid access. */
  refunded: { id: '00000000-0000-4000-8000-000000000005', plan: 'free', until: addDays(first, 100) },
} as const;
export type Person = keyof typeof PEOPLE;
export type Actor = Person | 'guest';
export const PERSON_NAMES = Object.keys(PEOPLE) as Person[];
export const ACTORS: Actor[] = [...PERSON_NAMES, 'guest'];

/** Restores the initial rows of all users. */
export async function resetFixtures(admin: pg.Pool): Promise<void> {
  const ids = PERSON_NAMES.map((person) => PEOPLE[person].id);
  await admin.query('delete from auth.users');
  await admin.query('insert into auth.users (id) select unnest($1::uuid[])', [ids]);
  for (const { id, plan, until } of Object.values(PEOPLE)) {
    await admin.query('update profiles set subscription_plan = $2, access_valid_until = $3 where id = $1', [
      id,
      plan,
      until,
    ]);
  }
  await admin.query('insert into preferences (user_id) select unnest($1::uuid[])', [ids]);
  await admin.query(
    "insert into time_off (user_id, first_day, last_day) select unnest($1::uuid[]), '2026-12-21', '2026-12-31'",
    [ids],
  );
  await admin.query(
    `insert into entries (user_id, date, content) select id, date, '<p>mine</p>' from unnest($1::uuid[]) id, unnest($2::date[]) date`,
    [ids, Object.values(DAYS)],
  );
}

export function identityOf(actor: Actor): Identity {
  if (actor === 'guest') return { role: 'anon', claimsJson: '{}' };
  return { role: 'authenticated', claimsJson: JSON.stringify({ sub: PEOPLE[actor].id, role: 'authenticated' }) };
}

/** The number of affected rows, or the SQLSTATE of the error. */
export type Outcome = number | string;

/** insufficient_privilege: a missing grant, or a policy violation. */
export const REFUSED = '42501';

/** Describes an outcome in a test title. */
export function describeOutcome(outcome: Outcome): string {
  if (outcome === REFUSED) return 'is refused';
  return outcome === 0 ? 'affects no row' : `affects ${outcome} row`;
}

export async function runAs(
  database: Database,
  actor: Actor | 'service',
  text: string,
  values: readonly unknown[] = [],
): Promise<Outcome> {
  const acting = actor === 'service' ? database.asService('test') : database.asUser(identityOf(actor));
  try {
    return (await acting.statement(text, values)).rowCount;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code) return error.code;
    throw error;
  }
}
