/** The rows of external identities: a third party's account that signs in to one of ours. */
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { IdentityRow } from '../accounts/accounts.ts';

export type ExternalIdentity = {
  /** `google`, `github`, the name of an OIDC provider, `sso:<provider id>` or `web3`. */
  provider: string;
  /** The account's id at the provider; never reused there, unlike a name or an address. */
  providerId: string;
  /** From `parseEmail`; null if the third party gives no address. */
  email: string | null;
  emailVerified: boolean;
  /** Becomes `identity_data`; fills gaps in the user's metadata. */
  data: JsonObject;
};

/**
 * Takes an advisory lock until the transaction ends, because a new identity has no row to lock. Without it, two
 * concurrent first sign-ins would both try to create an account.
 */
export async function lockIdentity(transaction: AsService, { provider, providerId }: ExternalIdentity): Promise<void> {
  const key = `identity ${JSON.stringify([provider, providerId])}`;
  await transaction.statement('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
}

export async function findIdentity(transaction: AsService, identity: ExternalIdentity): Promise<IdentityRow | null> {
  const [row] = await transaction.run(
    queryBuilder
      .selectFrom('auth.identities')
      .selectAll()
      .where('provider', '=', identity.provider)
      .where('provider_id', '=', identity.providerId),
  );
  return row ?? null;
}

/** Inserts the identity, or updates its data to the provider's current answer. */
export async function saveIdentity(
  transaction: AsService,
  { identity, now }: { identity: ExternalIdentity; now: Date },
  userId: string,
): Promise<void> {
  const data = JSON.stringify(identity.data);
  await transaction.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({
        user_id: userId,
        provider: identity.provider,
        provider_id: identity.providerId,
        identity_data: data,
        last_sign_in_at: now,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['provider', 'provider_id'])
          .doUpdateSet({ identity_data: data, last_sign_in_at: now, updated_at: now }),
      )
      .returning('id'),
  );
}
