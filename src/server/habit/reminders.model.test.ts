/**
 * Model test of the evening reminders: users in all zones of the tz database, days with and without words, changes of the
 * preferences, servers that stop and processes that die between claim, mark and mail, on a virtual clock with the real
 * statements. Never two reminders for a day, never one for a day with words, never one at night, on a day off, or late.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, WEEKDAYS, weekdayOf, type Day } from '#domain/day/day.ts';
import { EARLIEST_REMINDER, LATEST_REMINDER } from '#domain/habit/preferences.ts';
import { localTime } from '#domain/day/current-day.ts';
import { MAX_LATE_MS } from '#domain/habit/reminder-time.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { isConnectionFailure } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { MailDeferred } from '../mail/mailer.ts';
import { sendReminders } from './send-reminders.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20261128);
const isLong = process.env['TEST_LONG'] !== undefined;
const DAYS = isLong ? 400 : 30;
// Users change their zones all the time, so few meet most zones in 400 days.
const USERS = isLong ? 10 : 20;
const MINUTE_MS = 60_000;
const MAX_LATE_MINUTES = MAX_LATE_MS / MINUTE_MS;
const DAY_MS = 86_400_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

type User = { id: string; email: string; timeZone: string; remindAt: number; workdays: number[]; isOn: boolean };

/** A generator of uniform numbers in [0, 1): mulberry32. Those of fast-check prefer the ends. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class ProcessDied extends Error {}

test(
  `${String(USERS)} users over ${String(DAYS)} days (seed ${String(SEED)})`,
  async () => {
    const next = randomNumbers(SEED);
    const below = (count: number): number => Math.floor(next() * count);
    const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
    const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
    const start = Date.parse('2026-02-20T00:00:00Z');
    let now = new Date(start);
    const sent = new Map<string, Date>();
    const written = new Set<string>();
    const daysOff = new Set<string>();
    const faults = { die: 0, deferred: 0, lost: 0, down: 0 };
    const users: User[] = [];
    const byEmail = new Map<string, User>();

    const choose = async (user: User): Promise<void> => {
      await db.admin.query(
        `insert into preferences (user_id, time_zone, remind_at, workdays, remind_by_mail) values ($1, $2, $3, $4, $5)
         on conflict (user_id) do update set time_zone = excluded.time_zone, remind_at = excluded.remind_at,
           workdays = excluded.workdays, remind_by_mail = excluded.remind_by_mail`,
        [user.id, user.timeZone, user.remindAt, user.workdays, user.isOn],
      );
      // The trigger has the clock of the database.
      await db.admin.query(
        "update reminder_schedule set due_at = $2 where user_id = $1 and day is null and due_at <> 'infinity'",
        [user.id, now],
      );
    };
    const chooseAnew = (user: User): void => {
      user.timeZone = pick(zones);
      user.remindAt = EARLIEST_REMINDER + below(LATEST_REMINDER - EARLIEST_REMINDER + 1);
      user.workdays = [0, 1, 2, 3, 4, 5, 6].filter(() => next() < 0.7);
      user.isOn = next() < 0.9;
    };

    for (let index = 0; index < USERS; index += 1) {
      const email = `user${String(index)}@example.com`;
      const { rows } = await db.admin.query<{ id: string }>(
        'insert into auth.users (email, email_confirmed_at) values ($1, now()) returning id',
        [email],
      );
      const user: User = { id: rows[0]!.id, email, timeZone: '', remindAt: 0, workdays: [], isOn: true };
      chooseAnew(user);
      user.isOn = true;
      await choose(user);
      users.push(user);
      byEmail.set(email, user);
    }

    const deliver = async (message: MailMessage): Promise<void> => {
      if (next() < 0.03) {
        faults.deferred += 1;
        throw new MailDeferred('not taken');
      }
      const user = byEmail.get(message.to)!;
      const day = /journal\?date=(\d{4}-\d{2}-\d{2})/.exec(message.text)![1]! as Day;
      const local = localTime(now, user.timeZone);
      const name = `${user.email} ${day}`;
      expect(sent.has(name), `${name} at ${now.toISOString()} is the second of its day`).toBe(false);
      expect(written.has(name), `${name} has words`).toBe(false);
      expect(daysOff.has(name), `${name} is a day off`).toBe(false);
      expect(local.day, name).toBe(day);
      expect(local.minutes, name).toBeGreaterThanOrEqual(EARLIEST_REMINDER);
      // An hour of tolerance for a clock that changes meanwhile.
      expect(local.minutes, `${name} is late`).toBeLessThanOrEqual(user.remindAt + MAX_LATE_MINUTES + 60);
      expect(local.minutes, `${name} is early`).toBeGreaterThanOrEqual(user.remindAt - 60);
      expect(user.isOn, name).toBe(true);
      expect(user.workdays, name).toContain(WEEKDAYS.indexOf(weekdayOf(day)));
      sent.set(name, now);
      if (next() < 0.02) {
        faults.lost += 1;
        throw new MailDeferred('no answer', { mayHaveArrived: true });
      }
    };

    /** A process that may die before any statement or mail. */
    const runProcess = async (dies: boolean): Promise<void> => {
      let left = dies ? below(8) : Number.POSITIVE_INFINITY;
      const step = (): void => {
        left -= 1;
        if (left < 0) throw new ProcessDied();
      };
      const database: Database = {
        ...db.database,
        asService(reason) {
          const service = db.database.asService(reason);
          return {
            ...service,
            async statement(text, values) {
              step();
              return service.statement(text, values);
            },
          };
        },
      };
      const deps = {
        config: { publicUrl: 'https://journal.example.com' },
        ...{ database, log: createLog('silent'), clock: { now: () => now } },
        mailer: {
          isSetUp: true,
          async deliverBulk(message: MailMessage) {
            step();
            await deliver(message);
          },
        },
        unsubscribeSecret: Buffer.alloc(32, 7),
        ...{ replyAddress: null, push: null },
      };
      try {
        await sendReminders(deps, new AbortController().signal);
      } catch (error) {
        // On a busy machine a process may get no connection in time. Its run ends there, like that of one that dies.
        if (error instanceof ProcessDied || isConnectionFailure(error)) faults.die += 1;
        else if (!(error instanceof MailDeferred)) throw error;
      }
    };

    const end = start + DAYS * DAY_MS;
    let downUntil = 0;
    while (now.getTime() < end) {
      // To the next time at which anything may be due, or a while on.
      const { rows } = await db.admin.query<{ at: Date | null }>(
        `select min(greatest(due_at, coalesce(leased_until, due_at))) as at from reminder_schedule where due_at <> 'infinity'`,
      );
      const dueAt = rows[0]!.at?.getTime() ?? Number.POSITIVE_INFINITY;
      now = new Date(Math.min(Math.max(dueAt, now.getTime() + MINUTE_MS), now.getTime() + 6 * 60 * MINUTE_MS));
      if (next() < 0.05) {
        const user = pick(users);
        chooseAnew(user);
        await choose(user);
      }
      if (next() < 0.3) {
        const user = pick(users);
        const { day } = localTime(now, user.timeZone);
        const date = next() < 0.7 ? day : addDays(day, 1);
        await db.admin.query(
          "insert into entries (user_id, date, content) values ($1, $2, '<p>Words</p>') on conflict do nothing",
          [user.id, date],
        );
        written.add(`${user.email} ${date}`);
      }
      if (next() < 0.05) {
        const user = pick(users);
        const first = addDays(localTime(now, user.timeZone).day, below(3));
        const last = addDays(first, below(4));
        await db.admin.query('insert into time_off (user_id, first_day, last_day) values ($1, $2, $3)', [
          user.id,
          first,
          last,
        ]);
        for (let day = first; day <= last; day = addDays(day, 1)) daysOff.add(`${user.email} ${day}`);
      }
      if (now.getTime() < downUntil) continue;
      if (next() < 0.04) {
        faults.down += 1;
        downUntil = now.getTime() + below(5 * 60) * MINUTE_MS;
        continue;
      }
      const processes = 1 + below(3);
      await Promise.all(Array.from({ length: processes }, () => runProcess(next() < 0.25)));
    }
    for (const [name, at] of sent) expect(at.getTime(), name).toBeGreaterThanOrEqual(start);
    // The schedule exercised what it is about.
    expect(sent.size).toBeGreaterThan(USERS * DAYS * 0.1);
    expect(faults.die).toBeGreaterThan(0);
    expect(faults.deferred).toBeGreaterThan(0);
    expect(faults.down).toBeGreaterThan(0);
  },
  fuzzBudget(180_000),
);
