/** Deletes expired flows, challenges, SAML requests, nonces and used ID tokens, and factors never verified. */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

const DAY_MS = 24 * 3_600_000;

/** Returns the number of deleted rows. */
export async function purgeExpired(service: AsService, now: Date): Promise<number> {
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  const deletions = [
    queryBuilder.deleteFrom('auth.flows').where('expires_at', '<=', now),
    queryBuilder.deleteFrom('auth.mfa_challenges').where('expires_at', '<=', before(DAY_MS)),
    queryBuilder.deleteFrom('auth.passkey_challenges').where('expires_at', '<=', now),
    queryBuilder.deleteFrom('auth.saml_requests').where('expires_at', '<=', now),
    queryBuilder.deleteFrom('auth.web3_nonces').where('expires_at', '<=', now),
    queryBuilder.deleteFrom('auth.used_id_tokens').where('expires_at', '<=', now),
    queryBuilder
      .deleteFrom('auth.mfa_factors')
      .where('status', '=', 'unverified')
      .where('created_at', '<=', before(DAY_MS)),
  ];
  let deleted = 0;
  for (const deletion of deletions) {
    const { sql, parameters } = deletion.compile();
    deleted += (await service.statement(sql, parameters)).rowCount;
  }
  return deleted;
}
