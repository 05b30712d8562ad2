/** GET /web3/nonce, and the nonces that a wallet's message must carry (docs/specification/wire.md 30). */
import { randomBytes } from 'node:crypto';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';

const NONCE_LIFETIME_SECONDS = 300;

export function requireWallets({ auth }: AuthDeps['config']): void {
  if (!auth.web3.ethereum && !auth.web3.solana) throw new AuthError('web3_disabled');
}

/** supabase/auth has no such endpoint, because it uses no nonces. */
export const showNonce: Endpoint = async (context, deps) => {
  const { clock, config, database, limits } = deps;
  requireWallets(config);
  await limits.consume('web3_nonce', deviceOf(context, deps).ip);
  // EIP-4361 allows letters and digits only.
  const nonce = randomBytes(16).toString('hex');
  const expiresAt = new Date(clock.now().getTime() + NONCE_LIFETIME_SECONDS * 1000);
  await database
    .asService('create a nonce')
    .run(queryBuilder.insertInto('auth.web3_nonces').values({ nonce, expires_at: expiresAt }).returning('nonce'));
  return context.json({ nonce, expires_in: NONCE_LIFETIME_SECONDS });
};

/** Deletes the nonce. True if it was known and not expired, and only to one of several concurrent callers. */
export async function consumeNonce(transaction: AsService, nonce: string, now: Date): Promise<boolean> {
  const rows = await transaction.run(
    queryBuilder.deleteFrom('auth.web3_nonces').where('nonce', '=', nonce).returning('expires_at'),
  );
  return rows[0] !== undefined && rows[0].expires_at > now;
}
