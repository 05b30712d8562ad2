/**
 * GET and POST /tokens, DELETE /tokens/{id}, POST /device/revoke: a user's own access tokens
 * (docs/specification/capture.md 2).
 */
import { TOKEN_DAYS, type CreatedToken, type TokenDays, type TokenList } from '#domain/account/access-token.ts';
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import { tokenCreatedMail } from '#server/mail/account-emails.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { sendNotice } from '../accounts/security-notice.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { hashOf, tokenOwner } from '../keys/personal-tokens.ts';
import { requireLiveSession, type Member } from '../sessions/require-user.ts';
import { listSlackLinks } from './connect-store.ts';
import {
  checkName,
  checkScopes,
  checkTimeZone,
  createToken,
  deleteToken,
  deleteTokenByHash,
  listTokens,
  type NewToken,
} from './token-store.ts';

export const showTokens: Endpoint<{ caller: Member }> = async (context, deps, { caller: { account } }) => {
  const service = deps.database.asService('list access tokens');
  const { id } = account.user;
  const tokens = await listTokens(service, id, deps.clock.now());
  return context.json({ tokens, slack_links: await listSlackLinks(service, id) } satisfies TokenList);
};

type Given = { caller: Member; device: Device };
type GivenNew = Given & { body: Body; requireRecentSignIn: (nonce: string) => Promise<void> };

/** Throws `validation_failed`. */
export function readDays(body: Body): TokenDays {
  const days = TOKEN_DAYS.find((each) => each === body.number('days'));
  if (days === undefined) throw invalidRequest(`days must be one of ${TOKEN_DAYS.join(', ')}`);
  return days;
}

/**
 * Threat: a stranger at an unlocked device makes a token and reads the journal for a year. A token needs a recent
 * sign-in, and its owner gets a mail.
 */
export const addToken: Endpoint<GivenNew> = async (context, deps, { caller, device, body, requireRecentSignIn }) => {
  const { account, session } = caller;
  const asked = {
    name: checkName(body.text('name')),
    scopes: checkScopes(body.texts('scopes') ?? []),
    days: readDays(body),
    timeZone: checkTimeZone(body.text('time_zone')),
  };
  await requireRecentSignIn(body.text('nonce'));
  await deps.limits.consumeChange(caller);
  const { id: userId } = account.user;
  const created = await deps.database.transactAsService('create an access token', async (transaction) => {
    await lockUser(transaction, userId);
    await requireLiveSession(transaction, session);
    return issueToken(transaction, { ...asked, userId, now: deps.clock.now() }, device);
  });
  mailNewAccess(deps, account.user, tokenCreatedMail);
  return context.json(created satisfies CreatedToken);
};

/** Requires a transaction that has locked the user. Adds the audit row. */
export async function issueToken(transaction: AsService, token: NewToken, device: Device): Promise<CreatedToken> {
  const created = await createToken(transaction, token);
  await recordAuditEvent(transaction, {
    at: token.now,
    userId: token.userId,
    actor: 'user',
    event: 'token_created',
    device,
    details: { token_id: created.id, scopes: created.scopes, days: token.days },
  });
  return created;
}

/** Tells the owner that something can use the account from now on. Settings list it. */
export const mailNewAccess = (
  deps: AuthDeps,
  user: { id: string; email: string | null },
  render: typeof tokenCreatedMail,
): void =>
  sendNotice(deps, user, (notice) => render({ ...notice, settingsLink: deps.config.publicUrl + ROUTES.settings.path }));

/**
 * RFC 7009: a program ends its own token. An unknown token is answered in the same way, so the answer confirms no
 * guess.
 */
export const revokeHeldToken: Endpoint<{ body: Body | URLSearchParams; device: Device }> = async (
  context,
  deps,
  { body, device },
) => {
  const token = body instanceof URLSearchParams ? (body.get('token') ?? '') : body.text('token');
  const userId = tokenOwner(token);
  if (userId !== null) {
    await deps.database.transactAsService('a program ends its access token', async (transaction) => {
      const id = await deleteTokenByHash(transaction, userId, hashOf(token));
      if (id !== null) await recordRevocation(deps, transaction, { userId, id, device });
    });
    deps.tokens.invalidate();
  }
  return context.json({});
};

type Revocation = { userId: string; id: string; device: Device };

const recordRevocation = ({ clock }: AuthDeps, transaction: AsService, { userId, id, device }: Revocation) =>
  recordAuditEvent(transaction, {
    at: clock.now(),
    userId,
    actor: 'user',
    event: 'token_revoked',
    device,
    details: { token_id: id },
  });

/** Needs no recent sign-in, so that an owner who finds a token that a thief has made can end it at once. */
export const removeToken: Endpoint<Given & { ids: { id: string } }> = async (
  context,
  deps,
  { caller, device, ids },
) => {
  await deps.limits.consumeChange(caller);
  const { id: userId } = caller.account.user;
  const removed = await deps.database.transactAsService('revoke an access token', async (transaction) => {
    const name = await deleteToken(transaction, userId, ids.id);
    if (name === null) return false;
    await recordRevocation(deps, transaction, { userId, id: ids.id, device });
    return true;
  });
  deps.tokens.invalidate();
  if (!removed) throw new AuthError('no_such_token');
  return context.body(null, 204);
};
