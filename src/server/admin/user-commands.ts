/** The commands `user:…`, which show, export, change or delete one account. Each adds an audit row of the operator. */
import { ROUTES } from '#domain/routes.ts';
import { changeUser } from '../auth/admin/user-store.ts';
import { NO_ATTRIBUTES, type UserAttributes } from '../auth/admin/user-attributes.ts';
import { recordAuditEvent, type AuditEvent } from '../auth/accounts/audit-log.ts';
import { deleteAccount } from '../auth/own-account/delete-account.ts';
import { issueOneTimeToken } from '../auth/codes/one-time-tokens.ts';
import { loadSigningKeys } from '../auth/keys/signing-keys.ts';
import { mailLink } from '../auth/codes/mail-codes.ts';
import { accountGuessKey } from '../auth/sessions/device-cookie.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import { accountDeletedMail } from '../mail/account-emails.ts';
import { createMailer } from '../mail/mailer.ts';
import {
  CommandError,
  findUserId,
  readDays,
  withDatabase,
  type Command,
  type Invocation,
  type Options,
} from './command.ts';
import { exportUser } from './user-export.ts';
import { describeUser } from './user-summary.ts';

const MAX_BAN_DAYS = 36_500;
const DAY_MS = 24 * 3_600_000;

type Target = { database: Database; config: Config; address: string; userId: string; options: Options };

const userCommand = (usage: string, help: readonly string[], work: (target: Target) => Promise<string>): Command => ({
  usage,
  help,
  run: (invocation: Invocation) =>
    withDatabase(invocation, async (database, config) => {
      const { subject: address, options } = invocation;
      return work({ database, config, address, userId: await findUserId(database, address), options });
    }),
});

export const USER_COMMANDS: readonly Command[] = [
  userCommand('user:show ADDRESS', ['show state, ways to sign in, sessions and latest events'], showUser),
  userCommand(
    'user:reset-link ADDRESS',
    ['print a link that sets a new password once, within an hour'],
    printResetLink,
  ),
  userCommand(
    'user:ban ADDRESS [--days N]',
    ['refuse sign-in and data, for N days or without end;', 'sessions continue after the ban'],
    (target) => changeBan(target, readDays(target.options, MAX_BAN_DAYS) ?? MAX_BAN_DAYS),
  ),
  userCommand('user:unban ADDRESS', ['end a ban'], (target) => changeBan(target, null)),
  userCommand('user:export ADDRESS', ['print everything that is stored about an account, as JSON'], printExport),
  userCommand(
    'user:delete ADDRESS [--yes]',
    ['delete an account and all its logs for good, at once;', 'the owner is told by mail'],
    removeUser,
  ),
];

const record = (service: AsService, userId: string, event: AuditEvent): Promise<void> =>
  recordAuditEvent(service, { at: systemClock.now(), userId, actor: 'operator', event });

async function showUser({ database, userId }: Target): Promise<string> {
  const service = database.asService('show a user to the operator');
  const summary = await describeUser(service, userId, systemClock.now());
  await record(service, userId, 'viewed_by_operator');
  return summary;
}

async function printExport({ database, userId }: Target): Promise<string> {
  await record(database.asService('export a user'), userId, 'exported_by_operator');
  return exportUser(database, userId, systemClock.now());
}

const loadKeys = (database: Database, { auth: { signingKeyFile }, dataDir }: Config) =>
  loadSigningKeys({ signingKeyFile, dataDir, database, clock: systemClock, log: createLog('warn') });

async function printResetLink({ database, config, address, userId }: Target): Promise<string> {
  const keys = await loadKeys(database, config);
  const { linkToken } = await database.transactAsService('make a reset link', async (transaction) => {
    await record(transaction, userId, 'recovery_requested');
    return issueOneTimeToken(transaction, {
      userId,
      purpose: 'recovery',
      address: address.trim().toLowerCase(),
      now: systemClock.now(),
      key: keys.deriveSecret('one-time-codes'),
    });
  });
  return mailLink(config, 'recovery', linkToken, `${config.publicUrl}${ROUTES.resetPassword.path}`);
}

async function changeBan({ database, address, userId }: Target, days: number | null): Promise<string> {
  const now = systemClock.now();
  const until = days === null ? null : new Date(now.getTime() + days * DAY_MS);
  const attributes: UserAttributes = { ...NO_ATTRIBUTES, ban: { until } };
  await database.transactAsService('change a ban', (transaction) =>
    changeUser(transaction, { userId, attributes, author: { actor: 'operator', now } }),
  );
  if (until === null) return `${address} is not banned.`;
  const end = days === MAX_BAN_DAYS ? 'without end' : `until ${until.toISOString()}`;
  return `${address} is banned ${end}. A running server refuses open sessions within 30 seconds.`;
}

async function removeUser({ database, config, address, userId, options }: Target): Promise<string> {
  if (options.yes !== true) {
    throw new CommandError(`Deletes ${address} with all logs, for good. Repeat the command with --yes.`);
  }
  const keys = await loadKeys(database, config);
  const findRateLimitKeys = (email: string) => [accountGuessKey(keys.deriveSecret('known-devices'), email)];
  const now = systemClock.now();
  const deleted = await deleteAccount(database, { userId, actor: 'operator', now, findRateLimitKeys });
  if (deleted?.email) {
    const mailer = createMailer(config.mail, createLog('warn'));
    mailer.send(accountDeletedMail({ to: deleted.email }));
    await mailer.close();
  }
  return `${address} is deleted.`;
}
