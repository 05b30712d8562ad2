/**
 * /admin/users/{id}/factors and /passkeys: what a user has set up beside the password (docs/specification/wire.md 33).
 */
import type { AuthDeps, Endpoint } from '../auth-deps.ts';
import { findUserById } from '../accounts/accounts.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { listFactors, removeFactor } from '../factors/factor-store.ts';
import { UUID } from '../keys/access-tokens.ts';
import { mailFactorRemoved, mailPasskeyRemoved } from '../mails/factor-mails.ts';
import { passkeyJson } from '../passkeys/own-passkeys.ts';
import { listPasskeys, removePasskey } from '../passkeys/passkey-store.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { factorJson } from '../wire/user-json.ts';
import { requireAdminAndUserId } from './users.ts';

export const listUserFactors: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const factors = await listFactors(deps.database.asService('list the factors of a user'), user.id);
  return context.json(factors.map(factorJson));
};

/** For a user who has lost a second factor. The user gets a notice by mail. */
export const deleteUserFactor: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const id = context.req.param('factorId') ?? '';
  if (!UUID.test(id)) throw new AuthError('factor_id_not_uuid');
  const removed = await deps.database.transactAsService('remove a factor of a user', (transaction) =>
    removeFactor(transaction, {
      id,
      userId: user.id,
      actor: 'service',
      device: deviceOf(context, deps),
      now: deps.clock.now(),
    }),
  );
  if (!removed) throw new AuthError('factor_not_found');
  if (removed.status === 'verified') mailFactorRemoved(deps, user, removed.factor_type);
  return context.json(factorJson(removed));
};

export const listUserPasskeys: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const passkeys = await listPasskeys(deps.database.asService('list the passkeys of a user'), user.id);
  return context.json(passkeys.map(passkeyJson));
};

export const deleteUserPasskey: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const id = context.req.param('passkeyId') ?? '';
  const removed = UUID.test(id)
    ? await deps.database.transactAsService('remove a passkey of a user', (transaction) =>
        removePasskey(transaction, {
          id,
          userId: user.id,
          actor: 'service',
          device: deviceOf(context, deps),
          now: deps.clock.now(),
        }),
      )
    : null;
  if (!removed) throw new AuthError('passkey_not_found');
  mailPasskeyRemoved(deps, user);
  return context.body(null, 204);
};

async function requireUserOf({ database }: AuthDeps, userId: string): Promise<UserRow> {
  const user = await findUserById(database.asService('find a user'), userId);
  if (!user) throw new AuthError('no_such_user');
  return user;
}
