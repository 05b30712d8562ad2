/**
 * Mails users 30 and 3 days before their plan ends, once each. A late run sends only the nearest reminder. An endless
 * plan gets none; a renewed plan gets those of its new end.
 */
import { addDays, dateLabel, earliestToday, type Day } from '#domain/day/day.ts';
import { REMINDER_DAYS } from '#domain/payment/payment.ts';
import { ROUTES } from '#domain/routes.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import type { Logger } from '../log.ts';
import { MailDeferred, MailRejected, type Mailer } from '../mail/mailer.ts';
import { yearEndsMail } from '../mail/payment-emails.ts';

type Deps = {
  config: Pick<Config, 'publicUrl'>;
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Pick<Mailer, 'deliver'>;
};

const PAGE_SIZE = 200;
/** After this many deferred mails in one run, the mail server is considered down and the run ends. */
const MAX_DEFERRED_PER_RUN = 3;

/** @throws MailDeferred when some mails were deferred: the next run sends them. */
export async function sendReminders(deps: Deps, signal: AbortSignal): Promise<{ mailed: number; dropped: number }> {
  const { database, clock, log, mailer } = deps;
  const service = database.asService('send reminders');
  const profileLink = deps.config.publicUrl + ROUTES.profile.path;
  const today = earliestToday(clock.now());
  const count = { mailed: 0, dropped: 0 };
  let failures = 0;

  for await (const reminder of dueReminders(service, today)) {
    if (signal.aborted || failures >= MAX_DEFERRED_PER_RUN) break;
    if (!(await claim(service, reminder, clock.now()))) continue;
    try {
      await mailer.deliver(yearEndsMail({ to: reminder.email, endsOn: dateLabel(reminder.endsOn), profileLink }));
      count.mailed += 1;
    } catch (error) {
      if (error instanceof MailRejected) {
        log.warn({ user: reminder.userId }, 'a reminder was rejected');
        count.dropped += 1;
        continue;
      }
      await releaseClaim(service, reminder);
      if (!(error instanceof MailDeferred)) throw error;
      failures += 1;
    }
  }
  if (failures > 0) throw new MailDeferred(`${failures} reminders were deferred`);
  return count;
}

type Reminder = { userId: string; email: string; endsOn: Day; daysBefore: number };

/** Nearest first, so a user with three days left gets no 30-day reminder. */
async function* dueReminders(service: AsService, today: Day): AsyncGenerator<Reminder> {
  let from = today;
  for (const daysBefore of [...REMINDER_DAYS].toSorted((a, b) => a - b)) {
    const to = addDays(today, daysBefore);
    yield* remindersBetween(service, { from, to, daysBefore });
    from = addDays(to, 1);
  }
}

type EndRange = { from: Day; to: Day; daysBefore: number };

async function* remindersBetween(service: AsService, { from, to, daysBefore }: EndRange): AsyncGenerator<Reminder> {
  for (let after: string | null = null; ;) {
    let query = queryBuilder
      .selectFrom('profiles')
      .innerJoin('auth.users', 'auth.users.id', 'profiles.id')
      .select(['profiles.id as userId', 'auth.users.email', 'profiles.access_valid_until as endsOn'])
      .where('subscription_plan', '=', 'premium')
      .where('access_valid_until', '>=', from)
      .where('access_valid_until', '<=', to)
      .where('auth.users.email', 'is not', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('plan_reminders')
              .select('user_id')
              .whereRef('user_id', '=', 'profiles.id')
              .whereRef('plan_reminders.access_valid_until', '=', 'profiles.access_valid_until')
              .where('days_before', '=', daysBefore),
          ),
        ),
      )
      .orderBy('profiles.id')
      .limit(PAGE_SIZE);
    if (after !== null) query = query.where('profiles.id', '>', after);
    const rows = await service.run(query);
    for (const { userId, email, endsOn } of rows) yield { userId, email: email!, endsOn: endsOn!, daysBefore };
    if (rows.length < PAGE_SIZE) return;
    after = rows.at(-1)!.userId;
  }
}

/** Claims the reminder before sending, so no other server sends it. False: already claimed, or renewed meanwhile. */
async function claim(service: AsService, { userId, endsOn, daysBefore }: Reminder, now: Date): Promise<boolean> {
  const { rowCount } = await service.statement(
    `insert into plan_reminders (user_id, access_valid_until, days_before, mailed_at)
     select id, access_valid_until, $3, $4 from profiles
      where id = $1 and subscription_plan = 'premium' and access_valid_until = $2
     on conflict do nothing`,
    [userId, endsOn, daysBefore, now],
  );
  return rowCount === 1;
}

async function releaseClaim(service: AsService, { userId, endsOn, daysBefore }: Reminder): Promise<void> {
  await service.run(
    queryBuilder
      .deleteFrom('plan_reminders')
      .where('user_id', '=', userId)
      .where('access_valid_until', '=', endsOn)
      .where('days_before', '=', daysBefore),
  );
}
