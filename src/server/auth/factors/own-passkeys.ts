/** GET /passkeys, PATCH and DELETE /passkeys/{id}: a user's own passkeys (docs/specification/wire.md 32). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import {
  requireFactorUser,
  requireFactorUserWithBody,
  requireLiveSession,
  lacksSecondStep,
  type FactorUser,
} from '../sessions/require-user.ts';
import { listPasskeys as findPasskeys, passkeyJson, renamePasskey, removePasskey } from './credential-store.ts';
import { deviceOf } from '../http/device.ts';
import { readBody } from '../http/body.ts';
import { checkFriendlyName } from './factor-store.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { requireRecentSignIn } from '../codes/prove-identity.ts';
import { lockUser } from '../accounts/accounts.ts';
import { mailPasskeyRemoved } from './factor-mails.ts';
import { UUID } from '../keys/access-tokens.ts';

export const listPasskeys: Endpoint = async (context, deps) => {
  const { account } = await requireFactorUser(context, deps);
  const passkeys = await findPasskeys(deps.database.asService('list passkeys'), account.user.id);
  return context.json(passkeys.map(passkeyJson));
};

/** A passkey that was just added, which has needed a recent sign-in, can be named without another one. */
const NAMING_MS = 10 * 60_000;

export const updatePasskey: Endpoint = async (context, deps) => {
  await deps.limits.consume('factor', deviceOf(context, deps).ip);
  const { user: signedIn, body } = await requireFactorUserWithBody(context, deps, readBody);
  const { id, user } = requireOwnPasskey(context, signedIn);
  const friendlyName = checkFriendlyName(body.text('friendly_name'));
  if (friendlyName === '') throw invalidRequest('friendly_name is required');
  const now = deps.clock.now();
  const service = deps.database.asService('rename a passkey');
  const current = (await findPasskeys(service, user.id)).find((each) => each.id === id);
  if (!current) throw new AuthError('passkey_not_found');
  if (now.getTime() - current.created_at.getTime() > NAMING_MS)
    await requireRecentSignIn(deps, signedIn, body.text('nonce'));
  const passkey = await renamePasskey(service, {
    id,
    userId: user.id,
    friendlyName,
    now,
  });
  if (!passkey) throw new AuthError('passkey_not_found');
  return context.json(passkeyJson(passkey));
};

export const deletePasskey: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('factor', device.ip);
  const signedIn = await requireFactorUser(context, deps);
  const { id, user, session } = requireOwnPasskey(context, signedIn);
  await requireRecentSignIn(deps, signedIn, context.req.query('nonce') ?? '');
  await deps.limits.consumeChange(signedIn);
  const removed = await deps.database.transactAsService('remove a passkey', async (transaction) => {
    await lockUser(transaction, user.id);
    await requireLiveSession(transaction, session);
    return removePasskey(transaction, {
      id,
      userId: user.id,
      actor: 'user',
      device,
      now: deps.clock.now(),
    });
  });
  if (!removed) throw new AuthError('passkey_not_found');
  mailPasskeyRemoved(deps, user);
  return context.body(null, 204);
};

/** The caller also requires a recent sign-in. Threat: a stranger at an unlocked device removes the owner's passkeys. */
function requireOwnPasskey(context: Context<AppEnv>, { account, session }: FactorUser) {
  if (lacksSecondStep(account, session)) throw new AuthError('passkey_needs_second_step');
  const id = context.req.param('id') ?? '';
  if (!UUID.test(id)) throw new AuthError('passkey_not_found');
  return { id, user: account.user, session };
}
