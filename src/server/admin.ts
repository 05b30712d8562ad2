/** `npm run admin -- COMMAND`: what an operator does by hand, also while the server runs. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { exportJWK, generateKeyPair } from 'jose';
import { addDays, latestToday } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import { systemClock } from './clock.ts';
import { readConfig } from './config.ts';
import { openDatabase } from './database/connect.ts';
import type { Database } from './database/database.ts';
import { sqlFor } from './database/sql-for.ts';
import { createLog } from './log.ts';
import { changePlan } from './plans/change-plan.ts';

const USAGE = `Commands:
  plan:grant ADDRESS [--days N]  make this account a Closer, for N days from today or without end
  plan:revoke ADDRESS            make this account a Dabbler again; no log is deleted
  key:create                     print a private key for AUTH_SIGNING_KEY_FILE
`;

/** A mistake of the operator's: its message is all they need to see. */
class Refused extends Error {}

/** Answers the line to print. */
async function perform(args: readonly string[]): Promise<string> {
  const { positionals, values } = readArguments(args);
  const [command, address, ...rest] = positionals;
  if (rest.length > 0) throw new Refused(USAGE);
  if (command === 'key:create') return createKey();
  if ((command !== 'plan:grant' && command !== 'plan:revoke') || address === undefined) throw new Refused(USAGE);
  if (command === 'plan:revoke') return withDatabase((database) => revoke(database, address));
  const until = values.days === undefined ? null : lastDay(values.days);
  return withDatabase((database) => grant(database, address, until));
}

function readArguments(args: readonly string[]): { positionals: string[]; values: { days?: string | undefined } } {
  try {
    return parseArgs({ args: [...args], options: { days: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw new Refused(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

/** Counted from the latest today on Earth, so that nobody anywhere gets a day less than was granted. */
function lastDay(days: string): Day {
  if (!/^[1-9]\d{0,4}$/.test(days)) throw new Refused(`--days must be a whole number from 1 to 99999, not "${days}"`);
  return addDays(latestToday(systemClock.now()), Number(days));
}

async function grant(database: Database, address: string, until: Day | null): Promise<string> {
  const userId = await accountOf(database, address);
  await changePlan(database, { userId, plan: 'premium', accessValidUntil: until, reason: 'operator grant' });
  return `${address} is a Closer ${until === null ? 'without end' : `until ${until}`}.`;
}

async function revoke(database: Database, address: string): Promise<string> {
  const userId = await accountOf(database, address);
  await changePlan(database, { userId, plan: 'free', accessValidUntil: null, reason: 'operator revocation' });
  return `${address} is a Dabbler.`;
}

async function accountOf(database: Database, address: string): Promise<string> {
  const email = address.trim().toLowerCase();
  const found = await database
    .asService('operator command')
    .run(sqlFor.selectFrom('auth.users').select('id').where('email', '=', email));
  if (!found[0]) throw new Refused(`There is no account with the address ${address}.`);
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

try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  process.stdout.write(`${await perform(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
