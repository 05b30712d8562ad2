/** The commands `user:…`, which show, export, change or delete one account. The audit log records what they do. */
import { JSON_FORMAT } from '#domain/export/formats/json-format.ts';
import { ROUTES } from '#domain/routes.ts';
import {
  CommandError,
  findUserId,
  readDays,
  withDatabase,
  type Command,
  type Invocation,
  type Options,
} from './command.ts';
import { isBanned } from '../auth/accounts/accounts.ts';
import { recordAuditEvent, type AuditEvent } from '../auth/accounts/audit-log.ts';
import { deleteAccount } from '../auth/own-account/delete-account.ts';
import { issueOneTimeToken } from '../auth/codes/one-time-tokens.ts';
import { NO_ATTRIBUTES, type UserAttributes } from '../auth/admin/user-attributes.ts';
import { changeUser } from '../auth/admin/user-store.ts';
import { loadSigningKeys } from '../auth/keys/signing-keys.ts';
import { mailLink } from '../auth/codes/mail-codes.ts';
import { accountGuessKey } from '../auth/sessions/device-cookie.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { createLog } from '../log.ts';
import { accountDeletedMail } from '../mail/account-emails.ts';
import { createMailer } from '../mail/mailer.ts';
import { endText } from '../payments/refund-payment.ts';

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

const OF_PAYMENT = 'payment_id in (select id from public.payments where user_id = $1)';

/**
 * The tables in the output of `user:export`, besides the logs: the name of the member, the table, the columns that are
 * left out, and the condition for the user `$1`.
 */
export const EXPORTED_TABLES: readonly (readonly [
  name: string,
  table: string,
  secrets?: readonly string[],
  condition?: string,
])[] = [
  ['account', 'auth.users', ['password_hash'], 'id = $1'],
  ['identities', 'auth.identities'],
  ['sessions', 'auth.sessions'],
  ['factors', 'auth.mfa_factors', ['secret', 'last_time_step']],
  [
    'factor_challenges',
    'auth.mfa_challenges',
    ['code_hash', 'webauthn_challenge'],
    'factor_id in (select id from auth.mfa_factors where user_id = $1)',
  ],
  ['recovery_code_sets', 'auth.recovery_code_sets'],
  ['recovery_codes', 'auth.recovery_codes', ['code_hash']],
  ['passkeys', 'auth.webauthn_credentials', ['public_key', 'credential_id']],
  ['one_time_tokens', 'auth.one_time_tokens', ['link_hash', 'code_hash']],
  ['earlier_links', 'auth.earlier_links', ['link_hash']],
  ['audit_log', 'auth.audit_log'],
  ['profile', 'public.profiles', [], 'id = $1'],
  ['earlier_versions', 'public.entry_versions'],
  ['appended_items', 'public.appended_items', ['items_hash']],
  ['imports', 'public.import_days'],
  ['analyses', 'public.analyses'],
  ['analysis_runs', 'public.analysis_runs'],
  ['reviews', 'public.reviews'],
  ['documents', 'public.documents'],
  ['document_links', 'public.document_links', ['token_hash']],
  ['preferences', 'public.preferences'],
  ['reminder_schedule', 'public.reminder_schedule'],
  ['mail_tokens', 'public.mail_tokens', ['token_hash']],
  ['time_off', 'public.time_off'],
  ['access_tokens', 'public.access_tokens', ['token_hash']],
  ['connect_requests', 'public.connect_requests', ['code_hash', 'user_code'], 'approved_by = $1'],
  ['slack_links', 'public.slack_links'],
  ['push_subscriptions', 'public.push_subscriptions', ['endpoint', 'p256dh', 'auth', 'renewal_hash']],
  ['payments', 'public.payments'],
  ['payment_changes', 'public.payment_changes', [], OF_PAYMENT],
  ['payment_ledger', 'public.payment_ledger', [], OF_PAYMENT],
  ['plan_changes', 'public.plan_changes'],
  ['plan_reminders', 'public.plan_reminders'],
  ['plan_uses', 'public.plan_uses'],
];

/**
 * The text of `user:export`: one user's logs and rows of EXPORTED_TABLES, without the secrets that open the account.
 * The logs have the form of the JSON export, so the file can be imported (docs/specification/export-and-import.md 3).
 */
async function exportUser(database: Database, userId: string, exportedAt: Date): Promise<string> {
  const parts: Record<string, unknown> = { format: JSON_FORMAT, exportedAt: exportedAt.toISOString() };
  await database.transactAsService('export a user', async (transaction) => {
    parts['entries'] = await readEntries(transaction, userId);
    for (const [name, table, secrets = [], condition = 'user_id = $1'] of EXPORTED_TABLES) {
      const { rows } = await transaction.statement<{ row: unknown }>(
        `select to_jsonb(stored) - $2::text[] as row from ${table} stored where ${condition}`,
        [userId, secrets],
      );
      parts[name] = rows.map(({ row }) => row);
    }
  });
  return JSON.stringify(parts, null, 1);
}

async function readEntries(transaction: AsService, userId: string): Promise<unknown[]> {
  const { rows } = await transaction.statement(
    `select date, content, hustle_score as "hustleScore", ai_feedback as feedback, ai_analyzed_at as "analyzedAt"
       from public.entries where user_id = $1 order by date`,
    [userId],
  );
  return rows;
}

const MAX_EVENTS = 10;

const time = (at: Date | null): string => (at === null ? 'never' : `${at.toISOString().slice(0, 19)}Z`);

/** The text of `user:show`. */
async function describeUser(service: AsService, userId: string, now: Date): Promise<string> {
  const { user, identities, factors, passkeys, sessions, plan, logs, events } = await readUser(service, userId);
  const lines: [string, string | null][] = [
    ['id', user.id],
    ['address', addressText(user.email, user.email_confirmed_at)],
    ['phone', user.phone === null ? null : addressText(user.phone, user.phone_confirmed_at)],
    ['created', time(user.created_at)],
    ['last sign-in', time(user.last_sign_in_at)],
    ['banned until', isBanned(user, now) ? time(user.banned_until) : null],
    ['deletion due', user.deletion_due_at && time(user.deletion_due_at)],
    ['plan', plan && (plan.subscription_plan === 'premium' ? `Closer ${endText(plan.access_valid_until)}` : 'Dabbler')],
    ['logs', String(logs)],
    ['password', user.password_hash === null ? 'no' : 'yes'],
    ['identities', identities.map(({ provider }) => provider).join(', ')],
    ['second factors', factors.map(({ factor_type, status }) => `${factor_type} (${status})`).join(', ')],
    ['passkeys', String(passkeys)],
    ['sessions', String(sessions.length)],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== null);
  return [
    ...shown.map(([name, value]) => `${name.padEnd(16)}${value === '' ? 'none' : value}`),
    ...sessions.map((session) => `  ${time(session.refreshed_at ?? session.created_at)}  ${session.ip ?? ''}`),
    'events',
    ...events.map(({ at, actor, event, ip }) => `  ${time(at)}  ${actor.padEnd(8)}  ${event}  ${ip ?? ''}`.trimEnd()),
  ].join('\n');
}

const addressText = (address: string | null, confirmedAt: Date | null): string =>
  address === null
    ? 'none'
    : `${address}, ${confirmedAt === null ? 'not confirmed' : `confirmed ${time(confirmedAt)}`}`;

async function readUser(service: AsService, userId: string) {
  const [users, identities, factors, passkeys, sessions, plans, logs, events] = await Promise.all([
    service.run(queryBuilder.selectFrom('auth.users').selectAll().where('id', '=', userId)),
    service.run(queryBuilder.selectFrom('auth.identities').select('provider').where('user_id', '=', userId)),
    service.run(
      queryBuilder.selectFrom('auth.mfa_factors').select(['factor_type', 'status']).where('user_id', '=', userId),
    ),
    service.run(queryBuilder.selectFrom('auth.webauthn_credentials').select('id').where('user_id', '=', userId)),
    service.run(
      queryBuilder.selectFrom('auth.sessions').selectAll().where('user_id', '=', userId).orderBy('created_at'),
    ),
    service.run(
      queryBuilder.selectFrom('profiles').select(['subscription_plan', 'access_valid_until']).where('id', '=', userId),
    ),
    service.run(
      queryBuilder
        .selectFrom('entries')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('user_id', '=', userId),
    ),
    service.run(
      queryBuilder
        .selectFrom('auth.audit_log')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .limit(MAX_EVENTS),
    ),
  ]);
  const [user, plan] = [users[0]!, plans[0] ?? null];
  return { user, identities, factors, passkeys: passkeys.length, sessions, plan, logs: logs[0]!.count, events };
}
