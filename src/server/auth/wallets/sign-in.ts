/**
 * POST /token?grant_type=web3: signs in with a message that a wallet signed (docs/specification/api.md 30).
 *
 * Threat: replay. supabase/auth accepts a signed message again for ten minutes. Here it must carry a nonce of this
 * server, which is deleted in the transaction that starts the session. Threat: phishing. A foreign site makes the user
 * sign its own message and sends it here. So the message's URI must be one that this server allows, at the message's
 * domain, which the wallet compares with the site.
 */
import { randomBytes } from 'node:crypto';
import { isLoopback } from '#server/config/private-network.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { getAccount } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest, OAuthError } from '../http/errors.ts';
import { isAllowedTarget } from '../http/redirects.ts';
import { signInWithIdentity } from '../providers/external-identity.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { startSession } from '../sessions/sessions.ts';
import { parseWalletMessage, type Chain, type Signer, type WalletMessage } from './parse-message.ts';

const CHAIN_NAMES: Readonly<Record<Chain, string>> = { ethereum: 'Ethereum', solana: 'Solana' };
const MIN_MESSAGE_LENGTH = 64;
const MAX_MESSAGE_BYTES = 20 * 1024;
const MAX_MESSAGE_AGE_MS = 600_000;
/** The statement is stored in the user's metadata, which travels in every access token, so it is cut to this length. */
const MAX_STORED_STATEMENT = 500;

type Given = { body: Body; device: Device; requireCaptcha: () => Promise<void> };

export const grantWeb3: Endpoint<Given> = async (context, deps, { body, device, requireCaptcha }) => {
  const { clock, config, database, limits } = deps;
  const chain = parseChain(body.text('chain'), config.auth);
  await requireCaptcha();
  const text = body.text('message');
  if (text.length < MIN_MESSAGE_LENGTH) throw invalidRequest('message is too short');
  if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) throw invalidRequest('message must not exceed 20KB');
  const signer = await loadSigner(chain);
  const signature = signer.parseSignature(body.text('signature'));
  const message = parseWalletMessage(chain, text);
  if (!signer.verify({ address: message.address, text, signature }))
    throw new OAuthError('invalid_grant', 'Signature does not match address in message');
  const now = clock.now();
  checkPurpose(message, CHAIN_NAMES[chain], config);
  checkTimes(message, CHAIN_NAMES[chain], now);

  const address = signer.normalizeAddress(message.address);
  await limits.consumePassedSignIn(`${chain} ${address}`);
  const signedIn = await database.transactAsService('sign in with a wallet', async (transaction) => {
    if (!(await consumeNonce(transaction, message.nonce, now)))
      throw new OAuthError('invalid_grant', `Signed ${CHAIN_NAMES[chain]} message has no valid nonce of this server`);
    const result = await signInWithIdentity(transaction, {
      identity: describeWallet(chain, address, message),
      policy: { signups: config.auth.signups, autoconfirm: config.auth.autoconfirm },
      device,
      now,
    });
    if (result.outcome === 'banned') throw new AuthError('user_banned');
    if (result.outcome === 'signup_disabled') throw new AuthError('signup_disabled');
    if (result.outcome !== 'signed_in') throw new Error(`a wallet cannot lead to ${result.outcome}`);
    const { userId } = result;
    const started = await startSession(transaction, { userId, method: 'web3', provider: 'web3', device, now });
    return { started, account: await getAccount(transaction, userId) };
  });
  return context.json(await respondWithSession(context, deps, signedIn));
};

function parseChain(chain: string, { web3 }: AuthDeps['config']['auth']): Chain {
  if (chain !== 'ethereum' && chain !== 'solana')
    throw new AuthError(400, 'web3_unsupported_chain', 'Unsupported chain');
  if (!web3[chain])
    throw new AuthError(422, 'web3_provider_disabled', `${CHAIN_NAMES[chain]} Web3 provider is disabled`);
  return chain;
}

/** Loads only the library of the chain. */
async function loadSigner(chain: Chain): Promise<Signer> {
  return chain === 'ethereum'
    ? (await import('./ethereum.ts')).ethereumSigner
    : (await import('./solana.ts')).solanaSigner;
}

function checkPurpose({ uri, domain }: WalletMessage, chain: string, config: AuthDeps['config']): void {
  const refuse = (reason: string): never => {
    throw new OAuthError('invalid_grant', `Signed ${chain} message is using ${reason}`);
  };
  const { protocol, hostname, host } = new URL(uri);
  if (protocol !== 'https:' && !isLoopback(hostname)) refuse('URI which does not use HTTPS');
  if (!isAllowedTarget(uri, config))
    refuse('URI which is not allowed on this server, message was signed for another app');
  if (domain.toLowerCase() !== host)
    refuse('a Domain that does not match the one in URI which is not allowed on this server');
}

function checkTimes({ issuedAt, notBefore, expirationTime }: WalletMessage, chain: string, now: Date): void {
  const ageMs = now.getTime() - issuedAt.getTime();
  if (notBefore && now < notBefore)
    throw new OAuthError('invalid_grant', `Signed ${chain} message becomes valid in the future`);
  if (expirationTime && now >= expirationTime)
    throw new OAuthError('invalid_grant', `Signed ${chain} message is expired`);
  if (ageMs > MAX_MESSAGE_AGE_MS) throw new OAuthError('invalid_grant', `${chain} message was issued too long ago`);
  if (ageMs < -MAX_MESSAGE_AGE_MS)
    throw new OAuthError('invalid_grant', `${chain} message was issued too far in the future`);
}

function describeWallet(chain: Chain, address: string, { chainId, domain, statement }: WalletMessage) {
  const providerId = `web3:${chain}:${address}`;
  const claims = { address, chain, network: chainId, domain, statement: statement.slice(0, MAX_STORED_STATEMENT) };
  return {
    provider: 'web3',
    providerId,
    email: null,
    emailVerified: false,
    data: { sub: providerId, custom_claims: claims, email_verified: false, phone_verified: false },
  };
}

const NONCE_LIFETIME_SECONDS = 300;

/**
 * GET /web3/nonce: issues a nonce, which a wallet's message must carry (docs/specification/api.md 30).
 *
 * supabase/auth has no such endpoint, because it uses no nonces.
 */
export const showNonce: Endpoint = async (context, deps) => {
  const { clock, database } = deps;
  // EIP-4361 allows letters and digits only.
  const nonce = randomBytes(16).toString('hex');
  const expiresAt = new Date(clock.now().getTime() + NONCE_LIFETIME_SECONDS * 1000);
  await database
    .asService('create a nonce')
    .run(queryBuilder.insertInto('auth.web3_nonces').values({ nonce, expires_at: expiresAt }));
  return context.json({ nonce, expires_in: NONCE_LIFETIME_SECONDS });
};

/** Deletes the nonce. True if it was known and not expired, and only to one of several concurrent callers. */
export async function consumeNonce(transaction: AsService, nonce: string, now: Date): Promise<boolean> {
  const rows = await transaction.run(
    queryBuilder.deleteFrom('auth.web3_nonces').where('nonce', '=', nonce).returning('expires_at'),
  );
  return rows[0] !== undefined && rows[0].expires_at > now;
}
