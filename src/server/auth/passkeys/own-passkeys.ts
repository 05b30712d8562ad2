/** GET /passkeys, PATCH and DELETE /passkeys/{id}: a user's own passkeys (docs/specification/wire.md 32). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps, Endpoint } from '../auth-deps.ts';
import { lockUser } from '../accounts/accounts.ts';
import { checkFriendlyName, requireFactorUser } from '../factors/require-factor-user.ts';
import { UUID } from '../keys/access-tokens.ts';
import { mailPasskeyRemoved } from '../mails/factor-mails.ts';
import { readBody } from '../wire/body.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { lacksSecondStep, requireLiveSession } from '../wire/require-user.ts';
import type { StoredCredential } from './credential-store.ts';
import { listPasskeys as findPasskeys, removePasskey, renamePasskey } from './passkey-store.ts';

export const listPasskeys: Endpoint = async (context, deps) => {
  const { account } = await requireFactorUser(context, deps);
  const passkeys = await findPasskeys(deps.database.asService('list passkeys'), account.user.id);
  return context.json(passkeys.map(passkeyJson));
};

export const updatePasskey: Endpoint = async (context, deps) => {
  const { id, user } = await requireOwnPasskey(context, deps);
  const friendlyName = checkFriendlyName((await readBody(context)).text('friendly_name'));
  if (friendlyName === '') throw new AuthError('friendly_name_missing');
  const passkey = await renamePasskey(deps.database.asService('rename a passkey'), {
    id,
    userId: user.id,
    friendlyName,
    now: deps.clock.now(),
  });
  if (!passkey) throw new AuthError('passkey_not_found');
  return context.json(passkeyJson(passkey));
};

export const deletePasskey: Endpoint = async (context, deps) => {
  const { id, user, session } = await requireOwnPasskey(context, deps);
  const removed = await deps.database.transactAsService('remove a passkey', async (transaction) => {
    await lockUser(transaction, user.id);
    await requireLiveSession(transaction, session);
    return removePasskey(transaction, {
      id,
      userId: user.id,
      actor: 'user',
      device: deviceOf(context, deps),
      now: deps.clock.now(),
    });
  });
  if (!removed) throw new AuthError('passkey_not_found');
  mailPasskeyRemoved(deps, user);
  return context.body(null, 204);
};

async function requireOwnPasskey(context: Context<AppEnv>, deps: AuthDeps) {
  const { account, session } = await requireFactorUser(context, deps);
  if (lacksSecondStep(account, session)) throw new AuthError('passkey_needs_second_step');
  const id = context.req.param('id') ?? '';
  if (!UUID.test(id)) throw new AuthError('passkey_not_found');
  return { id, user: account.user, session };
}

/** A passkey as the user's routes and the admin routes show it. */
export const passkeyJson = (passkey: StoredCredential) => ({
  id: passkey.id,
  friendly_name: passkey.friendly_name === '' ? undefined : passkey.friendly_name,
  created_at: passkey.created_at.toISOString(),
  last_used_at: passkey.last_used_at?.toISOString(),
});
