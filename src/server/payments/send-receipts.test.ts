/** Tests the mails about payments with a real database and mail server: each mail is sent once and no mail is lost. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { startMailbox, type Mailbox } from '../../../simulators/mailbox.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';
import { createLog } from '../log.ts';
import { createMailer, MailDeferred, type Mailer } from '../mail/mailer.ts';
import { Secret } from '../config/settings-reader.ts';
import { sendReceipts } from './send-receipts.ts';

const db = setUpTestDatabase();
let mailbox: Mailbox;
let mailer: Mailer;
let lines: string[];
let aheadMs: number;

const log = createLog('debug', { write: (line: string) => void lines.push(line) });
beforeEach(async () => {
  lines = [];
  aheadMs = 0;
  mailbox = await startMailbox();
  mailer = createMailer(
    { smtpUrl: new Secret(mailbox.smtpUrl), from: 'Hustle Forge <journal@example.com>', tls: true },
    log,
  );
});
afterEach(async () => {
  await mailer.close();
  await mailbox.close();
  await db.admin.query('update payments set mail_due_at = null');
});

const clock = { now: () => new Date(Date.now() + aheadMs) };
const config = { publicUrl: 'https://journal.example.com', contact: { supportEmail: 'help@example.com', social: [] } };
const run = (signal = new AbortController().signal) =>
  sendReceipts({ config, database: db.database, clock, log, mailer }, signal);
const subjects = (to: string): string[] => mailbox.messagesTo(to).map(({ subject }) => subject);

let orders = 0;

/** A payment that went through the given statuses. A null address: the account is deleted. */
async function paymentOf(email: string | null, ...statuses: PaymentStatus[]): Promise<string> {
  const people = email === null ? [] : await insert('auth.users', { email });
  const userId = people[0] ?? 'f0000000-0000-4000-8000-000000000000';
  orders += 1;
  const orderId = `ORDER${String(orders).padStart(12, '0')}`;
  const [id] = await insert('payments', { user_id: userId, order_id: orderId, amount_minor: 2400, currency: 'USD' });
  await changeStatus(id!, ...statuses);
  await insert('plan_changes', {
    ...{ user_id: userId, plan: 'premium', access_valid_until: '2027-11-21', reason: 'payment' },
    ...{ payment_id: id!, valid_from: '2026-11-21' },
  });
  return id!;
}

async function changeStatus(id: string, ...statuses: PaymentStatus[]): Promise<void> {
  for (const status of statuses) {
    await db.admin.query(
      `update payments set status = $2, completed_at = case when $2 = 'completed' then $3::timestamptz else completed_at end
        where id = $1`,
      [id, status, '2026-11-21T12:00:00Z'],
    );
  }
}

async function insert(table: string, row: Record<string, unknown>): Promise<string[]> {
  const names = Object.keys(row);
  const { rows } = await db.admin.query(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')}) returning id`,
    Object.values(row),
  );
  return rows.map(({ id }) => id);
}

const mailed = async (id: string): Promise<Date | null> =>
  (await db.admin.query('select receipt_mailed_at from payments where id = $1', [id])).rows[0].receipt_mailed_at;

test('sends one receipt for a completed payment', async () => {
  const id = await paymentOf('ada@example.com', 'approved', 'capturing', 'completed');
  expect(await run()).toEqual({ mailed: 1, dropped: 0 });
  expect(await run()).toEqual({ mailed: 0, dropped: 0 });
  expect(await mailed(id)).toBeInstanceOf(Date);
  const [mail] = mailbox.messagesTo('ada@example.com');
  expect(mail).toMatchObject({ subject: 'Your receipt', text: expect.stringContaining('$24.00 USD') });
  for (const fact of [`HF-2026-${id.slice(0, 8).toUpperCase()}`, 'November 21, 2026', 'November 21, 2027', 'ORDER0']) {
    expect(mail!.text).toContain(fact);
  }
  expect(mail!.text).toContain(`https://journal.example.com/receipt?payment=${id}`);
  expect(lines.join('')).not.toContain('ada@');
});

test('sends one mail when two servers run at once', async () => {
  await Promise.all(Array.from({ length: 6 }, (_, index) => paymentOf(`twin-${index}@example.com`, 'completed')));
  const counts = await Promise.all([run(), run(), run()]);
  expect(counts.reduce((sum, { mailed: count }) => sum + count, 0)).toBe(6);
  for (const index of Array.from({ length: 6 }).keys()) {
    expect(mailbox.messagesTo(`twin-${index}@example.com`)).toHaveLength(1);
  }
});

test.each<[string, PaymentStatus[], string[]]>([
  ['held back and completed', ['capturing', 'pending', 'completed'], ['Your receipt']],
  ['held back and declined', ['capturing', 'pending', 'declined'], ['PayPal declined your payment']],
  ['pending, checked again and declined', ['pending', 'capturing', 'declined'], ['PayPal declined your payment']],
  ['declined at once, as the screen says', ['capturing', 'declined'], []],
  ['given up', ['capturing', 'expired'], []],
  ['put aside', ['capturing', 'needs_review'], []],
  ['refunded before the receipt left', ['completed', 'refunded'], ['Your refund']],
])('mails about a payment that was %s', async (name, statuses, expected) => {
  const email = `${name.replaceAll(/\W/g, '-')}@example.com`;
  await paymentOf(email, ...statuses);
  await run();
  expect(subjects(email)).toEqual(expected);
});

test.each<[PaymentStatus, string]>([
  ['refunded', 'Your refund'],
  ['reversed', 'PayPal reversed your payment'],
])('sends a second mail for a payment that is %s after its receipt', async (status, subject) => {
  const email = `${status}@example.com`;
  const id = await paymentOf(email, 'completed');
  await run();
  await changeStatus(id, status);
  await run();
  expect(subjects(email).toSorted()).toEqual(['Your receipt', subject].toSorted());
});

test('sends a deferred mail once, in a later run', async () => {
  const id = await paymentOf('later@example.com', 'completed');
  mailbox.refuseNext(1, 451);
  await expect(run()).rejects.toBeInstanceOf(MailDeferred);
  expect(await mailed(id)).toBeNull();
  await expect.poll(() => run()).toEqual({ mailed: 1, dropped: 0 });
  expect(subjects('later@example.com')).toEqual(['Your receipt']);
});

test('a deferred mail does not block others', async () => {
  for (const name of ['a', 'b']) await paymentOf(`behind-${name}@example.com`, 'completed');
  mailbox.refuseNext(1, 451);
  await expect(run()).rejects.toBeInstanceOf(MailDeferred);
  expect([...subjects('behind-a@example.com'), ...subjects('behind-b@example.com')]).toEqual(['Your receipt']);
});

test('stops a run after three deferred mails', async () => {
  for (const index of Array.from({ length: 5 }).keys()) await paymentOf(`away-${index}@example.com`, 'completed');
  const recipients: string[] = [];
  const unreachableMailer = {
    deliver: ({ to }: { to: string }) => (recipients.push(to), Promise.reject(new MailDeferred('away'))),
  };
  const signal = new AbortController().signal;
  const waiting = sendReceipts({ config, database: db.database, clock, log, mailer: unreachableMailer }, signal);
  await expect(waiting).rejects.toBeInstanceOf(MailDeferred);
  expect(recipients).toHaveLength(3);
  expect(new Set(recipients).size).toBe(3);
});

test('drops a mail to a rejected address or a deleted account', async () => {
  const id = await paymentOf('never@example.com', 'completed');
  await paymentOf(null, 'completed');
  mailbox.refuseNext(1, 550);
  expect(await run()).toEqual({ mailed: 0, dropped: 2 });
  expect(await run()).toEqual({ mailed: 0, dropped: 0 });
  expect(await mailed(id)).toBeNull();
});

test('another server sends the mail once the lease of a crashed server has expired', async () => {
  const id = await paymentOf('orphan@example.com', 'completed');
  const hangingMailer = { deliver: () => new Promise<void>(() => {}) };
  void sendReceipts({ config, database: db.database, clock, log, mailer: hangingMailer }, new AbortController().signal);
  const claimed = async (): Promise<boolean> =>
    (await db.admin.query("select mail_due_at > now() + interval '2 minutes' as yes from payments where id = $1", [id]))
      .rows[0].yes;
  await expect.poll(claimed).toBe(true);
  expect(await run()).toEqual({ mailed: 0, dropped: 0 });
  aheadMs = 5 * 60_000;
  expect(await run()).toEqual({ mailed: 1, dropped: 0 });
});

test('also mails a status that changes while a mail is in flight', async () => {
  const id = await paymentOf('between@example.com', 'completed');
  const meanwhile = {
    deliver: async (message: Parameters<Mailer['deliver']>[0]) => {
      await mailer.deliver(message);
      if (message.subject === 'Your receipt') await changeStatus(id, 'refunded');
    },
  };
  const signal = new AbortController().signal;
  await sendReceipts({ config, database: db.database, clock, log, mailer: meanwhile }, signal);
  expect(subjects('between@example.com').toSorted()).toEqual(['Your receipt', 'Your refund']);
});

test('a run that is aborted claims no further mail', async () => {
  await paymentOf('stop@example.com', 'completed');
  expect(await run(AbortSignal.abort())).toEqual({ mailed: 0, dropped: 0 });
});
