import { beforeEach, expect, test } from 'vitest';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { addDays, dateLabel, earliestToday, type Day } from '#domain/day/day.ts';
import { createLog } from '../log.ts';
import { MailDeferred, MailRejected } from '../mail/mailer.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { sendReminders } from './send-reminders.ts';

const db = setUpTestDatabase();
let sent: MailMessage[];
let deliver: (message: MailMessage) => Promise<void>;
let now: Date;
beforeEach(async () => {
  sent = [];
  now = new Date('2026-11-21T12:00:00Z');
  deliver = async (message) => void sent.push(message);
  await db.admin.query('delete from auth.users');
});

const config = { publicUrl: 'https://journal.example.com' };
const run = (signal = new AbortController().signal) =>
  sendReminders(
    {
      ...{ config, database: db.database, log: createLog('silent') },
      clock: { now: () => now },
      mailer: { deliver: (message) => deliver(message) },
    },
    signal,
  );

/** Creates a user whose plan ends in `endsIn` days; null: no end date. */
async function closer(email: string, endsIn: number | null, plan = 'premium'): Promise<Day | null> {
  const { rows } = await db.admin.query('insert into auth.users (email) values ($1) returning id', [email]);
  const endsOn = endsIn === null ? null : addDays(earliestToday(now), endsIn);
  await db.admin.query('update profiles set subscription_plan = $2, access_valid_until = $3 where id = $1', [
    rows[0].id,
    plan,
    endsOn,
  ]);
  return endsOn;
}

const pass = (days: number): void => {
  now = new Date(now.getTime() + days * 86_400_000);
};

test('daily runs over a year send two mails, 30 and 3 days before its end', async () => {
  const endsOn = (await closer('ada@example.com', 40))!;
  const mailedAfter: number[] = [];
  for (let passed = 0; passed <= 42; passed += 1) {
    const { mailed } = await run();
    if (mailed > 0) mailedAfter.push(40 - passed);
    pass(1);
  }
  expect(mailedAfter).toEqual([30, 3]);
  expect(sent.map(({ to, subject }) => [to, subject])).toEqual(
    Array.from({ length: 2 }, () => ['ada@example.com', `Your year ends on ${dateLabel(endsOn)}`]),
  );
  expect(sent[0]!.text).toContain('https://journal.example.com/profile');
});

test.each<[string, number | null, string, number]>([
  ['a plan without end', null, 'premium', 0],
  ['a plan that ends in 31 days', 31, 'premium', 0],
  ['a plan that ends in 30 days', 30, 'premium', 1],
  ['a run late for the first reminder', 17, 'premium', 1],
  ['a run late for both, which sends only the nearest', 2, 'premium', 1],
  ['the last day', 0, 'premium', 1],
  ['a plan that has ended', -1, 'premium', 0],
  ['a free plan with a date', 10, 'free', 0],
])('%s', async (_name, endsIn, plan, mails) => {
  await closer('ada@example.com', endsIn, plan);
  await run();
  await run();
  expect(sent).toHaveLength(mails);
});

test('a renewal restarts the reminders for the new date', async () => {
  await closer('ada@example.com', 30);
  await run();
  await db.admin.query('update profiles set access_valid_until = access_valid_until + 365');
  pass(27);
  expect(await run()).toEqual({ mailed: 0, dropped: 0 });
  pass(365);
  expect(await run()).toEqual({ mailed: 1, dropped: 0 });
});

test('skips a plan that is renewed during the run', async () => {
  await closer('first@example.com', 3);
  await closer('second@example.com', 3);
  deliver = async (message) => {
    sent.push(message);
    await db.admin.query('update profiles set access_valid_until = access_valid_until + 365');
  };
  await run();
  expect(sent).toHaveLength(1);
});

test('two concurrent servers send each reminder once, across pages', async () => {
  await db.admin.query(
    "insert into auth.users (email) select 'p' || n || '@example.com' from generate_series(1, 450) n",
  );
  await db.admin.query("update profiles set subscription_plan = 'premium', access_valid_until = $1", [
    addDays(earliestToday(now), 3),
  ]);
  await Promise.all([run(), run()]);
  expect(new Set(sent.map(({ to }) => to)).size).toBe(450);
  expect(sent).toHaveLength(450);
});

test('the next run sends deferred mails, and not rejected ones', async () => {
  await closer('later@example.com', 3);
  await closer('never@example.com', 3);
  deliver = ({ to }) =>
    Promise.reject(to.startsWith('later') ? new MailDeferred('later') : new MailRejected('no such address'));
  await expect(run()).rejects.toBeInstanceOf(MailDeferred);
  deliver = async (message) => void sent.push(message);
  expect(await run()).toEqual({ mailed: 1, dropped: 0 });
  expect(sent.map(({ to }) => to)).toEqual(['later@example.com']);
});

test('an aborted run sends nothing', async () => {
  await closer('ada@example.com', 3);
  expect(await run(AbortSignal.abort())).toEqual({ mailed: 0, dropped: 0 });
});
