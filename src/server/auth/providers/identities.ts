/** GET /user/identities/authorize and DELETE /user/identities/{id} (docs/specification/wire.md 28). */
import type { Endpoint } from '../http/auth-deps.ts';
import { lockUser } from '../accounts/accounts.ts';
import { unlinkIdentity } from './unlink-identity.ts';
import { UUID } from '../keys/access-tokens.ts';
import { mailAddressChanged, mailIdentityUnlinked } from '../codes/account-mails.ts';
import { providerLabel } from '../accounts/security-notice.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { requireLiveSession } from '../sessions/require-user.ts';
import { ProviderError } from './provider-error.ts';
import { requireLinking } from '../codes/require-linking.ts';
import { startProviderFlow } from './start-flow.ts';

export const authorizeIdentity: Endpoint = async (context, deps) => {
  await deps.limits.consume('oauth', deviceOf(context, deps).ip);
  // The server creates the nonce for the provider itself, so in this request `nonce` is the reauthentication code.
  const linking = await requireLinking(context, deps, context.req.query('nonce') ?? '');
  let url: string;
  try {
    const { account, session } = linking;
    url = await startProviderFlow(context, deps, { userId: account.user.id, sessionId: session?.id ?? null });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    deps.log.warn({ err: error, provider: context.req.query('provider') }, 'a provider cannot be reached');
    throw new AuthError('provider_unavailable');
  }
  await linking.consumeCode(deps.database.asService('link an identity'));
  return context.req.query('skip_http_redirect') === 'true' ? context.json({ url }) : context.redirect(url, 302);
};

export const deleteIdentity: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('user', device.ip);
  const linking = await requireLinking(context, deps, context.req.query('nonce') ?? '');
  const { account, session } = linking;
  const identityId = context.req.param('id') ?? '';
  if (!UUID.test(identityId)) throw new AuthError('identity_id_not_uuid');
  const now = deps.clock.now();
  const result = await deps.database.transactAsService('unlink an identity', async (transaction) => {
    const userId = account.user.id;
    await lockUser(transaction, userId);
    await requireLiveSession(transaction, session);
    await linking.consumeCode(transaction);
    return unlinkIdentity(transaction, { userId, identityId, sessionId: session?.id ?? null, device, now });
  });
  if (result.outcome === 'single_identity') throw new AuthError('single_identity');
  if (result.outcome === 'not_found') throw new AuthError('identity_not_found');
  if (result.outcome === 'address_conflict') throw new AuthError('identity_address_conflict');
  for (const id of result.endedSessions) deps.accessTokens.invalidateSession(id);
  const { user } = account;
  mailIdentityUnlinked(
    deps,
    user,
    LABELS[result.provider] ?? providerLabel(deps.config.auth.oauthProviders, result.provider),
  );
  const { email } = result;
  if (user.email !== null && email !== null && email !== user.email) mailAddressChanged(deps, user.email, email);
  return context.json({});
};

const LABELS: Readonly<Record<string, string>> = { email: 'your password', phone: 'your phone', web3: 'your wallet' };
