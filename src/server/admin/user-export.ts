/**
 * The text of `user:export`: everything that is stored about one person, without the secrets that open the account. The
 * logs have the form of the JSON export, so the file can be imported (docs/specification/export-and-import.md 3).
 */
import { JSON_FORMAT } from '#domain/export/formats/json-format.ts';
import type { AsService, Database } from '../database/database.ts';

/** The members of the exported file: name, table, the column that holds the user's id, and the omitted columns. */
const TABLES: readonly (readonly [name: string, table: string, key: string, secrets: readonly string[]])[] = [
  ['account', 'auth.users', 'id', ['password_hash']],
  ['identities', 'auth.identities', 'user_id', []],
  ['sessions', 'auth.sessions', 'user_id', []],
  ['factors', 'auth.mfa_factors', 'user_id', ['secret', 'last_time_step']],
  ['passkeys', 'auth.webauthn_credentials', 'user_id', ['public_key', 'credential_id']],
  ['audit_log', 'auth.audit_log', 'user_id', []],
  ['profile', 'public.profiles', 'id', []],
  ['analyses', 'public.analyses', 'user_id', []],
  ['payments', 'public.payments', 'user_id', []],
  ['plan_changes', 'public.plan_changes', 'user_id', []],
];

export async function exportUser(database: Database, userId: string, exportedAt: Date): Promise<string> {
  const parts: Record<string, unknown> = { format: JSON_FORMAT, exportedAt: exportedAt.toISOString() };
  await database.transactAsService('export a user', async (transaction) => {
    parts['entries'] = await readEntries(transaction, userId);
    for (const [name, table, key, secrets] of TABLES) {
      const { rows } = await transaction.statement<{ row: unknown }>(
        `select to_jsonb(stored) - $2::text[] as row from ${table} stored where stored.${key} = $1`,
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
