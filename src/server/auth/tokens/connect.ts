/**
 * Connects a program to an account: a device authorization grant (RFC 8628), which works over SSH, and the answers of
 * the signed-in user on the page /connect. Slack's `/hustle link` is answered on the same page
 * (docs/specification/capture.md 4 and 5).
 *
 * Threat: a stranger starts a request and sends its link to a victim, who approves it. The page says what the program
 * calls itself and what it will be able to do, shows the code to compare, and needs a button and a recent sign-in; a
 * mail follows. Threat: a guess of the user's code. It has 34 bits and ten minutes, and each guess counts towards the
 * caller's budget. A right one only lets the guesser refuse somebody else's program, or approve it for the guesser's
 * own account.
 */
import { ROUTES } from '#domain/routes.ts';
import {
  formatUserCode,
  MAX_TOKENS,
  parseUserCode,
  type ConnectRequest,
  type TokenScope,
} from '#domain/account/access-token.ts';
import { slackLinkedMail, tokenCreatedMail } from '#server/mail/account-emails.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, OAuthError } from '../http/errors.ts';
import { requireLiveSession, type Member } from '../sessions/require-user.ts';
import {
  approveRequest,
  createRequest,
  deleteRequest,
  denyRequest,
  findApprover,
  findOpenRequest,
  linkSlack,
  lockRequestByCode,
  notePoll,
  POLL_SECONDS,
  REQUEST_SECONDS,
  unlinkSlack,
  type ConnectRow,
  type RequestKey,
} from './connect-store.ts';
import { issueToken, mailNewAccess, readDays } from './own-tokens.ts';
import { checkName, checkScopes, checkTimeZone, listTokens } from './token-store.ts';

type Form = Body | URLSearchParams;
const fieldOf = (form: Form, name: string): string =>
  form instanceof URLSearchParams ? (form.get(name) ?? '') : form.text(name);

/** RFC 8628 3.1. `client_id` is what the program calls itself. */
export const authorizeDevice: Endpoint<{ body: Form }> = async (context, deps, { body }) => {
  const { code, userCode } = await createRequest(deps.database.asService('start a device authorization'), {
    name: checkName(fieldOf(body, 'client_id')),
    scopes: checkScopes(fieldOf(body, 'scope').split(' ').filter(Boolean)),
    slack: null,
    now: deps.clock.now(),
  });
  const page = `${deps.config.publicUrl}${ROUTES.connect.path}`;
  const shown = formatUserCode(userCode!);
  return context.json({
    device_code: code,
    user_code: shown,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${shown}`,
    expires_in: REQUEST_SECONDS,
    interval: POLL_SECONDS,
  });
};

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

type Answer = { error: PollError } | { token: string; scopes: TokenScope[]; expiresAt: string; userId: string };

/** RFC 8628 3.4 and 3.5. The token is made when it is fetched, so that only its hash is ever stored. */
export const grantDeviceToken: Endpoint<{ body: Form; device: Device }> = async (context, deps, { body, device }) => {
  if (fieldOf(body, 'grant_type') !== DEVICE_GRANT)
    throw new OAuthError('unsupported_grant_type', `grant_type must be ${DEVICE_GRANT}`);
  const now = deps.clock.now();
  const answer = await deps.database.transactAsService(
    'poll a device authorization',
    async (transaction): Promise<Answer> => {
      const code = fieldOf(body, 'device_code');
      // Locks the user before the request, as a new password does, which deletes approved requests. The other order
      // could deadlock.
      const owner = await findApprover(transaction, code);
      if (owner !== null) await lockUser(transaction, owner);
      const request = await lockRequestByCode(transaction, code);
      if (!request || request.userCode === null || request.expiresAt <= now) return { error: 'expired_token' };
      if (request.deniedAt !== null) return { error: 'access_denied' };
      const { approvedBy: userId, days } = request;
      if (userId === null || days === null || userId !== owner) {
        const isEarly =
          request.polledAt !== null && now.getTime() - request.polledAt.getTime() < request.pollSeconds * 1_000 - 250;
        await notePoll(transaction, request, isEarly, now);
        return { error: isEarly ? 'slow_down' : 'authorization_pending' };
      }
      await deleteRequest(transaction, request);
      const { name, scopes, timeZone } = request;
      const created = await issueToken(transaction, { userId, name, scopes, days, timeZone, now }, device);
      return { token: created.token, scopes: created.scopes, expiresAt: created.expires_at, userId };
    },
  );
  if ('error' in answer) throw new OAuthError(answer.error, POLL_TEXTS[answer.error]);
  const { userId } = answer;
  const [user] = await findAddress(deps, userId);
  if (user) mailNewAccess(deps, user, tokenCreatedMail);
  return context.json({
    access_token: answer.token,
    token_type: 'bearer',
    scope: answer.scopes.join(' '),
    expires_in: Math.round((Date.parse(answer.expiresAt) - now.getTime()) / 1_000),
  });
};

const findAddress = async (deps: AuthDeps, userId: string) =>
  (
    await deps.database
      .asService('address of a token owner')
      .statement<{ id: string; email: string | null }>('select id, email from auth.users where id = $1', [userId])
  ).rows;

const POLL_TEXTS = {
  authorization_pending: 'The user has not answered yet',
  slow_down: 'Please poll less often: wait five seconds more',
  access_denied: 'The user has refused the connection',
  expired_token: 'The code has expired or was used. Please start again',
} as const;

type PollError = keyof typeof POLL_TEXTS;

type Given = { caller: Member; device: Device; body: Body };

/** A code of eight letters is a program's, a longer one is in the link that Slack has shown. */
function readKey(body: Body): RequestKey {
  const code = body.text('code');
  const userCode = parseUserCode(code);
  return userCode === null ? { code } : { userCode };
}

export const showRequest: Endpoint<Given> = async (context, deps, { body }) => {
  const service = deps.database.asService('show a connect request');
  const request = await findOpenRequest(service, readKey(body), deps.clock.now());
  if (!request) throw new AuthError('no_such_connect_request');
  return context.json({
    kind: request.userCode === null ? 'slack' : 'device',
    name: request.name,
    scopes: request.scopes,
    user_code: request.userCode === null ? null : formatUserCode(request.userCode),
  } satisfies ConnectRequest);
};

type GivenApproval = Given & { requireRecentSignIn: (nonce: string) => Promise<void> };

export const allowRequest: Endpoint<GivenApproval> = async (context, deps, given) => {
  const { caller, device, body, requireRecentSignIn } = given;
  const days = readDays(body);
  const timeZone = checkTimeZone(body.text('time_zone'));
  await requireRecentSignIn(body.text('nonce'));
  await deps.limits.consumeChange(caller);
  const { id: userId } = caller.account.user;
  const now = deps.clock.now();
  const kind = await deps.database.transactAsService('approve a connect request', async (transaction) => {
    await lockUser(transaction, userId);
    await requireLiveSession(transaction, caller.session);
    const request = await findOpenRequest(transaction, readKey(body), now);
    if (!request) throw new AuthError('no_such_connect_request');
    if (request.userCode !== null) {
      if ((await listTokens(transaction, userId, now)).length >= MAX_TOKENS) throw new AuthError('too_many_tokens');
      await approveRequest(transaction, request, { userId, days, timeZone });
      return 'device';
    }
    await deleteRequest(transaction, request);
    await linkSlack(transaction, { ...slackUserOf(request), name: request.name, userId, timeZone, now });
    await recordAuditEvent(transaction, { at: now, userId, actor: 'user', event: 'slack_linked', device });
    return 'slack';
  });
  // A program's owner gets the mail when the program fetches its token.
  if (kind === 'slack') mailNewAccess(deps, caller.account.user, slackLinkedMail);
  return context.body(null, 204);
};

const slackUserOf = ({ slackTeam, slackUser }: ConnectRow) => ({ team: slackTeam!, user: slackUser! });

export const refuseRequest: Endpoint<Given> = async (context, deps, { body }) => {
  const now = deps.clock.now();
  await deps.database.transactAsService('refuse a connect request', async (transaction) => {
    const request = await findOpenRequest(transaction, readKey(body), now);
    if (!request) throw new AuthError('no_such_connect_request');
    await denyRequest(transaction, request, now);
  });
  return context.body(null, 204);
};

export const removeSlackLink: Endpoint<Given> = async (context, deps, { caller, device, body }) => {
  await deps.limits.consumeChange(caller);
  const { id: userId } = caller.account.user;
  const service = deps.database.asService('unlink a Slack user');
  if (!(await unlinkSlack(service, userId, body.text('team'), body.text('user')))) throw new AuthError('no_such_token');
  await recordAuditEvent(service, { at: deps.clock.now(), userId, actor: 'user', event: 'slack_unlinked', device });
  return context.body(null, 204);
};
