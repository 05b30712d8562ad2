/** /admin/users/{id}/factors and /passkeys: a user's second factors and passkeys (docs/specification/api.md 33). */
import type { UserRow } from '../accounts/accounts.ts';
import { factorJson } from '../accounts/user-json.ts';
import { listPasskeys, passkeyJson, removePasskey } from '../factors/credential-store.ts';
import { mailFactorPhoneChanged, mailFactorRemoved, mailPasskeyRemoved } from '../factors/factor-mails.ts';
import { changeFactor, checkFriendlyName, listFactors, removeFactor } from '../factors/factor-store.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { parsePhone } from '../http/credentials.ts';

export const listUserFactors: Endpoint<{ user: UserRow }> = async (context, deps, { user }) => {
  const factors = await listFactors(deps.database.asService('list the factors of a user'), user.id);
  return context.json(factors.map(factorJson));
};

type Given = { user: UserRow; ids: { factorId: string }; device: Device };

/**
 * Takes `friendly_name`, and `phone` for a phone factor. A mail tells the user if the number of a verified factor
 * changed.
 */
export const changeUserFactor: Endpoint<Given & { body: Body }> = async (context, deps, given) => {
  const { user, body, device } = given;
  const { factorId: id } = given.ids;
  const [name, phone] = [checkFriendlyName(body.text('friendly_name')), body.text('phone')];
  const changed = await deps.database.transactAsService('change a factor of a user', (transaction) =>
    changeFactor(transaction, {
      id,
      userId: user.id,
      ...(name !== '' && { friendlyName: name }),
      ...(phone !== '' && { phone: parsePhone(phone) }),
      device,
      now: deps.clock.now(),
    }),
  );
  if (changed === null) throw new AuthError('factor_not_found');
  if (changed === 'name_conflict') throw new AuthError('factor_name_conflict', name);
  if (changed === 'phone_exists') throw new AuthError('phone_factor_exists');
  if (changed.hasNewPhone && changed.factor.status === 'verified') mailFactorPhoneChanged(deps, user);
  return context.json(factorJson(changed.factor));
};

/** For a user who has lost a second factor. A mail tells the user if the factor was verified. */
export const deleteUserFactor: Endpoint<Given> = async (context, deps, { user, ids: { factorId: id }, device }) => {
  const removed = await deps.database.transactAsService('remove a factor of a user', (transaction) =>
    removeFactor(transaction, { id, userId: user.id, actor: 'service', device, now: deps.clock.now() }),
  );
  if (!removed) throw new AuthError('factor_not_found');
  if (removed.status === 'verified') mailFactorRemoved(deps, user, removed.factor_type);
  return context.json(factorJson(removed));
};

export const listUserPasskeys: Endpoint<{ user: UserRow }> = async (context, deps, { user }) => {
  const passkeys = await listPasskeys(deps.database.asService('list the passkeys of a user'), user.id);
  return context.json(passkeys.map(passkeyJson));
};

type GivenPasskey = { user: UserRow; ids: { passkeyId: string }; device: Device };

export const deleteUserPasskey: Endpoint<GivenPasskey> = async (context, deps, { user, ids, device }) => {
  const removed = await deps.database.transactAsService('remove a passkey of a user', (transaction) =>
    removePasskey(transaction, { id: ids.passkeyId, userId: user.id, actor: 'service', device, now: deps.clock.now() }),
  );
  if (!removed) throw new AuthError('passkey_not_found');
  mailPasskeyRemoved(deps, user);
  return context.body(null, 204);
};
