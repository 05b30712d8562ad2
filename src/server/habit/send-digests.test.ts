import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabaseClock } from '../../../tests/support/database-clock.ts';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import type { Coach } from '../coach/coach.ts';
import { createLog } from '../log.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { sendDigests } from './send-digests.ts';

const db = setUpTestDatabase();
let sent: MailMessage[];
let now: Date;
let coach: Pick<Coach, 'review'> | null;
beforeAll(async () => {
  await (await createDatabaseClock(db.admin)).set('2026-11-27T12:00:00Z');
});
beforeEach(async () => {
  sent = [];
  coach = null;
  // A Friday.
  now = new Date('2026-11-27T12:00:00Z');
  await db.admin.query('delete from auth.users');
});

const runAt = async (time: string) => {
  now = new Date(time);
  return sendDigests(
    {
      config: { publicUrl: 'https://journal.example.com' },
      database: db.database,
      log: createLog('silent'),
      clock: { now: () => now },
      mailer: { isSetUp: true, deliverBulk: async (message) => void sent.push(message) },
      unsubscribeSecret: Buffer.alloc(32, 7),
      coach,
    },
    new AbortController().signal,
  );
};

type Person = { preferences?: string; premium?: boolean; consent?: boolean };

/** A user with a digest, planned from `now` on. */
async function user({ preferences = '', premium = false, consent = false }: Person = {}): Promise<string> {
  const { rows } = await db.admin.query<{ id: string }>(
    "insert into auth.users (email, email_confirmed_at) values ('ada@example.com', now()) returning id",
  );
  const { id } = rows[0]!;
  await db.admin.query('update profiles set subscription_plan = $2, ai_consent = $3 where id = $1', [
    id,
    premium ? 'premium' : 'free',
    consent,
  ]);
  await db.admin.query("insert into preferences (user_id, time_zone, digest) values ($1, 'Europe/Lisbon', true)", [id]);
  if (preferences) await db.admin.query(`update preferences set ${preferences} where user_id = $1`, [id]);
  await db.admin.query("update reminder_schedule set due_at = $2 where user_id = $1 and kind = 'digest'", [id, now]);
  await runAt(now.toISOString());
  return id;
}

async function write(id: string, date: string, text: string, score: number | null = null): Promise<void> {
  await db.admin.query('insert into entries (user_id, date, content, hustle_score) values ($1, $2, $3, $4)', [
    id,
    date,
    `<ol><li><p>${text}</p></li></ol>`,
    score,
  ]);
}

describe('the digest', () => {
  test('tells the workdays, the first lines with their days, and how the week compares', async () => {
    const id = await user();
    await write(id, '2026-11-10', 'Begun');
    await write(id, '2026-11-17', 'Wrote the plan');
    await write(id, '2026-11-23', 'Shipped the billing migration');
    await write(id, '2026-11-24', 'Did nothing today');
    await write(id, '2026-11-26', 'Fixed &lt;b&gt; in mails', 8);
    expect(await runAt('2026-11-27T17:00:00Z')).toMatchObject({ mailed: 1 });
    const { subject, text, html, headers } = sent[0]!;
    expect(subject).toBe('Your week: Nov 21 to Nov 27');
    expect(text).toContain('3 of 4 workdays accounted for. 2 more than in the week before.');
    expect(text).toContain(
      'First lines of your logs\n\n- Nov 23: Shipped the billing migration\n- Nov 26: Fixed <b> in mails',
    );
    expect(text).not.toContain('8 of 10');
    expect(html).toContain('Fixed &lt;b&gt; in mails');
    expect(text).toContain('https://journal.example.com/reviews');
    expect(headers).toMatchObject({ 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' });
    expect(await runAt('2026-11-27T17:01:00Z')).toMatchObject({ mailed: 0 });
  });

  test('is sent at the hour of the reminder', async () => {
    const id = await user({ preferences: 'remind_at = 1140, remind_by_mail = true' });
    await write(id, '2026-11-26', 'Shipped it');
    expect(await runAt('2026-11-27T18:59:00Z')).toMatchObject({ mailed: 0 });
    expect(await runAt('2026-11-27T19:00:00Z')).toMatchObject({ mailed: 1 });
  });

  test('is not sent for a week without a log', async () => {
    const id = await user();
    await write(id, '2026-11-20', 'Last week');
    expect(await runAt('2026-11-27T17:00:00Z')).toMatchObject({ mailed: 0, skipped: 1 });
  });

  test('has the scores of a Closer', async () => {
    const id = await user({ premium: true });
    await write(id, '2026-11-25', 'Shipped it', 8);
    await write(id, '2026-11-26', 'Rested', 3);
    await runAt('2026-11-27T17:00:00Z');
    expect(sent[0]!.text).toContain('Scores\n\nNov 25: 8 of 10\nNov 26: 3 of 10');
  });

  test('says where the scores of a Closer go, once there are enough', async () => {
    const scores = [3, 3, 3, 4, 4, 8, 8, 8, 9];
    const writeScores = async (id: string) => {
      for (const [index, score] of scores.entries())
        await write(id, `2026-11-${String(index + 16)}`, 'Shipped it', score);
    };
    await writeScores(await user({ premium: true }));
    await runAt('2026-11-27T17:00:00Z');
    expect(sent[0]!.text).toContain('Your scores rose from about 3 to about 8 since Nov 16.');
    await db.admin.query('delete from auth.users');
    now = new Date('2026-11-27T12:00:00Z');
    await writeScores(await user());
    await runAt('2026-11-27T17:00:00Z');
    expect(sent[1]!.text).not.toContain('Your scores');
  });
});

describe('the review', () => {
  const ANALYSIS = 'You **shipped** twice.\n\n- Write more\n\n**Wins**\n- 2026-11-25: Shipped the migration';
  const requests: unknown[] = [];
  beforeEach(() => {
    requests.length = 0;
    coach = {
      review: async (caller, request) => {
        requests.push([caller.userId, request]);
        return {
          events: async function* () {
            yield { event: 'done', data: { analysis: ANALYSIS } } as never;
          },
        };
      },
    };
  });

  test('is asked for with consent and becomes text, and its wins are the wins', async () => {
    const id = await user({ premium: true, consent: true, preferences: 'digest_review = true' });
    await write(id, '2026-11-25', 'Shipped it', 8);
    expect(await runAt('2026-11-27T17:00:00Z')).toMatchObject({ mailed: 1, reviewed: 1 });
    expect(requests).toEqual([[id, { period: '7-day', from: '2026-11-21', to: '2026-11-27' }]]);
    expect(sent[0]!.text).toContain('Wins\n\n- Nov 25: Shipped the migration');
    expect(sent[0]!.text).toContain('You shipped twice.\n\n- Write more');
  });

  test.each([
    ['without the consent', { premium: true, consent: false, preferences: 'digest_review = true' }],
    ['without the plan', { premium: false, consent: true, preferences: 'digest_review = true' }],
    ['unless chosen', { premium: true, consent: true }],
  ])('is not asked for %s', async (_name, person) => {
    const id = await user(person);
    await write(id, '2026-11-25', 'Shipped it', 8);
    expect(await runAt('2026-11-27T17:00:00Z')).toMatchObject({ mailed: 1, reviewed: 0 });
    expect(requests).toEqual([]);
  });

  test('that fails leaves the digest without it', async () => {
    coach = { review: () => Promise.reject(new Error('down')) };
    const id = await user({ premium: true, consent: true, preferences: 'digest_review = true' });
    await write(id, '2026-11-25', 'Shipped it', 8);
    expect(await runAt('2026-11-27T17:00:00Z')).toMatchObject({ mailed: 1, reviewed: 0 });
  });
});
