/** Creates the account and the audit row when a user signs up, also anonymously. */
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables.ts';
import type { Device } from '../http/device.ts';
import { createAccount, type Account } from './accounts.ts';
import { recordAuditEvent } from './audit-log.ts';

type SignUp = Parameters<typeof createAccount>[1] & { method: 'password' | 'otp'; device: Device };

/** Requires a transaction. Null if a concurrent request took the address: PostgreSQL then aborts the transaction. */
export async function createAccountIfFree(transaction: AsService, signUp: SignUp): Promise<Account | null> {
  const { method, device, now } = signUp;
  try {
    const account = await createAccount(transaction, signUp);
    await recordSignUp(transaction, { userId: account.user.id, method, device, now });
    return account;
  } catch (error) {
    if (isUniqueViolation(error)) return null;
    throw error;
  }
}

type AnonymousSignUp = { data: JsonObject; device: Device; now: Date };

/** Requires a transaction. Returns the id of the new user, who has no address, no password and no identity. */
export async function createAnonymousAccount(
  transaction: AsService,
  { data, device, now }: AnonymousSignUp,
): Promise<string> {
  const [user] = await transaction.run(
    queryBuilder
      .insertInto('auth.users')
      .values({
        is_anonymous: true,
        raw_app_meta_data: '{}',
        raw_user_meta_data: JSON.stringify(data),
        created_at: now,
        updated_at: now,
      })
      .returning('id'),
  );
  await recordSignUp(transaction, { userId: user!.id, method: 'anonymous', device, now });
  return user!.id;
}

type SignUpEvent = { userId: string; method: string; device: Device; now: Date };

const recordSignUp = (transaction: AsService, { userId, method, device, now }: SignUpEvent): Promise<void> =>
  recordAuditEvent(transaction, { at: now, userId, actor: 'user', event: 'signed_up', device, details: { method } });
