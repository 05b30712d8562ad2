/** GET /passkeys, PATCH and DELETE /passkeys/{id}: a user's own passkeys (docs/specification/api.md 32). */
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { lockSignedInUser, type Member } from '../sessions/require-user.ts';
import { listPasskeys, passkeyJson, removePasskey, renamePasskey } from './credential-store.ts';
import { mailPasskeyRemoved } from './factor-mails.ts';
import { checkFriendlyName } from './factor-store.ts';

export const showPasskeys: Endpoint<{ caller: Member }> = async (context, deps, { caller: { account } }) => {
  const passkeys = await listPasskeys(deps.database.asService('list passkeys'), account.user.id);
  return context.json(passkeys.map(passkeyJson));
};

/** A passkey that was just added, which has needed a recent sign-in, can be named without another one. */
const NAMING_MS = 10 * 60_000;

type OwnPasskey = {
  caller: Member;
  device: Device;
  ids: { id: string };
  requireRecentSignIn: (nonce: string) => Promise<void>;
};

export const updatePasskey: Endpoint<OwnPasskey & { body: Body }> = async (context, deps, given) => {
  const { body, ids, requireRecentSignIn } = given;
  const [{ id }, { user }] = [ids, given.caller.account];
  const friendlyName = checkFriendlyName(body.text('friendly_name'));
  if (friendlyName === '') throw invalidRequest('friendly_name is required');
  const now = deps.clock.now();
  const service = deps.database.asService('rename a passkey');
  const current = (await listPasskeys(service, user.id)).find((each) => each.id === id);
  if (!current) throw new AuthError('passkey_not_found');
  if (now.getTime() - current.created_at.getTime() > NAMING_MS) await requireRecentSignIn(body.text('nonce'));
  const passkey = await renamePasskey(service, {
    id,
    userId: user.id,
    friendlyName,
    now,
  });
  if (!passkey) throw new AuthError('passkey_not_found');
  return context.json(passkeyJson(passkey));
};

/** Threat: a stranger at an unlocked device removes the owner's passkeys. */
export const deletePasskey: Endpoint<OwnPasskey> = async (context, deps, { caller, device, ids, requireRecentSignIn }) => {
  const { session } = caller;
  const [{ id }, { user }] = [ids, caller.account];
  await requireRecentSignIn(context.req.query('nonce') ?? '');
  await deps.limits.consumeChange(caller);
  const removed = await deps.database.transactAsService('remove a passkey', async (transaction) => {
    await lockSignedInUser(transaction, user.id, session);
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
