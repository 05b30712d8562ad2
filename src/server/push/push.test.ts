/** Reminders on the devices of users, from the schedule to a push service that checks and decrypts them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PushMessage } from '#domain/habit/push-message.ts';
import { startPushServer, type PushServer } from '../../../simulators/push/server.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { sendReminders, type SendCounts } from '../habit/send-reminders.ts';
import { createLog } from '../log.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { MailDeferred } from '../mail/mailer.ts';
import { createPush, type Push } from './push.ts';

let db: TestDatabase;
let service: PushServer;
let push: Push;
let mails: MailMessage[];
let deliver: () => Promise<void>;
let now: Date;
const clock = { now: () => now };
const log = createLog('silent');
const config = { publicUrl: 'https://journal.example.com', contact: { social: [] } };
beforeAll(async () => {
  now = new Date('2026-11-27T18:00:20Z');
  [db, service] = await Promise.all([createTestDatabase(), startPushServer(clock)]);
});
afterAll(async () => {
  await Promise.all([db.drop(), service.close()]);
});
beforeEach(async () => {
  now = new Date('2026-11-27T18:00:20Z');
  mails = [];
  deliver = async () => undefined;
  service.control.clear();
  await db.admin.query('delete from auth.users');
  push = connect();
});

const connect = () =>
  createPush({
    settings: { services: [service.url] },
    ...{ config, database: db.database, clock, log },
    secret: Buffer.alloc(32, 9),
  });

type Person = { email?: string | null; byMail?: boolean; devices?: number };

/** A user whose reminder of this evening is due. Returns the endpoints of the devices. */
async function user({ email = 'ada@example.com', byMail = false, devices = 1 }: Person = {}) {
  const { rows } = await db.admin.query<{ id: string }>(
    'insert into auth.users (email, email_confirmed_at) values ($1, now()) returning id',
    [email],
  );
  const { id } = rows[0]!;
  await db.admin.query(
    `insert into preferences (user_id, time_zone, remind_at, remind_by_mail, remind_by_push)
     values ($1, 'UTC', 1080, $2, true)`,
    [id, byMail],
  );
  await db.admin.query(
    "update reminder_schedule set due_at = '2026-11-27T18:00:00Z', day = '2026-11-27' where user_id = $1 and kind = 'reminder'",
    [id],
  );
  const endpoints: string[] = [];
  for (let index = 0; index < devices; index += 1) {
    const { endpoint, keys } = service.control.subscribe(await push.publicKey());
    await db.admin.query(
      `with session as (insert into auth.sessions (user_id) values ($1) returning id)
       insert into push_subscriptions (user_id, session_id, endpoint, p256dh, auth, device, renewal_hash)
       select $1, id, $2, $3, $4, 'Firefox on Linux', $5 from session`,
      [id, endpoint, Buffer.from(keys.p256dh, 'base64url'), Buffer.from(keys.auth, 'base64url'), Buffer.alloc(32)],
    );
    endpoints.push(endpoint);
  }
  return { id, endpoints };
}

const run = (): Promise<SendCounts> =>
  sendReminders(
    {
      ...{ config, database: db.database, log, clock, push },
      mailer: {
        isSetUp: true,
        async deliverBulk(message) {
          await deliver();
          mails.push(message);
        },
      },
      ...{ unsubscribeSecret: Buffer.alloc(32, 7), replyAddress: null },
    },
    new AbortController().signal,
  );
const runAt = (time: string) => {
  now = new Date(time);
  return run();
};
const received = (endpoint?: string) =>
  service.control.messages(endpoint).map(({ text }) => JSON.parse(text) as PushMessage);

test('all devices show the reminder once, however many processes send', async () => {
  const { endpoints } = await user({ devices: 3, byMail: true });
  const counts = await Promise.all([run(), run(), run()]);
  expect(counts.reduce((sum, { pushed }) => sum + pushed, 0)).toBe(1);
  for (const endpoint of endpoints) {
    expect(received(endpoint)).toEqual([
      { day: '2026-11-27', prompt: 'What did you get done today?', tap: expect.any(String) },
    ]);
  }
  expect(mails).toHaveLength(1);
  expect(mails[0]!.text).toContain(received()[0]!.tap);
  expect(await runAt('2026-11-27T19:00:00Z')).toMatchObject({ pushed: 0, mailed: 0 });
});

test('a user without an address is reminded on the devices alone', async () => {
  await user({ email: null, byMail: true });
  expect(await run()).toMatchObject({ pushed: 1, mailed: 0 });
});

test('a user without devices is skipped, and planned for the next day', async () => {
  const { id } = await user({ devices: 0 });
  expect(await run()).toMatchObject({ pushed: 0, skipped: 1 });
  const { rows } = await db.admin.query<{ day: string }>(
    "select day::text from reminder_schedule where user_id = $1 and kind = 'reminder'",
    [id],
  );
  expect(rows).toEqual([{ day: '2026-11-30' }]);
});

test('a day with words shows nothing', async () => {
  const { id } = await user();
  await db.admin.query("insert into entries (user_id, date, content) values ($1, '2026-11-27', '<p>Words</p>')", [id]);
  expect(await run()).toMatchObject({ pushed: 0, skipped: 1 });
  expect(received()).toEqual([]);
});

test('a browser that has unsubscribed is forgotten, and the others are reminded', async () => {
  const { id, endpoints } = await user({ devices: 2 });
  service.control.unsubscribe(endpoints[0]!);
  expect(await run()).toMatchObject({ pushed: 1 });
  const { rows } = await db.admin.query('select endpoint from push_subscriptions where user_id = $1', [id]);
  expect(rows).toEqual([{ endpoint: endpoints[1] }]);
});

test('a busy push service is asked again when it says so, once', async () => {
  await user();
  service.control.fail({ status: 503, headers: { 'Retry-After': '1200' } });
  expect(await run()).toMatchObject({ pushed: 0 });
  expect(await runAt('2026-11-27T18:19:00Z')).toMatchObject({ pushed: 0 });
  expect(await runAt('2026-11-27T18:20:30Z')).toMatchObject({ pushed: 1 });
  expect(await runAt('2026-11-27T18:41:00Z')).toMatchObject({ pushed: 0 });
  expect(received()).toHaveLength(1);
});

test('a push service that stays busy for more than two hours gets no reminder of this day', async () => {
  await user();
  service.control.fail({ status: 429, headers: { 'Retry-After': '7300' } });
  await run();
  expect(await runAt('2026-11-27T20:02:30Z')).toMatchObject({ pushed: 0, skipped: 1 });
  expect(await runAt('2026-11-30T18:00:10Z')).toMatchObject({ pushed: 1 });
  expect(received().map(({ day }) => day)).toEqual(['2026-11-30']);
});

test('a message whose answer was lost is not sent again', async () => {
  const { endpoints } = await user();
  service.control.fail({ drop: true });
  expect(await run()).toMatchObject({ pushed: 1 });
  expect(await runAt('2026-11-27T18:10:00Z')).toMatchObject({ pushed: 0 });
  expect(received(endpoints[0])).toHaveLength(1);
});

test('a mail that is deferred does not show the reminder a second time', async () => {
  await user({ byMail: true });
  deliver = () => Promise.reject(new MailDeferred('not taken'));
  expect(await run()).toMatchObject({ pushed: 1, dropped: 1 });
  deliver = async () => undefined;
  expect(await runAt('2026-11-27T18:10:00Z')).toMatchObject({ pushed: 0, mailed: 0 });
});

test('a device of a service that the operator no longer allows is forgotten', async () => {
  const { id } = await user();
  push = createPush({
    settings: { services: ['fcm.googleapis.com'] },
    ...{ config, database: db.database, clock, log },
    secret: Buffer.alloc(32, 9),
  });
  expect(await run()).toMatchObject({ pushed: 0 });
  expect(service.control.answers()).toEqual([]);
  expect((await db.admin.query('select from push_subscriptions where user_id = $1', [id])).rows).toEqual([]);
});
