/** `npm run admin -- COMMAND`: operator commands, which also work while the server runs. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { exportJWK, generateKeyPair } from 'jose';
import { addDays, isBefore, latestToday } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { systemClock } from './clock.ts';
import { readConfig } from './config/config.ts';
import { openDatabase } from './database/connect.ts';
import type { Database } from './database/database.ts';
import { queryBuilder } from './database/query-builder.ts';
import { createLog } from './log.ts';
import { createPayments } from './payments/payments.ts';
import { endText, listPayments, refundByOperator } from './payments/refunds/refund-command.ts';
import { changePlan, changePlanInTransaction } from './plans/change-plan.ts';
import { lockPlan } from './plans/paid-year.ts';

const USAGE = `Commands:
  plan:grant ADDRESS [--days N]  make this account a Closer, for N days from today or without end;
                                 a plan that runs longer stays as it is
  plan:revoke ADDRESS            make this account a Dabbler again; no log is deleted
  payments ADDRESS               list the payments of this account
  refund PAYMENT [--anyway]      give a payment back, within the right of withdrawal or anyway
  key:create                     print a private key for AUTH_SIGNING_KEY_FILE
`;

/** An expected failure: wrong arguments, an unknown account, a refused refund. */
class CommandError extends Error {}

/** Returns the text to print. */
export async function runAdminCommand(args: readonly string[]): Promise<string> {
  const { positionals, values } = readArguments(args);
  const [command, subject, ...rest] = positionals;
  if (rest.length > 0) throw new CommandError(USAGE);
  if (command === 'key:create') return createKey();
  if (command === undefined || subject === undefined) throw new CommandError(USAGE);
  switch (command) {
    case 'plan:grant': {
      const until = values.days === undefined ? null : lastDay(values.days);
      return withDatabase((database) => grant(database, subject, until));
    }
    case 'plan:revoke':
      return withDatabase((database) => revoke(database, subject));
    case 'payments':
      return withDatabase(async (database) => listPayments(database, await accountOf(database, subject)));
    case 'refund':
      return refund(subject, values.anyway ?? false);
    default:
      throw new CommandError(USAGE);
  }
}

const OPTIONS = { days: { type: 'string' }, anyway: { type: 'boolean' } } as const;
type Values = { days?: string | undefined; anyway?: boolean | undefined };

function readArguments(args: readonly string[]): { positionals: string[]; values: Values } {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

/** Counted from the latest current date on Earth, so users in every time zone get all the granted days. */
function lastDay(days: string): Day {
  if (!/^[1-9]\d{0,4}$/.test(days))
    throw new CommandError(`--days must be a whole number from 1 to 99999, not "${days}"`);
  return addDays(latestToday(systemClock.now()), Number(days));
}

async function grant(database: Database, address: string, until: Day | null): Promise<string> {
  const userId = await accountOf(database, address);
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
  const userId = await accountOf(database, address);
  await changePlan(database, { userId, plan: 'free', accessValidUntil: null, reason: 'operator revocation' });
  return `${address} is a Dabbler.`;
}

async function refund(id: string, anyway: boolean): Promise<string> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new CommandError(`"${id}" names no payment: "payments ADDRESS" lists them`);
  }
  const config = readConfig();
  return withDatabase(async (database) => {
    const payments = createPayments({
      config,
      database,
      clock: systemClock,
      log: createLog('warn'),
      requestMails: () => undefined,
    });
    const refundNow = payments && ((payment: string) => payments.refund(payment));
    const answer = await refundByOperator({ database, clock: systemClock, refundNow }, id, anyway);
    if ('refused' in answer) throw new CommandError(answer.refused);
    return answer.done;
  });
}

async function accountOf(database: Database, address: string): Promise<string> {
  const email = address.trim().toLowerCase();
  const found = await database
    .asService('run an operator command')
    .run(queryBuilder.selectFrom('auth.users').select('id').where('email', '=', email));
  if (!found[0]) throw new CommandError(`There is no account with the address ${address}.`);
  return found[0].id;
}

async function createKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256' });
}

async function withDatabase(work: (database: Database) => Promise<string>): Promise<string> {
  const database = await openDatabase({ config: readConfig(), log: createLog('warn'), whenRunning: 'join' });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

if (import.meta.main) {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env');
    process.stdout.write(`${await runAdminCommand(process.argv.slice(2))}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
