/**
 * The audit log of security events (docs/specification/accounts.md 13). It is append-only, with two exceptions: a job
 * deletes rows after 400 days, and the deletion of an account erases from its rows what names a person
 * (`erase_audit_log`).
 */
import type { Insertable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, JsonObject } from '#server/database/tables.ts';
import type { Device } from '../http/device.ts';

export type AuditEvent =
  | 'signed_up'
  | 'signed_in'
  | 'sign_in_failed'
  | 'signed_out'
  | 'session_reuse_detected'
  | 'recovery_requested'
  | 'account_claimed'
  | 'password_changed'
  | 'address_change_requested'
  | 'address_change_cancelled'
  | 'address_changed'
  | 'phone_changed'
  | 'identity_linked'
  | 'identity_unlinked'
  | 'factor_enrolled'
  | 'factor_verified'
  | 'factor_changed'
  | 'factor_failed'
  | 'factor_removed'
  | 'recovery_codes_created'
  | 'recovery_code_used'
  | 'passkey_added'
  | 'passkey_removed'
  | 'token_created'
  | 'token_revoked'
  | 'slack_linked'
  | 'slack_unlinked'
  | 'archive_downloaded'
  | 'deletion_requested'
  | 'deletion_undone'
  | 'deleted'
  | 'invited'
  | 'created_by_admin'
  | 'changed_by_admin'
  | 'banned'
  | 'unbanned'
  | 'exported_by_operator'
  | 'viewed_by_operator'
  | 'test_mail_sent'
  | 'key_forgotten'
  | 'key_rotated'
  | 'service_token_created'
  | 'sso_provider_created'
  | 'sso_provider_changed'
  | 'sso_provider_deleted';

export type AuditEntry = {
  at: Date;
  /** Null for an event without an account, such as `key_rotated` or a rejected SAML response. */
  userId: string | null;
  actor: Tables['auth.audit_log']['actor'];
  event: AuditEvent;
  device?: Device;
  /** Never a secret, a token or a code. Undefined members are dropped. */
  details?: JsonObject;
};

const auditRow = (entry: AuditEntry): Insertable<Tables['auth.audit_log']> => ({
  at: entry.at,
  user_id: entry.userId,
  actor: entry.actor,
  event: entry.event,
  ip: entry.device?.ip ?? null,
  user_agent: entry.device?.userAgent ?? null,
  details: JSON.stringify(entry.details ?? {}),
});

export async function recordAuditEvent(service: AsService, entry: AuditEntry): Promise<void> {
  await service.run(queryBuilder.insertInto('auth.audit_log').values(auditRow(entry)));
}
