/**
 * POST /token?grant_type=id_token: signs in with an ID token that the client got from the provider, for example from
 * Google's One Tap, or links the provider's account to the signed-in user (docs/specification/wire.md 27).
 *
 * Threat: replay. supabase/auth accepts an ID token until it expires. Here a token is accepted once: its hash is stored
 * in the transaction that signs the user in.
 */
import { createHash } from 'node:crypto';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { getAccount, lockUser } from '../accounts/accounts.ts';
import { startSession } from '../sessions/sessions.ts';
import { readBody, type Body } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError, OAuthError } from '../http/errors.ts';
import { redirectTarget } from '../http/redirects.ts';
import { requireLiveSession } from '../sessions/require-user.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { KNOWN_PROVIDERS } from '../http/known-providers.ts';
import { identityFromClaims } from './profile.ts';
import { ProviderError } from './provider-error.ts';
import { requireLinking } from '../codes/require-linking.ts';
import { signInWithProvider } from './sign-in-with-provider.ts';
import { badIdTokenError, GOOGLE_ISSUER, verifyIdToken } from './verify-id-token.ts';

export const grantIdToken: Endpoint = async (context, deps) => {
  const { clock, config, limits } = deps;
  const device = deviceOf(context, deps);
  await limits.consume('token', device.ip);
  const body = await readBody(context);
  const idToken = body.text('id_token');
  if (idToken === '') throw new OAuthError('invalid request', 'id_token required');
  const provider = chooseProvider(config.auth.oauthProviders, body);
  const linking = body.flag('link_identity', false) ? await requireLinking(context, deps) : null;
  const now = clock.now();
  const { identity, expiresAt } = await readIdentity(deps, provider, { idToken, body, now });
  const linkingUserId = linking?.account.user.id ?? null;
  const redirectTo = redirectTarget(context, config);
  const signedIn = await signInWithProvider(
    deps,
    { provider, identity, linkingUserId, redirectTo, device, now },
    {
      async prepare(transaction) {
        if (linking) {
          await lockUser(transaction, linking.account.user.id);
          await requireLiveSession(transaction, linking.session);
        }
        if (!(await claimToken(transaction, idToken, expiresAt))) throw badIdTokenError();
      },
      async complete(transaction, userId) {
        const { name } = provider;
        const started = await startSession(transaction, { userId, method: 'oauth', provider: name, device, now });
        return { started, account: await getAccount(transaction, userId) };
      },
    },
  );
  return context.json(await respondWithSession(context, deps, signedIn));
};

/** Finds the provider by `provider`, or by `client_id` and `issuer`. GitHub is excluded: it issues no ID tokens. */
function chooseProvider(providers: readonly OAuthProvider[], body: Body): OAuthProvider {
  const [name, clientId, issuer] = [body.text('provider'), body.text('client_id'), body.text('issuer')];
  if (name === '' && (clientId === '' || issuer === ''))
    throw new OAuthError('invalid request', 'provider or client_id and issuer required');
  const isChosen = (provider: OAuthProvider): boolean =>
    provider.kind === 'oidc' &&
    (name === ''
      ? provider.clientId === clientId && provider.issuer === issuer.replace(/\/$/, '')
      : provider.name === name);
  const chosen = providers.find(isChosen);
  if (chosen) return chosen;
  if (KNOWN_PROVIDERS.has(name)) throw new AuthError('provider_disabled', name === 'google' ? GOOGLE_ISSUER : issuer);
  throw new AuthError('oidc_provider_not_allowed', (name === '' ? issuer : name).slice(0, MAX_NAME_LENGTH));
}

const MAX_NAME_LENGTH = 200;

async function readIdentity(
  { log }: AuthDeps,
  provider: OAuthProvider,
  { idToken, body, now }: { idToken: string; body: Body; now: Date },
) {
  try {
    const presented = { idToken, accessToken: body.text('access_token'), nonce: body.text('nonce') };
    const { claims, issuer, expiresAt } = await verifyIdToken(provider, presented, now);
    return { identity: identityFromClaims(provider.name, issuer, claims), expiresAt };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    log.warn({ err: error, provider: provider.name }, 'an ID token cannot be verified');
    if (error.kind === 'unavailable') throw new AuthError('provider_unavailable');
    throw badIdTokenError();
  }
}

/**
 * False if the token was used before. The hash leaves the signature out: a signature can be re-encoded without becoming
 * invalid, and the same token would pass again.
 */
async function claimToken(transaction: AsService, idToken: string, expiresAt: Date): Promise<boolean> {
  const signed = idToken.slice(0, idToken.lastIndexOf('.'));
  const rows = await transaction.run(
    queryBuilder
      .insertInto('auth.used_id_tokens')
      .values({ token_hash: createHash('sha256').update(signed).digest(), expires_at: expiresAt })
      .onConflict((conflict) => conflict.doNothing())
      .returning('token_hash'),
  );
  return rows.length > 0;
}
