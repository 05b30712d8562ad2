/** Challenges of second factors: each accepts one right answer, from the network that requested it, in five minutes. */
import type { Selectable } from 'kysely';
import type { AuthTables } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { networkPrefix } from '#server/http/requests/client-address.ts';

const CHALLENGE_LIFETIME_MS = 300_000;
/** A challenge accepts no further answer after this many. */
const MAX_ANSWERS = 5;

export type StoredChallenge = Selectable<AuthTables['auth.mfa_challenges']>;

type NewChallenge = {
  factorId: string;
  ip: string;
  codeHash?: Buffer;
  webauthnChallenge?: string;
  now: Date;
};

export async function createChallenge(service: AsService, challenge: NewChallenge): Promise<StoredChallenge> {
  const { factorId, now } = challenge;
  const [row] = await service.run(
    queryBuilder
      .with('challenged', (query) =>
        query.updateTable('auth.mfa_factors').set({ last_challenged_at: now }).where('id', '=', factorId),
      )
      .insertInto('auth.mfa_challenges')
      .values({
        factor_id: factorId,
        ip: networkPrefix(challenge.ip),
        code_hash: challenge.codeHash ?? null,
        webauthn_challenge: challenge.webauthnChallenge ?? null,
        created_at: now,
        expires_at: new Date(now.getTime() + CHALLENGE_LIFETIME_MS),
      })
      .returningAll(),
  );
  return row!;
}

type Answer = { challengeId: string; factorId: string; ip: string; now: Date };

export type ChallengeResult =
  | { outcome: 'open'; challenge: StoredChallenge }
  | { outcome: 'unknown' | 'expired' | 'used_or_elsewhere' };

/**
 * Counts and commits an answer before the caller compares it, so at most five of any number of concurrent answers are
 * compared. Call it outside the transaction that accepts the answer: a rollback would undo the count.
 *
 * An answer must come from the network that requested the challenge. IPv6 addresses are compared by their /64 network,
 * because a phone changes the rest of its address by itself. A phone that changes from Wi-Fi to mobile data must
 * request another challenge.
 */
export async function countAnswer(service: AsService, answer: Answer): Promise<ChallengeResult> {
  const [challenge] = await service.run(
    queryBuilder
      .updateTable('auth.mfa_challenges')
      .set((row) => ({ wrong_codes: row('wrong_codes', '+', 1) }))
      .where('id', '=', answer.challengeId)
      .where('factor_id', '=', answer.factorId)
      .returningAll(),
  );
  if (!challenge) return { outcome: 'unknown' };
  if (challenge.verified_at !== null || challenge.ip !== networkPrefix(answer.ip)) {
    return { outcome: 'used_or_elsewhere' };
  }
  if (challenge.expires_at <= answer.now || challenge.wrong_codes > MAX_ANSWERS) return { outcome: 'expired' };
  return { outcome: 'open', challenge };
}

/** Requires a transaction. Marks the challenge as used. True for one of several concurrent callers. */
export async function consumeChallenge(transaction: AsService, challengeId: string, now: Date): Promise<boolean> {
  const rows = await transaction.run(
    queryBuilder
      .updateTable('auth.mfa_challenges')
      .set({ verified_at: now })
      .where('id', '=', challengeId)
      .where('verified_at', 'is', null)
      .returning('id'),
  );
  return rows.length > 0;
}
