/** The text of `user:show`. */
import { isBanned } from '../auth/accounts/accounts.ts';
import type { AsService } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { endText } from '../payments/refunds/refund-command.ts';

const MAX_EVENTS = 10;

const time = (at: Date | null): string => (at === null ? 'never' : `${at.toISOString().slice(0, 19)}Z`);

export async function describeUser(service: AsService, userId: string, now: Date): Promise<string> {
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
