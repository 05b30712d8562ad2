/** The types, the error and the helpers that the operator commands share. */
import { readConfig, type Config } from '../config/config.ts';
import { openDatabase } from '../database/connect.ts';
import type { Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { createLog } from '../log.ts';

/** An expected failure, such as wrong arguments, an unknown account or a refused refund. */
export class CommandError extends Error {}

/** Every option of any command; `parseArgs` reads them. */
export const OPTIONS = {
  days: { type: 'string' },
  anyway: { type: 'boolean' },
  now: { type: 'boolean' },
  print: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;
export type OptionName = keyof typeof OPTIONS;
export type Options = { days?: string | undefined } & { [Name in Exclude<OptionName, 'days'>]?: boolean | undefined };

export type Environment = Readonly<Record<string, string | undefined>>;

export type Invocation = {
  /** The argument after the command; empty for a command without one. */
  subject: string;
  options: Options;
  /** The environment with the settings; by default `process.env`. */
  env?: Environment | undefined;
};

export type Command = {
  /**
   * As in the help, such as `plan:grant ADDRESS [--days N]`. The parser reads from it whether the command takes an
   * argument, and which options.
   */
  usage: string;
  help: readonly string[];
  /** Returns the text to print. */
  run(invocation: Invocation): Promise<string>;
};

type Work = (database: Database, config: Config) => Promise<string>;

/** Uses the embedded database of a running server if there is one, so the operator need not stop the server. */
export async function withDatabase({ env }: Pick<Invocation, 'env'>, work: Work): Promise<string> {
  const config = readConfig(env);
  const database = await openDatabase({ config, log: createLog('warn'), whenRunning: 'join' });
  try {
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/** Returns the id of the account. Throws a CommandError when no account has the address. */
export async function findUserId(database: Database, address: string): Promise<string> {
  const email = address.trim().toLowerCase();
  const found = await database
    .asService('run an operator command')
    .run(queryBuilder.selectFrom('auth.users').select('id').where('email', '=', email).orderBy('is_sso_user'));
  if (!found[0]) throw new CommandError(`There is no account with the address ${address}.`);
  return found[0].id;
}

/** Returns null without `--days`. Throws a CommandError unless it is a whole number from 1 to `max`. */
export function readDays({ days }: Options, max: number): number | null {
  if (days === undefined) return null;
  const count = Number(days);
  if (/^[1-9]\d*$/.test(days) && count <= max) return count;
  throw new CommandError(`--days must be a whole number from 1 to ${max}, not "${days}"`);
}
