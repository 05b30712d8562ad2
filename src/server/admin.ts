/** `npm run admin -- COMMAND`: operator commands, which also work while the server runs. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  CommandError,
  OPTIONS,
  type Command,
  type Environment,
  type OptionName,
  type Options,
} from './admin/command.ts';
import { KEY_COMMANDS, MAIL_COMMANDS, MIGRATION_COMMANDS } from './admin/server-commands.ts';
import { PAYMENT_COMMANDS, PLAN_COMMANDS } from './admin/payment-commands.ts';
import { USER_COMMANDS } from './admin/user-commands.ts';

const COMMANDS: readonly Command[] = [
  ...USER_COMMANDS,
  ...PLAN_COMMANDS,
  ...PAYMENT_COMMANDS,
  ...KEY_COMMANDS,
  ...MAIL_COMMANDS,
  ...MIGRATION_COMMANDS,
];

const HELP_COLUMN = 33;
const HELP = `Commands:\n${COMMANDS.map(describeCommand).join('')}`;

function describeCommand({ usage, help }: Command): string {
  return help.map((line, index) => `  ${(index === 0 ? usage : '').padEnd(HELP_COLUMN - 2)}${line}\n`).join('');
}

/**
 * Returns the text to print. Throws a CommandError for an expected failure, and another Error for the rest, such as an
 * invalid setting or an unreachable database.
 */
export async function runAdminCommand(args: readonly string[], env?: Environment): Promise<string> {
  const { positionals, values } = readArguments(args);
  const [name, subject, ...rest] = positionals;
  if (name === undefined || name === 'help') return name === undefined ? rejectUsage() : HELP.trimEnd();
  const command = COMMANDS.find(({ usage }) => usage.split(' ')[0] === name);
  if (!command) return rejectUsage(`There is no command "${name}".`);
  const [, argument] = /^\S+ ([A-Z]+)/.exec(command.usage) ?? [];
  if (rest.length > 0 || (argument === undefined) !== (subject === undefined))
    return rejectUsage(`Usage: npm run admin -- ${command.usage}`);
  for (const option of Object.keys(values) as OptionName[]) {
    if (!command.usage.includes(`[--${option}`)) return rejectUsage(`${name} takes no --${option}`);
  }
  return command.run({ subject: subject ?? '', options: values, env });
}

function rejectUsage(problem = ''): never {
  throw new CommandError(problem === '' ? HELP : `${problem}\n${HELP}`);
}

function readArguments(args: readonly string[]): { positionals: string[]; values: Options } {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return rejectUsage(error instanceof Error ? error.message : String(error));
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
