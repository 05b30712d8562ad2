/**
 * Model test of the evening reminders by mail and on devices: users in all zones of the tz database, days with and
 * without words, changes of the preferences and devices, servers that stop, push services that are down or break off,
 * and processes that die between claim, mark, push and mail, on a virtual clock with the real statements and push
 * messages. Never two reminders of a channel for a day, never one for a day with words, never one at night, on a day
 * off, or late.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, WEEKDAYS, weekdayOf, type Day } from '#domain/day/day.ts';
import { EARLIEST_REMINDER, LATEST_REMINDER } from '#domain/habit/preferences.ts';
import { localTime } from '#domain/day/current-day.ts';
import type { PushMessage } from '#domain/habit/push-message.ts';
import { MAX_LATE_MS } from '#domain/habit/reminder-time.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { startPushServer, type PushServer } from '../../../simulators/push/server.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { isConnectionFailure } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { MailDeferred } from '../mail/mailer.ts';
import { createPush } from '../push/push.ts';
import { sendReminders } from './send-reminders.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20261128);
const isLong = process.env['TEST_LONG'] !== undefined;
const DAYS = isLong ? 400 : 30;
// Users change their zones all the time, so few meet most zones in 400 days.
const USERS = isLong ? 10 : 20;
const MINUTE_MS = 60_000;
const MAX_LATE_MINUTES = MAX_LATE_MS / MINUTE_MS;
const DAY_MS = 86_400_000;

const MAX_DEVICES = 3;

let db: TestDatabase;
let now: Date;
const clock = { now: () => now };
let pushService: PushServer;
beforeAll(async () => {
  [db, pushService] = await Promise.all([createTestDatabase(), startPushServer(clock)]);
});
afterAll(() => Promise.all([db.drop(), pushService.close()]));

type User = {
  id: string;
  email: string;
  timeZone: string;
  remindAt: number;
  workdays: number[];
  byMail: boolean;
  byPush: boolean;
  /** The addresses of its browsers at the push service. */
  devices: string[];
};

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
    now = new Date(start);
    const sent = { mail: new Set<string>(), push: new Set<string>() };
    const written = new Set<string>();
    const daysOff = new Set<string>();
    const faults = { die: 0, deferred: 0, lost: 0, down: 0, busy: 0, gone: 0 };
    const users: User[] = [];
    const byEmail = new Map<string, User>();

    const choose = async (user: User): Promise<void> => {
      await db.admin.query(
        `insert into preferences (user_id, time_zone, remind_at, workdays, remind_by_mail, remind_by_push)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (user_id) do update set time_zone = excluded.time_zone, remind_at = excluded.remind_at,
           workdays = excluded.workdays, remind_by_mail = excluded.remind_by_mail,
           remind_by_push = excluded.remind_by_push`,
        [user.id, user.timeZone, user.remindAt, user.workdays, user.byMail, user.byPush],
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
      user.byMail = next() < 0.7;
      user.byPush = next() < 0.7;
    };
    const addDevice = async (user: User, publicKey: string): Promise<void> => {
      const { endpoint, keys } = pushService.control.subscribe(publicKey);
      await db.admin.query(
        `with session as (insert into auth.sessions (user_id) values ($1) returning id)
         insert into push_subscriptions (user_id, session_id, endpoint, p256dh, auth, device, renewal_hash)
         select $1, id, $2, $3, $4, 'Firefox on Linux', $5 from session`,
        [
          user.id,
          endpoint,
          Buffer.from(keys.p256dh, 'base64url'),
          Buffer.from(keys.auth, 'base64url'),
          Buffer.alloc(32),
        ],
      );
      user.devices.push(endpoint);
    };
    /** The browser ends its subscription, or the user removes the device in the settings. */
    const removeDevice = async (user: User): Promise<void> => {
      const endpoint = user.devices.shift()!;
      if (next() < 0.5) {
        pushService.control.unsubscribe(endpoint);
      } else {
        await db.admin.query('delete from push_subscriptions where endpoint = $1', [endpoint]);
      }
    };

    /** Checks a reminder that has arrived. `key` names who must not get a second one of this day. */
    const receive = (channel: 'mail' | 'push', key: string, user: User, day: Day): void => {
      const local = localTime(now, user.timeZone);
      const name = `${user.email} ${day}`;
      const once = `${key} ${day}`;
      expect(sent[channel].has(once), `${name} at ${now.toISOString()} is the second ${channel} of its day`).toBe(
        false,
      );
      expect(written.has(name), `${name} has words`).toBe(false);
      expect(daysOff.has(name), `${name} is a day off`).toBe(false);
      expect(local.day, name).toBe(day);
      expect(local.minutes, name).toBeGreaterThanOrEqual(EARLIEST_REMINDER);
      // An hour of tolerance for a clock that changes meanwhile.
      expect(local.minutes, `${name} is late`).toBeLessThanOrEqual(user.remindAt + MAX_LATE_MINUTES + 60);
      expect(local.minutes, `${name} is early`).toBeGreaterThanOrEqual(user.remindAt - 60);
      expect(channel === 'mail' ? user.byMail : user.byPush, `${name} by ${channel}`).toBe(true);
      expect(user.workdays, name).toContain(WEEKDAYS.indexOf(weekdayOf(day)));
      sent[channel].add(once);
    };

    const deliver = async (message: MailMessage): Promise<void> => {
      if (next() < 0.1) {
        faults.deferred += 1;
        throw new MailDeferred('not taken');
      }
      const day = /journal\?date=(\d{4}-\d{2}-\d{2})/.exec(message.text)![1]! as Day;
      receive('mail', message.to, byEmail.get(message.to)!, day);
      if (next() < 0.1) {
        faults.lost += 1;
        throw new MailDeferred('no answer', { mayHaveArrived: true });
      }
    };

    /** A server process, which may die before any statement or mail. */
    const startProcess = async () => {
      let left = Number.POSITIVE_INFINITY;
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
      const config = { publicUrl: 'https://journal.example.com', contact: { social: [] } };
      const log = createLog('silent');
      const settings = { services: [pushService.url] };
      const push = createPush({ settings, config, database, clock, log, secret: Buffer.alloc(32, 9) });
      const deps = {
        ...{ config, database, log, clock, push, replyAddress: null },
        mailer: {
          isSetUp: true,
          async deliverBulk(message: MailMessage) {
            step();
            await deliver(message);
          },
        },
        unsubscribeSecret: Buffer.alloc(32, 7),
      };
      return {
        publicKey: await push.publicKey(),
        async run(dies: boolean): Promise<void> {
          left = dies ? below(10) : Number.POSITIVE_INFINITY;
          try {
            await sendReminders(deps, new AbortController().signal);
          } catch (error) {
            // On a busy machine a process may get no connection in time. Its run ends there, like that of one that
            // dies.
            if (error instanceof ProcessDied || isConnectionFailure(error)) faults.die += 1;
            else if (!(error instanceof MailDeferred)) throw error;
          }
        },
      };
    };
    const processes = await Promise.all(Array.from({ length: 3 }, startProcess));

    /** The push service is down, asks for patience, or breaks off after it has delivered. */
    const failPush = (): void => {
      const times = 1 + below(3);
      if (next() < 0.3) pushService.control.fail({ drop: true, times });
      else pushService.control.fail({ status: 503, headers: { 'Retry-After': String(below(3 * 3_600)) }, times });
    };
    const receivePushed = (): void => {
      for (const { endpoint, text } of pushService.control.messages()) {
        const user = users.find(({ devices }) => devices.includes(endpoint));
        expect(user, `${text} reached a browser that is no device any more`).toBeDefined();
        receive('push', endpoint, user!, (JSON.parse(text) as PushMessage).day);
      }
      for (const status of pushService.control.answers()) {
        if (status === 503) faults.busy += 1;
        if (status === 410) faults.gone += 1;
      }
      pushService.control.clear();
    };

    for (let index = 0; index < USERS; index += 1) {
      const email = `user${String(index)}@example.com`;
      const { rows } = await db.admin.query<{ id: string }>(
        'insert into auth.users (email, email_confirmed_at) values ($1, now()) returning id',
        [email],
      );
      const user: User = {
        id: rows[0]!.id,
        email,
        timeZone: '',
        remindAt: 0,
        workdays: [],
        byMail: true,
        byPush: true,
        devices: [],
      };
      chooseAnew(user);
      await choose(user);
      for (let device = 0; device < MAX_DEVICES; device += 1) await addDevice(user, processes[0]!.publicKey);
      users.push(user);
      byEmail.set(email, user);
    }

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
      if (next() < 0.03) {
        const user = pick(users);
        if (user.devices.length < MAX_DEVICES) await addDevice(user, processes[0]!.publicKey);
        else await removeDevice(user);
      }
      if (now.getTime() < downUntil) continue;
      if (next() < 0.04) {
        faults.down += 1;
        downUntil = now.getTime() + below(5 * 60) * MINUTE_MS;
        continue;
      }
      if (next() < 0.15) failPush();
      await Promise.all(processes.slice(0, 1 + below(3)).map((process) => process.run(next() < 0.25)));
      receivePushed();
    }
    // The schedule exercised what it is about. Of the order in which the processes run, 64 to 112 mails come in 30
    // days.
    expect(sent.mail.size).toBeGreaterThan(USERS * DAYS * 0.05);
    expect(sent.push.size).toBeGreaterThan(USERS * DAYS * 0.1);
    for (const [fault, count] of Object.entries(faults)) expect(count, fault).toBeGreaterThan(0);
  },
  fuzzBudget(180_000),
);
