/** The commands `plan:grant` and `plan:revoke`. */
import { addDays, isBefore, latestToday, type Day } from '#domain/day/day.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { endText } from '../payments/refunds/refund-command.ts';
import { changePlan, changePlanInTransaction } from '../plans/change-plan.ts';
import { lockPlan } from '../plans/paid-year.ts';
import { findUserId, readDays, withDatabase, type Command } from './command.ts';

const MAX_DAYS = 99_999;

export const PLAN_COMMANDS: readonly Command[] = [
  {
    usage: 'plan:grant ADDRESS [--days N]',
    help: [
      'make this account a Closer, for N days from today or without end;',
      'a plan that runs longer stays as it is',
    ],
    run: (invocation) => {
      const days = readDays(invocation.options, MAX_DAYS);
      // Counted from the latest current date on Earth, so users in every time zone get all the granted days.
      const until = days === null ? null : addDays(latestToday(systemClock.now()), days);
      return withDatabase(invocation, (database) => grant(database, invocation.subject, until));
    },
  },
  {
    usage: 'plan:revoke ADDRESS',
    help: ['make this account a Dabbler again; no log is deleted'],
    run: (invocation) => withDatabase(invocation, (database) => revoke(database, invocation.subject)),
  },
];

async function grant(database: Database, address: string, until: Day | null): Promise<string> {
  const userId = await findUserId(database, address);
  return database.transactAsService('operator grant', async (transaction) => {
    const { subscription_plan: plan, access_valid_until: before } = (await lockPlan(transaction, userId))!;
    // Granting never shortens a plan, because the user may have paid for the longer one.
    if (plan === 'premium' && until !== null && (before === null || isBefore(until, before))) {
      return `${address} stays a Closer ${endText(before)}, which is later than ${until}: nothing changes.`;
    }
    await changePlanInTransaction(transaction, {
      userId,
      plan: 'premium',
      accessValidUntil: until,
      reason: 'operator grant',
    });
    return `${address} is a Closer ${endText(until)}.`;
  });
}

async function revoke(database: Database, address: string): Promise<string> {
  const userId = await findUserId(database, address);
  await changePlan(database, { userId, plan: 'free', accessValidUntil: null, reason: 'operator revocation' });
  return `${address} is a Dabbler.`;
}
