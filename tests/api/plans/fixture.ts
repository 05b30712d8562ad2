/** One user per kind of plan, and a database with an adjustable clock. */
import { addDays, type Day } from '#domain/day/day.ts';
import type { PlanId } from '#domain/plan/plan.ts';
import { createDatabaseClock, type DatabaseClock } from '../../support/database-clock.ts';
import { signUp, startDataWorld, type DataWorld, type Person } from '../data/fixture.ts';

/** `expired`: the last valid day has passed, but `expirePlans` has not run yet. `refunded`: the plan was withdrawn. */
export const KINDS = ['free', 'premium', 'endless', 'expired', 'refunded'] as const;
export type Kind = (typeof KINDS)[number];
export const FREE_KINDS = ['free', 'expired', 'refunded'] as const satisfies readonly Kind[];
export const PREMIUM_KINDS = ['premium', 'endless'] as const satisfies readonly Kind[];

export type PlanWorld = DataWorld & {
  readonly people: Readonly<Record<Kind, Person>>;
  readonly clock: DatabaseClock;
  /** Deletes all logs and gives each user the plan of their kind, relative to the earliest today on Earth. */
  resetPlans(earliestToday: Day): Promise<void>;
  /** Inserts logs as the table owner, so that no day is locked. */
  insertLogs(person: Person, days: readonly Day[]): Promise<void>;
};

export async function startPlanWorld(): Promise<PlanWorld> {
  const world = await startDataWorld();
  const { admin } = world.server;
  const signedUp = await Promise.all(KINDS.map(async (kind) => [kind, await signUp(world.server, kind)] as const));
  const people = Object.fromEntries(signedUp) as Record<Kind, Person>;
  return {
    ...world,
    people,
    clock: await createDatabaseClock(admin),
    async resetPlans(earliestToday) {
      const plans: Record<Kind, [PlanId, Day | null]> = {
        free: ['free', null],
        premium: ['premium', earliestToday],
        endless: ['premium', null],
        expired: ['premium', addDays(earliestToday, -1)],
        refunded: ['free', addDays(earliestToday, 100)],
      };
      await admin.query('delete from public.entries');
      // They hold the feedback of the deleted logs, which would come back with the same text.
      await admin.query('delete from public.entry_versions');
      for (const kind of KINDS) {
        await admin.query('update public.profiles set subscription_plan = $2, access_valid_until = $3 where id = $1', [
          people[kind].id,
          ...plans[kind],
        ]);
      }
    },
    async insertLogs(person, days) {
      await admin.query(
        `insert into public.entries (user_id, date, content) select $1, date, '<p>then</p>' from unnest($2::date[]) date`,
        [person.id, days],
      );
    },
  };
}

/** The `count` days that end with `last`, oldest first. */
export const daysUntil = (last: Day, count: number): Day[] =>
  Array.from({ length: count }, (_, index) => addDays(last, index + 1 - count));
