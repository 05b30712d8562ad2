/** The commands of payments and plans. */
import { addDays, isBefore, latestToday, type Day } from '#domain/day/day.ts';
import { CommandError, findUserId, withDatabase, readDays, type Command, type Invocation } from './command.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import { createPayments } from '../payments/payments.ts';
import { listPayments, refundByOperator, endText } from '../payments/refund-payment.ts';
import { changePlan, changePlanInTransaction, lockPlan } from '../plans/change-plan.ts';

export const PAYMENT_COMMANDS: readonly Command[] = [
  {
    usage: 'payments ADDRESS',
    help: ['list the payments of this account'],
    run: (invocation) =>
      withDatabase(invocation, async (database) =>
        listPayments(database, await findUserId(database, invocation.subject)),
      ),
  },
  {
    usage: 'refund PAYMENT [--anyway]',
    help: ['give a payment back, within the right of withdrawal or anyway'],
    run: refund,
  },
];

function refund(invocation: Invocation): Promise<string> {
  const { subject: id, options } = invocation;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new CommandError(`"${id}" names no payment: "payments ADDRESS" lists them`);
  }
  return withDatabase(invocation, async (database, config) => {
    const payments = createPayments({
      config,
      database,
      clock: systemClock,
      log: createLog('warn'),
      requestMails: () => undefined,
    });
    const refundNow = payments && ((payment: string) => payments.refund(payment));
    const answer = await refundByOperator({ database, clock: systemClock, refundNow }, id, options.anyway ?? false);
    if ('refused' in answer) throw new CommandError(answer.refused);
    return answer.done;
  });
}

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
