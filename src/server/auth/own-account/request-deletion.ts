/**
 * DELETE /account: marks the account for deletion in an hour and ends all its sessions (docs/specification/accounts.md
 * 12).
 */
import type { Context } from 'hono';
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import { escapeHtml } from '#server/escape-html.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { pageDocument } from '#server/http/page-document.ts';
import { deletionRequestedMail } from '#server/mail/account-emails.ts';
import { lockUser, updateUser, type UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { mailDeletionUndone, sendNotice, type MailDeps } from '../accounts/security-notice.ts';
import { consumeToken, deleteOneTimeTokens, findByLink, issueOneTimeToken } from '../codes/one-time-tokens.ts';
import type { Proof, SubmittedProof } from '../codes/prove-identity.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import type { AuthenticatedUser } from '../sessions/require-user.ts';
import { endSessions } from '../sessions/sessions.ts';
import { UNDO_DELETION_MS } from './delete-account.ts';

type Given = {
  caller: AuthenticatedUser;
  device: Device;
  body: Body;
  proveIdentity: (submitted: SubmittedProof) => Promise<Proof>;
};

export const requestDeletion: Endpoint<Given> = async (context, deps, given) => {
  const { caller: signedIn, device, body } = given;
  const proof = await given.proveIdentity({ password: body.text('password'), nonce: body.text('nonce') });
  await deps.limits.consumeChange(signedIn);
  await countDeletionMail(deps, signedIn.account.user);
  const { dueAt, undoToken, ended } = await deps.database.transactAsService('request a deletion', (transaction) =>
    markForDeletion(transaction, deps, { signedIn, proof, device }),
  );
  deps.accessTokens.invalidateSessions(ended);
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

/**
 * The mailed link that undoes the deletion of an account (docs/specification/api.md 34). GET only shows a page with a
 * button, because mail scanners open every link. POST uses the token, which is sent as JSON or by the form of that
 * page.
 *
 * The token only undoes the deletion and signs nobody in. So POST needs no check against cross-site requests.
 */
export const showUndoDeletion: Endpoint = (context) => {
  const token = context.req.query('token_hash') ?? '';
  const content = `<p>You asked to delete your account. The button keeps it, with every log in it.</p>
<form method="post">
<input type="hidden" name="token_hash" value="${escapeHtml(token)}">
<button>Keep my account</button>
</form>
<p class="note">The link works for one hour. If the account should go, close this page.</p>`;
  return respondWithPage(context, { title: 'Keep your account?', content }, 200);
};

type GivenLink = { device: Device; body: Body | URLSearchParams };

export const undoDeletion: Endpoint<GivenLink> = async (context, deps, { device, body }) => {
  const isForm = body instanceof URLSearchParams;
  const linkToken = isForm ? (body.get('token_hash') ?? '') : body.text('token_hash');
  const isUndone = await redeemUndoToken(deps, linkToken, device);
  if (isForm) return respondWithPage(context, isUndone ? UNDONE_PAGE : UNUSABLE_LINK_PAGE, isUndone ? 200 : 403);
  if (!isUndone) throw new AuthError('link_expired');
  return context.json({});
};

async function redeemUndoToken(deps: AuthDeps, linkToken: string, device: Device): Promise<boolean> {
  const { database, clock } = deps;
  const now = clock.now();
  const service = database.asService('find an undo token');
  const token = await findByLink(service, { linkToken, purposes: ['undo_deletion'], now });
  if (!token) return false;
  const user = await database.transactAsService('undo a deletion', async (transaction) => {
    const locked = await lockUser(transaction, token.user_id);
    if (!locked || !(await consumeToken(transaction, token))) return null;
    await updateUser(transaction, locked.id, { deletion_due_at: null, updated_at: now });
    const event = { at: now, userId: locked.id, actor: 'user', event: 'deletion_undone', device } as const;
    await recordAuditEvent(transaction, event);
    return locked;
  });
  if (user) mailDeletionUndone(deps, user);
  return user !== null;
}

type Page = { title: string; content: string };

const SIGN_IN = `<a class="button" href="${ROUTES.login.path}">Sign in</a>`;
const UNDONE_PAGE: Page = {
  title: 'Your account stays',
  content: `<p role="status">It will not be deleted, and every log is still there.</p>\n${SIGN_IN}`,
};
const UNUSABLE_LINK_PAGE: Page = {
  title: 'This link no longer works',
  content: `<p role="alert">It was already used, or the hour is over. If your account still exists, signing in keeps it.</p>\n${SIGN_IN}`,
};

function respondWithPage(context: Context<AppEnv>, page: Page, status: 200 | 403): Response {
  const { body, headers } = pageDocument(page);
  return context.html(body, status, headers);
}

/**
 * Counts the mail about a deletion that is about to be requested. Throws `over_email_send_rate_limit`. Threat: the
 * thief of a session first uses up the owner's mails with other changes, and then deletes the account without a mail.
 */
async function countDeletionMail({ limits }: MailDeps, user: UserRow): Promise<void> {
  if (user.email === null) return;
  const to = { address: user.email, isProven: user.email_proven_at !== null };
  if ((await limits.allowMail('urgent', to)) === 'no')
    throw new AuthError('over_email_send_rate_limit', String(WAIT_SECONDS), WAIT_SECONDS);
}
const WAIT_SECONDS = 3_600;

/**
 * The caller has called `countDeletionMail`. Threat: the thief of a session deletes the account. The mail tells the
 * owner and has a link that undoes it.
 */
function mailDeletionRequested(deps: MailDeps, user: Pick<UserRow, 'id' | 'email'>, linkToken: string): void {
  const loginLink = `${deps.config.publicUrl}${ROUTES.login.path}`;
  const undoLink = undoDeletionLink(deps.config, linkToken);
  sendNotice(deps, user, (notice) => deletionRequestedMail({ ...notice, undoLink, loginLink }), null);
}

/** Returns the address of the page that offers to keep an account whose owner asked to delete it. */
const undoDeletionLink = (config: Pick<AuthDeps['config'], 'publicUrl'>, linkToken: string): string =>
  `${config.publicUrl}/auth/v1/account/undo-deletion?${new URLSearchParams({ token_hash: linkToken }).toString()}`;
