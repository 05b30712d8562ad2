import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { promptOf } from '#domain/habit/prompts.ts';
import { createDatabaseClock } from '../../../tests/support/database-clock.ts';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { canExplain, readUserTables, tablesWithoutUser } from '../../../tests/support/statements/check-statements.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { MailDeferred, MailRejected } from '../mail/mailer.ts';
import { sendReminders, type ReminderDeps } from './send-reminders.ts';

const db = setUpTestDatabase();
let sent: MailMessage[];
let deliver: (message: MailMessage) => Promise<void>;
let now: Date;
let lines: string[];
beforeAll(async () => {
  await (await createDatabaseClock(db.admin)).set('2026-11-27T12:00:00Z');
});
beforeEach(async () => {
  sent = [];
  lines = [];
  // A Friday.
  now = new Date('2026-11-27T12:00:00Z');
  deliver = async (message) => void sent.push(message);
  await db.admin.query('delete from auth.users');
});

const run = (options: Partial<ReminderDeps> = {}) =>
  sendReminders(
    {
      config: { publicUrl: 'https://journal.example.com' },
      database: db.database,
      log: createLog('debug', { write: (line: string) => void lines.push(line) }),
      clock: { now: () => now },
      mailer: { isSetUp: true, deliverBulk: (message) => deliver(message) },
      unsubscribeSecret: Buffer.alloc(32, 7),
      replyAddress: null,
      push: null,
      ...options,
    },
    new AbortController().signal,
  );
const runAt = (time: string, options?: Partial<ReminderDeps>) => {
  now = new Date(time);
  return run(options);
};

/** Creates a user with a reminder by mail, planned from `now` on. */
async function user(email: string, preferences: Record<string, unknown> = {}): Promise<string> {
  const { rows } = await db.admin.query<{ id: string }>(
    'insert into auth.users (email, email_confirmed_at) values ($1, now()) returning id',
    [email],
  );
  const { id } = rows[0]!;
  await choose(id, { time_zone: 'Europe/Lisbon', remind_at: 1080, remind_by_mail: true, ...preferences });
  return id;
}

async function choose(id: string, preferences: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(preferences);
  await db.admin.query(
    `insert into preferences (user_id, ${columns.join(', ')}) values ($1, ${columns.map((_, index) => `$${index + 2}`).join(', ')})
     on conflict (user_id) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    [id, ...Object.values(preferences)],
  );
  // The trigger has the clock of the database.
  await db.admin.query(
    "update reminder_schedule set due_at = $2 where user_id = $1 and day is null and due_at <> 'infinity'",
    [id, now],
  );
}

/** The database, with work before each statement. */
const interceptStatements = (before: (text: string) => Promise<void>): Database => ({
  ...db.database,
  asService(reason) {
    const service = db.database.asService(reason);
    return {
      ...service,
      async statement(text, values) {
        await before(text);
        return service.statement(text, values);
      },
    };
  },
});

const write = (id: string, date: string, content: string) =>
  db.admin.query('insert into entries (user_id, date, content) values ($1, $2, $3)', [id, date, content]);

const readSchedule = async (id: string) =>
  (
    await db.admin.query<{ due: string; day: string | null; sent: string | null }>(
      `select to_char(due_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as due, day::text, sent_day::text as sent
         from reminder_schedule where user_id = $1 and kind = 'reminder'`,
      [id],
    )
  ).rows[0];

test('the days of the users are looked up by user, also in a small table that is analysed', async ({ skip }) => {
  skip(!(await canExplain(db.admin)), 'EXPLAIN (GENERIC_PLAN) needs PostgreSQL 16');
  const id = await user('ada@example.com');
  await run();
  await write(id, '2026-11-25', '<p>Shipped it</p>');
  await db.admin.query('analyze public.entries, public.time_off');
  const texts = new Set<string>();
  await runAt('2026-11-27T18:00:20Z', { database: interceptStatements(async (text) => void texts.add(text)) });
  const tables = await readUserTables(db.admin);
  const found = [...texts].filter((text) => text.includes('as "needsNone"'));
  expect(found).toHaveLength(1);
  expect([...(await tablesWithoutUser(db.admin, found[0]!, tables))]).toEqual([]);
});

test('a reminder is planned, sent once at its hour, and planned for the next workday', async () => {
  const id = await user('ada@example.com');
  expect(await run()).toMatchObject({ planned: 1, mailed: 0 });
  expect(await readSchedule(id)).toEqual({ due: '2026-11-27 18:00', day: '2026-11-27', sent: null });
  expect(await runAt('2026-11-27T17:59:59Z')).toMatchObject({ mailed: 0 });
  expect(await runAt('2026-11-27T18:00:20Z')).toMatchObject({ mailed: 1 });
  expect(await readSchedule(id)).toEqual({ due: '2026-11-30 18:00', day: '2026-11-30', sent: '2026-11-27' });
  expect(await runAt('2026-11-27T18:01:20Z')).toMatchObject({ mailed: 0 });
  expect(sent).toHaveLength(1);
});

test('an hour that is chosen before it passes is not missed by a late run', async () => {
  now = new Date('2026-11-27T17:59:30Z');
  await user('ada@example.com');
  expect(await runAt('2026-11-27T18:00:10Z')).toMatchObject({ planned: 1, mailed: 1 });
});

test('a day with words gets no mail', async () => {
  const id = await user('ada@example.com');
  await run();
  await write(id, '2026-11-27', '<p>Shipped it</p>');
  expect(await runAt('2026-11-27T18:00:00Z')).toMatchObject({ mailed: 0, skipped: 1 });
  expect(await readSchedule(id)).toMatchObject({ day: '2026-11-30', sent: null });
});

test('words that arrive while the mail is written stop it', async () => {
  const id = await user('ada@example.com');
  await run();
  now = new Date('2026-11-27T18:00:00Z');
  const database = interceptStatements(async (text) => {
    if (text.includes('marked as (')) await write(id, '2026-11-27', '<p>Shipped it</p>');
  });
  expect(await run({ database })).toMatchObject({ mailed: 0, skipped: 1 });
});

test('a day off gets no mail, also if it is marked while the mail is written', async () => {
  const takeOff = (id: string) =>
    db.admin.query("insert into time_off (user_id, first_day, last_day) values ($1, '2026-11-26', '2026-11-27')", [id]);
  const [before, meanwhile] = [await user('ada@example.com'), await user('ben@example.com')];
  await takeOff(before);
  await run();
  now = new Date('2026-11-27T18:00:00Z');
  let isMarked = false;
  const database = interceptStatements(async (text) => {
    if (!text.includes('marked as (')) return;
    isMarked = true;
    await takeOff(meanwhile);
  });
  expect(await run({ database })).toMatchObject({ mailed: 0, skipped: 2 });
  expect(isMarked).toBe(true);
  expect(await readSchedule(before)).toMatchObject({ day: '2026-11-30', sent: null });
});

test.each([
  ['ended yesterday', '2026-11-20', '2026-11-26'],
  ['begins tomorrow', '2026-11-28', '2026-11-30'],
])('time off that %s stops no mail', async (_name, first, last) => {
  const id = await user('ada@example.com');
  await db.admin.query('insert into time_off (user_id, first_day, last_day) values ($1, $2, $3)', [id, first, last]);
  await run();
  expect(await runAt('2026-11-27T18:00:00Z')).toMatchObject({ mailed: 1 });
});

test('asks the question of the day of those who have turned prompts on', async () => {
  await user('ada@example.com', { prompts: true });
  await user('ben@example.com');
  await run();
  await runAt('2026-11-27T18:00:00Z');
  const textTo = (address: string) => sent.find(({ to }) => to === address)!.text;
  expect(textTo('ada@example.com')).toContain(promptOf(day('2026-11-27')));
  expect(textTo('ada@example.com')).not.toContain('What did you get done today?');
  expect(textTo('ben@example.com')).toContain('What did you get done today?');
});

test.each([
  ['after two hours', '2026-11-27T20:00:00Z', 1],
  ['later', '2026-11-27T20:00:01Z', 0],
])('a server that was down sends %s: %s', async (_name, time, mailed) => {
  const id = await user('ada@example.com');
  await run();
  expect(await runAt(time)).toMatchObject({ mailed });
  expect(await readSchedule(id)).toMatchObject({ day: '2026-11-30' });
});

test('after days without a server, the reminder of the last two hours is sent', async () => {
  await user('ada@example.com');
  await run();
  expect(await runAt('2026-12-02T19:00:00Z')).toMatchObject({ skipped: 1, mailed: 1 });
  expect(sent[0]!.subject).toBe('Wednesday - December 2, 2026');
});

test('nothing is sent at night, although it is not two hours late', async () => {
  await user('ada@example.com', { remind_at: 1380 });
  await run();
  expect(await runAt('2026-11-28T00:30:00Z')).toMatchObject({ mailed: 0, skipped: 1 });
});

test('a user who turns the reminder off and on again on a day gets no second one', async () => {
  const id = await user('ada@example.com');
  await run();
  await runAt('2026-11-27T18:00:00Z');
  await choose(id, { remind_by_mail: false });
  await choose(id, { remind_by_mail: true, remind_at: 1140 });
  await runAt('2026-11-27T18:30:00Z');
  await runAt('2026-11-27T19:00:00Z');
  expect(sent).toHaveLength(1);
  expect(await readSchedule(id)).toMatchObject({ day: '2026-11-30' });
});

test.each([
  ['without an address', 'update auth.users set email = null'],
  ['without a proven address', 'update auth.users set email_confirmed_at = null'],
  ['that are banned', "update auth.users set banned_until = now() + interval '1 year'"],
  ['that are about to be deleted', "update auth.users set deletion_due_at = now() + interval '1 day'"],
])('accounts %s get none', async (_name, change) => {
  await user('ada@example.com');
  await run();
  await db.admin.query(change);
  expect(await runAt('2026-11-27T18:00:00Z')).toMatchObject({ mailed: 0, skipped: 1 });
});

test('many processes send each reminder once', async () => {
  for (let index = 0; index < 25; index += 1) await user(`user${index}@example.com`);
  await run();
  now = new Date('2026-11-27T18:00:00Z');
  const counts = await Promise.all(Array.from({ length: 6 }, () => run()));
  expect(counts.reduce((sum, { mailed }) => sum + mailed, 0)).toBe(25);
  expect(new Set(sent.map(({ to }) => to)).size).toBe(25);
  expect(sent).toHaveLength(25);
});

describe('a mail that fails', () => {
  test('is tried again after some minutes if the mail server has not taken it', async () => {
    await user('ada@example.com');
    await run();
    deliver = () => Promise.reject(new MailDeferred('away'));
    await expect(runAt('2026-11-27T18:00:00Z')).rejects.toThrow(MailDeferred);
    deliver = async (message) => void sent.push(message);
    expect(await runAt('2026-11-27T18:01:00Z')).toMatchObject({ mailed: 0 });
    expect(await runAt('2026-11-27T18:05:00Z')).toMatchObject({ mailed: 1 });
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['it may have arrived', new MailDeferred('no answer', { mayHaveArrived: true })],
    ['it is rejected', new MailRejected('no such user')],
  ])('is not tried again if %s', async (_name, error) => {
    await user('ada@example.com');
    await run();
    deliver = () => Promise.reject(error);
    expect(await runAt('2026-11-27T18:00:00Z')).toMatchObject({ mailed: 0, dropped: 1 });
    deliver = async (message) => void sent.push(message);
    expect(await runAt('2026-11-27T18:05:00Z')).toMatchObject({ mailed: 0 });
  });

  test('a process that dies after it has claimed leaves the rows to another', async () => {
    await user('ada@example.com');
    await run();
    now = new Date('2026-11-27T18:00:00Z');
    const dying = interceptStatements(async (text) => {
      if (text.includes('marked as (')) throw new Error('died');
    });
    await expect(run({ database: dying })).rejects.toThrow('died');
    expect(await runAt('2026-11-27T18:01:00Z')).toMatchObject({ mailed: 0 });
    expect(await runAt('2026-11-27T18:05:01Z')).toMatchObject({ mailed: 1 });
  });
});

describe('the mail', () => {
  test('has the date, the prompt, the last log, the taps and both ways out', async () => {
    const id = await user('ada@example.com');
    await write(
      id,
      '2026-11-25',
      '<ol><li><p>Fixed the <strong>login</strong></p></li><li><p>&lt;script&gt;alert(1)&lt;/script&gt;</p></li></ol>',
    );
    await run();
    await runAt('2026-11-27T18:00:00Z', { replyAddress: (token) => `log+${token}@in.example.com` });
    const { subject, text, html, headers, replyTo, to } = sent[0]!;
    expect(to).toBe('ada@example.com');
    expect(subject).toBe('Friday - November 27, 2026');
    expect(text).toContain('What did you get done today?');
    expect(text).toContain(
      'You wrote on Wednesday - November 25, 2026:\n\n- Fixed the login\n- <script>alert(1)</script>',
    );
    expect(text).toContain('https://journal.example.com/journal?date=2026-11-27');
    expect(text).toMatch(/Did nothing today:\nhttps:\/\/journal\.example\.com\/evening\/[a-z2-7]{52}\?entry=0/);
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script');
    expect(replyTo).toMatch(/^log\+[a-z2-7]{52}@in\.example\.com$/);
    expect(replyTo!.split('@')[0]!.length).toBeLessThanOrEqual(64);
    expect(headers).toEqual({
      'List-Unsubscribe': expect.stringMatching(/^<https:\/\/journal\.example\.com\/unsubscribe\/[a-z2-7]+>$/),
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
  });

  test('quotes no log that the plan does not open', async () => {
    const id = await user('ada@example.com');
    await write(id, '2026-10-27', '<p>Secret</p>');
    await run();
    await runAt('2026-11-27T18:00:00Z');
    expect(sent).toHaveLength(1);
    expect(sent[0]!.text).not.toContain('Secret');
  });

  test('its tokens are stored as hashes and are in no log line', async () => {
    await user('ada@example.com');
    await run();
    await runAt('2026-11-27T18:00:00Z');
    const token = /evening\/([a-z2-7]{52})/.exec(sent[0]!.text)![1]!;
    const { rows } = await db.admin.query('select row_to_json(t)::text as row from mail_tokens t');
    expect(rows).toHaveLength(1);
    expect(rows[0].row).not.toContain(token);
    expect(lines.join('')).not.toContain(token);
    expect(lines.join('')).not.toContain('ada@example.com');
  });
});
