/**
 * GET /account: the proof that a deletion needs, whether there is a password, and the pending change of the address.
 * DELETE /account/address-change: cancels that change (docs/specification/api.md 34).
 */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { cancelAddressChange, findOpenHalves } from '../codes/address-change.ts';
import { proveIdentity, requiredProof, type SubmittedProof } from '../codes/prove-identity.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { deviceOf, type Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { lacksSecondStep, requireUser, type AuthenticatedUser } from '../sessions/require-user.ts';

export const showAccount: Endpoint<{ caller: AuthenticatedUser }> = async (context, deps, { caller }) => {
  const { user } = caller.account;
  return context.json({
    required_proof: requiredProof(caller, deps.clock.now()),
    has_password: user.password_hash !== null,
    address_change: await describeAddressChange(deps, user),
  });
};

async function describeAddressChange(deps: AuthDeps, user: UserRow) {
  if (user.new_email === null) return null;
  const service = deps.database.asService('describe an address change');
  const open = await findOpenHalves(service, { user, newEmail: user.new_email }, deps.clock.now());
  return { new_email: user.new_email, unconfirmed: open.map(({ address }) => address) };
}

type Given = { caller: AuthenticatedUser; device: Device };

export const endAddressChange: Endpoint<Given> = async (context, deps, { caller, device }) => {
  const { account, session } = caller;
  await deps.limits.consumeChange({ account, session });
  if (lacksSecondStep(account, session)) throw new AuthError('user_change_needs_second_step');
  await deps.database.transactAsService('cancel an address change', (transaction) =>
    cancelAddressChange(transaction, { userId: account.user.id, device, now: deps.clock.now() }),
  );
  return context.body(null, 204);
};

/**
 * Returns the id of the user who may download the archive now. The mailed or texted code is not used up, because a
 * deletion that follows needs it too. Each use counts towards the guesses at the code.
 */
export async function authorizeArchive(
  context: Context<AppEnv>,
  deps: AuthDeps,
  submitted: SubmittedProof,
): Promise<string> {
  const device = deviceOf(context, deps);
  await deps.limits.consume('user', device.ip);
  const signedIn = await requireUser(context, deps);
  await proveIdentity(context, deps, signedIn, submitted);
  const { id } = signedIn.account.user;
  await deps.limits.consumeArchive(id);
  await recordAuditEvent(deps.database.asService('record an archive'), {
    at: deps.clock.now(),
    userId: id,
    actor: 'user',
    event: 'archive_downloaded',
    device,
  });
  return id;
}
