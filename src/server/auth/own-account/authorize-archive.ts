import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { deviceOf } from '../http/client-device.ts';
import { requireUser } from '../sessions/require-user.ts';
import { proveIdentity, type SubmittedProof } from '../codes/prove-identity.ts';

/**
 * Returns the id of the user who may download the archive now. The mailed or texted code is not used up, because the
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
