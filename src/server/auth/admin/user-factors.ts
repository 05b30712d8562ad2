/**
 * /admin/users/{id}/factors and /passkeys: what a user has set up beside the password (docs/specification/wire.md 33).
 */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { findUserById, type UserRow } from '../accounts/accounts.ts';
import { changeFactor, listFactors, removeFactor, checkFriendlyName } from '../factors/factor-store.ts';
import { UUID } from '../keys/access-tokens.ts';
import { mailFactorPhoneChanged, mailFactorRemoved, mailPasskeyRemoved } from '../factors/factor-mails.ts';
import { passkeyJson, listPasskeys, removePasskey } from '../factors/credential-store.ts';
import { parsePhone } from '../http/phone-number.ts';
import { readBody } from '../http/body.ts';
import { deviceOf } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { factorJson } from '../accounts/user-json.ts';
import { requireAdminAndUserId } from './users.ts';

export const listUserFactors: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const factors = await listFactors(deps.database.asService('list the factors of a user'), user.id);
  return context.json(factors.map(factorJson));
};

function readFactorId(context: Context<AppEnv>): string {
  const id = context.req.param('factorId') ?? '';
  if (!UUID.test(id)) throw new AuthError('factor_id_not_uuid');
  return id;
}

/** Takes `friendly_name`, and `phone` for a phone factor. Another number is told to the user by mail. */
export const changeUserFactor: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const id = readFactorId(context);
  const body = await readBody(context);
  const [name, phone] = [checkFriendlyName(body.text('friendly_name')), body.text('phone')];
  const changed = await deps.database.transactAsService('change a factor of a user', (transaction) =>
    changeFactor(transaction, {
      id,
      userId: user.id,
      ...(name !== '' && { friendlyName: name }),
      ...(phone !== '' && { phone: parsePhone(phone) }),
      device: deviceOf(context, deps),
      now: deps.clock.now(),
    }),
  );
  if (changed === null) throw new AuthError('factor_not_found');
  if (changed === 'name_conflict') throw new AuthError('factor_name_conflict', name);
  if (changed === 'phone_exists') throw new AuthError('phone_factor_exists');
  if (changed.hasNewPhone && changed.factor.status === 'verified') mailFactorPhoneChanged(deps, user);
  return context.json(factorJson(changed.factor));
};

/** For a user who has lost a second factor. The user gets a notice by mail. */
export const deleteUserFactor: Endpoint = async (context, deps) => {
  const user = await requireUserOf(deps, await requireAdminAndUserId(context, deps));
  const id = readFactorId(context);
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
