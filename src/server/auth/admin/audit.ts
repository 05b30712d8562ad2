/** GET /admin/audit: the audit log, newest first, in the form of supabase/auth (docs/specification/api.md 33). */
import { sql, type RawBuilder } from 'kysely';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AuditEntry, AuditEvent } from '../accounts/audit-log.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import { invalidRequest } from '../http/errors.ts';
import { NIL_UUID } from '../keys/access-tokens.ts';
import { containing, readPage, readQueryText, setPageHeaders } from './user-store.ts';

type LogType = 'account' | 'team' | 'token' | 'user' | 'factor' | 'recovery_codes';

/**
 * The action and the log type of each event. An event for which supabase/auth has no action keeps its name, except
 * `token_revoked`, which is the name of another action there.
 */
const ACTIONS: Record<AuditEvent, readonly [action: string, logType: LogType]> = {
  signed_up: ['user_signedup', 'team'],
  signed_in: ['login', 'account'],
  sign_in_failed: ['sign_in_failed', 'account'],
  signed_out: ['logout', 'account'],
  session_reuse_detected: ['token_revoked', 'token'],
  recovery_requested: ['user_recovery_requested', 'user'],
  account_claimed: ['account_claimed', 'user'],
  password_changed: ['user_updated_password', 'user'],
  address_change_requested: ['user_modified', 'user'],
  address_change_cancelled: ['user_modified', 'user'],
  address_changed: ['user_modified', 'user'],
  phone_changed: ['user_modified', 'user'],
  identity_linked: ['identity_linked', 'user'],
  identity_unlinked: ['identity_unlinked', 'user'],
  factor_enrolled: ['factor_in_progress', 'factor'],
  factor_verified: ['verification_attempted', 'factor'],
  factor_failed: ['verification_attempted', 'factor'],
  factor_changed: ['factor_updated', 'factor'],
  factor_removed: ['factor_unenrolled', 'factor'],
  recovery_codes_created: ['generate_recovery_codes', 'user'],
  recovery_code_used: ['mfa_code_login', 'factor'],
  passkey_added: ['passkey_created', 'user'],
  passkey_removed: ['passkey_deleted', 'user'],
  token_created: ['token_created', 'user'],
  token_revoked: ['personal_token_revoked', 'user'],
  slack_linked: ['slack_linked', 'user'],
  slack_unlinked: ['slack_unlinked', 'user'],
  archive_downloaded: ['archive_downloaded', 'user'],
  deletion_requested: ['deletion_requested', 'user'],
  deletion_undone: ['deletion_undone', 'user'],
  deleted: ['user_deleted', 'team'],
  invited: ['user_invited', 'team'],
  created_by_admin: ['user_signedup', 'team'],
  changed_by_admin: ['user_modified', 'user'],
  banned: ['user_modified', 'user'],
  unbanned: ['user_modified', 'user'],
  exported_by_operator: ['exported_by_operator', 'team'],
  viewed_by_operator: ['viewed_by_operator', 'team'],
  test_mail_sent: ['test_mail_sent', 'team'],
  key_forgotten: ['key_forgotten', 'team'],
  key_rotated: ['key_rotated', 'team'],
  service_token_created: ['service_token_created', 'team'],
  sso_provider_created: ['sso_provider_created', 'team'],
  sso_provider_changed: ['sso_provider_changed', 'team'],
  sso_provider_deleted: ['sso_provider_deleted', 'team'],
};

const SERVICE = 'service_role';
/**
 * A row of these actors is shown with its user as the actor; in other rows an administrator, the operator or a job
 * acted.
 */
const OWN_ACTORS: readonly AuditEntry['actor'][] = ['user', 'guest'];

export const listAuditLog: Endpoint = async (context, deps) => {
  const page = readPage(context);
  const matches = searchSql(readQueryText(context, 'query'));
  const service = deps.database.asService('read the audit log');
  const log = queryBuilder
    .selectFrom('auth.audit_log as log')
    .leftJoin('auth.users as user', 'user.id', 'log.user_id')
    .where(matches);
  const [rows, [count]] = await Promise.all([
    service.run(
      log
        .selectAll('log')
        .select(['user.email', 'user.phone', 'user.is_sso_user', 'user.raw_user_meta_data'])
        .orderBy('log.id', 'desc')
        .limit(page.size)
        .offset(page.offset),
    ),
    service.run(log.select(sql<number>`count(*)::integer`.as('total'))),
  ]);
  setPageHeaders(context, page, count!.total);
  return context.json(rows.map(entryJson));
};

type Row = {
  id: string | number | bigint;
  at: Date;
  user_id: string | null;
  actor: AuditEntry['actor'];
  event: string;
  ip: string | null;
  user_agent: string | null;
  details: Record<string, unknown>;
  email: string | null;
  phone: string | null;
  is_sso_user: boolean | null;
  raw_user_meta_data: Record<string, unknown> | null;
};

function entryJson(row: Row) {
  const [action, logType] = ACTIONS[row.event as AuditEvent] ?? [row.event, 'account'];
  return {
    id: entryId(row.id),
    payload: {
      action,
      log_type: logType,
      ...(OWN_ACTORS.includes(row.actor) ? ownActor(row) : foreignActor(row)),
      event: row.event,
      actor_type: row.actor,
      user_agent: row.user_agent,
    },
    created_at: row.at.toISOString(),
    ip_address: row.ip ?? '',
  };
}

function ownActor({ user_id, email, phone, is_sso_user, raw_user_meta_data: metadata, details }: Row) {
  const name = metadata?.['full_name'] ?? metadata?.['name'];
  return {
    actor_id: user_id ?? NIL_UUID,
    actor_username: phone ?? email ?? '',
    actor_via_sso: is_sso_user ?? false,
    ...(typeof name === 'string' && { actor_name: name }),
    traits: details,
  };
}

function foreignActor({ actor, user_id, email, phone, details }: Row) {
  const user = {
    ...(user_id !== null && { user_id }),
    ...(email !== null && { user_email: email }),
    ...(phone !== null && { user_phone: phone }),
  };
  return {
    actor_id: NIL_UUID,
    actor_username: actor === 'service' ? SERVICE : actor,
    actor_via_sso: false,
    traits: { ...user, ...details },
  };
}

/** A UUID of version 8 (RFC 9562 5.8) that holds the number of the row. */
const entryId = (id: Row['id']): string => `00000000-0000-8000-8000-${BigInt(id).toString(16).padStart(12, '0')}`;

/**
 * `query` is `author:`, `action:` or `type:`, followed by a part of the wanted text. An empty query or text matches
 * every row. Throws an AuthError for another form.
 */
function searchSql(query: string): RawBuilder<boolean> {
  if (query === '') return sql<boolean>`true`;
  const [, scope, text] = /^(author|action|type):(.*)$/s.exec(query) ?? [];
  if (scope === undefined || text === undefined) throw invalidRequest(`Invalid query scope: ${query.slice(0, 100)}`);
  if (text === '') return sql<boolean>`true`;
  if (scope === 'author') return authorSql(text);
  const wanted = text.toLowerCase();
  const index = scope === 'action' ? 0 : 1;
  const events = Object.entries(ACTIONS).flatMap(([event, names]) => (names[index].includes(wanted) ? [event] : []));
  return sql<boolean>`log.event = any (${events})`;
}

function authorSql(text: string): RawBuilder<boolean> {
  const pattern = containing(text);
  return sql<boolean>`case when log.actor = any (${OWN_ACTORS})
    then "user".email ilike ${pattern} or "user".phone ilike ${pattern}
      or coalesce("user".raw_user_meta_data->>'full_name', "user".raw_user_meta_data->>'name') ilike ${pattern}
    else case log.actor when 'service' then ${SERVICE} else log.actor end ilike ${pattern} end`;
}
