/**
 * The mailed link that undoes the deletion of an account (docs/specification/wire.md 34). GET shows a page with a button
 * and checks no token, because mail scanners open every link. POST uses the token, which is sent as JSON or by the form
 * of that page.
 *
 * The token only undoes the deletion and signs nobody in. So POST needs no check against cross-site requests.
 */
import type { Context } from 'hono';
import { ROUTES } from '#domain/routes.ts';
import { escapeHtml } from '#server/escape-html.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { lockUser, updateUser } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Device } from '../http/device.ts';
import { consumeToken, findByLink } from '../codes/one-time-tokens.ts';
import { mailDeletionUndone } from './deletion-mails.ts';
import { readBody, readForm } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { pageDocument } from '../http/page-document.ts';

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

export const undoDeletion: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('verify', device.ip);
  const isForm = context.req.header('content-type')?.startsWith('application/x-www-form-urlencoded') ?? false;
  const linkToken = isForm
    ? ((await readForm(context)).get('token_hash') ?? '')
    : (await readBody(context)).text('token_hash');
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
