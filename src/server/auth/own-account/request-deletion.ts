/**
 * DELETE /account: marks the account for deletion in an hour and ends all its sessions (docs/specification/accounts.md
 * 12).
 */
import type { AsService } from '#server/database/database.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { lockUser, updateUser } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { UNDO_DELETION_MS } from './delete-account.ts';
import type { Device } from '../http/device.ts';
import { deleteOneTimeTokens, issueOneTimeToken } from '../codes/one-time-tokens.ts';
import { endSessions } from '../sessions/sessions.ts';
import { countDeletionMail, mailDeletionRequested } from './deletion-mails.ts';
import { readBody } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { requireUser, type AuthenticatedUser } from '../sessions/require-user.ts';
import { proveIdentity, type Proof } from '../codes/prove-identity.ts';

export const requestDeletion: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('user', device.ip);
  const signedIn = await requireUser(context, deps);
  const body = await readBody(context);
  const given = { password: body.text('password'), nonce: body.text('nonce') };
  const proof = await proveIdentity(context, deps, signedIn, given);
  await deps.limits.consumeChange(signedIn);
  await countDeletionMail(deps, signedIn.account.user);
  const { dueAt, undoToken, ended } = await deps.database.transactAsService('request a deletion', (transaction) =>
    markForDeletion(transaction, deps, { signedIn, proof, device }),
  );
  for (const id of ended) deps.accessTokens.invalidateSession(id);
  mailDeletionRequested(deps, signedIn.account.user, undoToken);
  return context.json({ deletion_due_at: dueAt.toISOString(), undo_token: undoToken });
};

type Request = { signedIn: AuthenticatedUser; proof: Proof; device: Device };

async function markForDeletion(transaction: AsService, deps: AuthDeps, { signedIn, proof, device }: Request) {
  const { id: userId, email } = signedIn.account.user;
  const now = deps.clock.now();
  // The lock serializes this request with a second deletion request, and with a sign-in, which undoes a deletion.
  await lockUser(transaction, userId);
  if (!(await proof.consume(transaction))) throw new AuthError('reauthentication_not_valid');
  const ended = await endSessions(transaction, userId, { all: true });
  if (signedIn.session !== null && !ended.includes(signedIn.session.id)) throw new AuthError('session_not_found');
  await deleteOneTimeTokens(transaction, userId);
  const dueAt = new Date(now.getTime() + UNDO_DELETION_MS);
  await updateUser(transaction, userId, { deletion_due_at: dueAt, updated_at: now });
  const { linkToken } = await issueOneTimeToken(transaction, {
    userId,
    purpose: 'undo_deletion',
    address: email ?? '',
    now,
    key: deps.secrets.oneTimeCodes,
  });
  await recordAuditEvent(transaction, {
    at: now,
    userId,
    actor: 'user',
    event: 'deletion_requested',
    device,
    details: { sessions: ended.length },
  });
  return { dueAt, undoToken: linkToken, ended };
}
