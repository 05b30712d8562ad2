/**
 * Deletes expired flows, challenges, mailed links and codes, SAML requests, nonces and used ID tokens, and factors never
 * verified.
 */
import type { AsService } from '#server/database/database.ts';
import { BATCH_ROWS, runInBatches } from '#server/jobs/run-in-batches.ts';

/** Table, key, condition. `$1` is the time now. */
const EXPIRED: readonly (readonly [string, string, string])[] = [
  ['auth.flows', 'id', 'expires_at <= $1'],
  // A day later, so that a code that is typed late is answered as expired, not as unknown.
  ['auth.mfa_challenges', 'id', "expires_at <= $1::timestamptz - interval '1 day'"],
  ['auth.passkey_challenges', 'id', 'expires_at <= $1'],
  ['auth.saml_requests', 'id', 'expires_at <= $1'],
  ['auth.web3_nonces', 'nonce', 'expires_at <= $1'],
  ['auth.used_id_tokens', 'token_hash', 'expires_at <= $1'],
  ['auth.mfa_factors', 'id', "status = 'unverified' and created_at <= $1::timestamptz - interval '1 day'"],
  // A day later, because the wrong guesses of a code count for a day (docs/specification/limits.md 2).
  ['auth.one_time_tokens', 'user_id, purpose', "expires_at <= $1::timestamptz - interval '1 day'"],
];

/** Returns the number of deleted rows. */
export async function purgeExpired(service: AsService, now: Date, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (const [table, key, condition] of EXPIRED) {
    // The condition stands twice, because the row may have changed since the inner select: a factor may be verified by
    // now.
    const batch = `delete from ${table} where ${condition}
      and (${key}) in (select ${key} from ${table} where ${condition} limit ${BATCH_ROWS})`;
    deleted += await runInBatches(service, batch, [now], signal);
  }
  return deleted;
}
