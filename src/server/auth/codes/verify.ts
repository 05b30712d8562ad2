/** POST /verify: exchanges a mailed link, or a mailed or texted code, for a session (docs/specification/api.md 16, 26). */
import { ROUTES } from '#domain/routes.ts';
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { OneTimePurpose } from '#server/database/tables.ts';
import { phoneChangedMail } from '#server/mail/account-emails.ts';
import { sendNotice } from '../accounts/security-notice.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { parseEmail, parsePhone } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { phoneChangedText, sendTextLater } from '../phone/send-text.ts';
import { respondWithSession, sessionFragment } from '../sessions/session-response.ts';
import { mailAddressChanged } from './address-change.ts';
import { announceClaim } from './claim-account.ts';
import { findByCode, findByLink, isPkceLink, type FoundToken } from './one-time-tokens.ts';
import { isTexted, redeemToken, type PhoneChange, type RedeemResult } from './redeem-code.ts';
import { isWebProtocol } from '#server/config/redirect-patterns.ts';
import { escapeHtml } from '#server/escape-html.ts';
import { isCrossSiteRequest } from '#server/http/host-guard.ts';
import { pageDocument } from '#server/http/page-document.ts';
import { isOwnOrigin, oauthErrorName, redirectTarget } from '../http/redirects.ts';

/**
 * Purposes of mailed tokens by the `type` of the request. `email` is for clients that do not know whether an account is
 * new.
 */
const MAILED_PURPOSES: ReadonlyMap<string, readonly OneTimePurpose[]> = new Map<string, OneTimePurpose[]>([
  ['signup', ['signup']],
  ['invite', ['invite']],
  ['magiclink', ['magiclink']],
  ['email', ['signup', 'magiclink']],
  ['recovery', ['recovery']],
  ['email_change', ['email_change_current', 'email_change_new']],
]);
const TEXTED_PURPOSES: ReadonlyMap<string, readonly OneTimePurpose[]> = new Map<string, OneTimePurpose[]>([
  ['sms', ['sms']],
  ['phone_change', ['phone_change']],
]);

const FIRST_LINK_ACCEPTED = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';

export const verifyCode: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const type = body.text('type');
  if (type === '') throw new AuthError('verify_without_type');
  if ((body.text('token') === '') === (body.text('token_hash') === ''))
    throw invalidRequest('Verify requires either a token or a token hash');
  const token =
    body.text('token_hash') === ''
      ? await findTokenByCode(deps, type, body, device)
      : await findTokenByHash(deps, type, body);
  const result = await redeemLinkOrCode(deps, { token, device, finishesFlow: false });
  return context.json(
    result.outcome === 'session'
      ? await respondWithSession(context, deps, { ...result, provesMailbox: !isTexted(token) })
      : { msg: FIRST_LINK_ACCEPTED, code: '200' },
  );
};

async function findTokenByHash(deps: AuthDeps, type: string, body: Body): Promise<FoundToken> {
  if (body.has('email') || body.has('phone') || body.has('redirect_to'))
    throw invalidRequest('Only the token_hash and type should be provided');
  return findTokenByLink(deps, type, body.text('token_hash'));
}

async function findTokenByLink(deps: AuthDeps, type: string, linkToken: string): Promise<FoundToken> {
  const purposes = MAILED_PURPOSES.get(type);
  if (!purposes) throw invalidRequest('Invalid email verification type');
  const service = deps.database.asService('verify a link');
  const token = await findByLink(service, { linkToken, purposes, now: deps.clock.now() });
  if (!token) throw new AuthError('link_expired');
  return token;
}

async function findTokenByCode(deps: AuthDeps, type: string, body: Body, device: Device): Promise<FoundToken> {
  const padding = startPadding();
  const [email, phone] = [body.text('email'), body.text('phone')];
  if ((email === '') === (phone === ''))
    throw invalidRequest('Only an email address or phone number should be provided on verify');
  const address = phone === '' ? parseEmail(email, 'verify_bad_email') : parsePhone(phone);
  const purposes = phone === '' ? MAILED_PURPOSES.get(type) : deps.sms && TEXTED_PURPOSES.get(type);
  const { clock, secrets } = deps;
  const lookup = {
    address,
    code: body.text('token'),
    now: clock.now(),
    key: secrets.oneTimeCodes,
    ...(phone === '' && { device }),
  };
  const service = deps.database.asService('verify a code');
  // An unknown type is answered like a wrong code, as in supabase/auth.
  const token = purposes ? await findByCode(service, { ...lookup, purposes }) : null;
  if (token) return token;
  // Threat: the time of the answer would reveal whether the address or number has a pending code.
  await padding.finish();
  throw new AuthError('code_expired');
}

type RedeemedToken = Extract<RedeemResult, { outcome: 'session' | 'auth_code' | 'awaiting_other_address' }>;

/** Throws an AuthError unless the token was redeemed. */
async function redeemLinkOrCode(
  deps: AuthDeps,
  { token, device, finishesFlow }: { token: FoundToken; device: Device; finishesFlow: boolean },
): Promise<RedeemedToken> {
  const { database, clock } = deps;
  const result = await database
    .transactAsService('redeem a token', (transaction) =>
      redeemToken(transaction, { token, device, now: clock.now(), finishesFlow }),
    )
    .catch((error: unknown) => {
      // Another account confirmed the new address or number at the same moment.
      if (isUniqueViolation(error)) return { outcome: 'taken' } as const;
      throw error;
    });
  if (result.outcome === 'invalid') throw new AuthError(isTexted(token) ? 'code_expired' : 'link_expired');
  if (result.outcome === 'banned') throw new AuthError('user_banned');
  if (result.outcome === 'taken') throw new AuthError(isTexted(token) ? 'phone_exists' : 'email_exists');
  if (result.outcome === 'awaiting_other_address') return result;
  const { account, previousEmail, claim, phoneChange } = result;
  if (previousEmail !== null) mailAddressChanged(deps, previousEmail, account.user.email ?? '');
  if (claim !== null) announceClaim(deps, account.user, claim);
  if (phoneChange !== null) announcePhoneChange(deps, phoneChange);
  return result;
}

/**
 * Tells the owner by mail, and by text at the previous confirmed number. Threat: a stranger at the unlocked device adds
 * a number, to sign in with it later.
 */
function announcePhoneChange(deps: AuthDeps, { previousPhone, owner }: PhoneChange): void {
  sendNotice(deps, owner, phoneChangedMail);
  if (previousPhone === null) return;
  const text = phoneChangedText(`${deps.config.publicUrl}${ROUTES.login.path}`);
  sendTextLater(deps, async () => ({ phone: previousPhone, text, share: 'guest' }));
}

/**
 * GET /verify and the button on its page: a link to a third-party app or of a PKCE flow (docs/specification/api.md 15).
 *
 * Threat: mail clients and scanners open every link, which would use up the token with the GET of supabase/auth. Here
 * GET and HEAD show a page without a database query, so they do not reveal whether a token is valid either. The
 * button's POST consumes the token and responds as the GET of supabase/auth does: with a redirect that carries the
 * session in its fragment, or for a PKCE client an auth code in its query.
 */
export const showLink: Endpoint = (context, { config }) => {
  const { type, token } = parseLink(context.req.query('type'), context.req.query('token'));
  const target = redirectTarget(context, config);
  const { body, headers } = linkPage({ type, token, target, isOwnSite: isOwnOrigin(target, config) });
  return context.html(body, 200, headers);
};

/** The query parameters of a redirect that carry the result. */
const RESULT_FIELDS = ['code', 'message', 'error', 'error_code', 'error_description'] as const;

type Given = { device: Device; countRequest: () => Promise<void>; readBody: () => Promise<URLSearchParams> };

export const followLink: Endpoint<Given> = async (context, deps, { device, countRequest, readBody }) => {
  const target = redirectTarget(context, deps.config).replace(/#.*$/s, '');
  const redirect = (address: string): Response => {
    context.header('Referrer-Policy', 'no-referrer');
    return context.redirect(address, 303);
  };
  // A PKCE client may be a server, which sees only the query. So for such a client the query has the fields as well.
  const redirectWith = (fields: Record<string, string>, isPkce: boolean): Response => {
    const fragment = new URLSearchParams({ ...fields, sb: '' });
    fragment.sort();
    return redirect(`${isPkce ? withQuery(target, fields) : target}#${fragment.toString()}`);
  };
  const redirectWithError = (error: unknown, isPkce: boolean): Response => {
    if (!(error instanceof AuthError)) throw error;
    const name = oauthErrorName(error.status);
    const fields = { error_code: error.code, error_description: error.message };
    return redirectWith({ ...(name !== undefined && { error: name }), ...fields }, isPkce);
  };
  try {
    await countRequest();
  } catch (error) {
    // The form, which shows whether this is a PKCE flow, has not been read. So the query has the error as well.
    return redirectWithError(error, true);
  }
  const form = await readBody();
  const { type, token } = parseLink(form.get('type'), form.get('token'));
  // Threat: login CSRF. A page of another site submits the form with a link of the attacker's account. Such a request
  // uses up no token and is redirected to the page with the button.
  if (isCrossSiteRequest(context, deps.config)) {
    const query = new URLSearchParams({ token, type, redirect_to: target });
    return context.redirect(`/auth/v1/verify?${query.toString()}`, 303);
  }
  const isPkce = isPkceLink(token);
  try {
    const found = await findTokenByLink(deps, type, token);
    const result = await redeemLinkOrCode(deps, { token: found, device, finishesFlow: true });
    if (result.outcome === 'awaiting_other_address') return redirectWith({ message: FIRST_LINK_ACCEPTED }, isPkce);
    if (result.outcome === 'auth_code') return redirect(withQuery(target, { code: result.code }));
    const session = await respondWithSession(context, deps, { ...result, provesMailbox: true });
    return redirectWith({ ...sessionFragment(session), type }, isPkce);
  } catch (error) {
    return redirectWithError(error, isPkce);
  }
};

/**
 * Adds the fields to the target's query. Removes RESULT_FIELDS that the target has itself: they could forge a result.
 */
function withQuery(target: string, fields: Record<string, string>): string {
  const url = new URL(target);
  for (const name of RESULT_FIELDS) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  return url.href;
}

function parseLink(type: string | null | undefined, token: string | null | undefined) {
  if (!type) throw new AuthError('verify_without_type');
  if (!token) throw invalidRequest('Verify requires a token or a token hash');
  return { type, token };
}

type LinkPage = { type: string; token: string; target: string; isOwnSite: boolean };

type PageText = { title: string; describe: (site: string) => string };

const CONFIRM_TEXT: PageText = {
  title: 'Confirm your email address',
  describe: (site) => `The button confirms your email address and signs you in to ${site}.`,
};
const RECOVERY_TEXT: PageText = {
  title: 'Choose a new password',
  describe: (site) => `The button signs you in to ${site}, where you can choose a new password.`,
};
const ADDRESS_CHANGE_TEXT: PageText = {
  title: 'Confirm your new address',
  describe: (site) =>
    `We sent a link to both of your addresses. Once you have confirmed both, the button signs you in to ${site}.`,
};
const INVITATION_TEXT: PageText = {
  title: 'Accept your invitation',
  describe: (site) => `The button confirms your email address and signs you in to ${site}.`,
};
const SIGN_IN_TEXT: PageText = { title: 'Sign in', describe: (site) => `The button signs you in to ${site}.` };

const TEXTS: ReadonlyMap<string, PageText> = new Map([
  ['signup', CONFIRM_TEXT],
  ['email', CONFIRM_TEXT],
  ['invite', INVITATION_TEXT],
  ['recovery', RECOVERY_TEXT],
  ['email_change', ADDRESS_CHANGE_TEXT],
]);

/**
 * The confirmation page that a mail's link opens: it states what the link does and waits for a click. The token is not
 * looked up: the page does not reveal whether the token is valid, and it names no account.
 *
 * @returns the document and its required response headers
 */
function linkPage({ type, token, target, isOwnSite }: LinkPage) {
  const { title, describe } = TEXTS.get(type) ?? SIGN_IN_TEXT;
  const url = new URL(target);
  const name = isOwnSite ? 'Hustle Forge' : siteName(url);
  const site = `<strong>${escapeHtml(name)}</strong>`;
  const action = `/auth/v1/verify/continue?${new URLSearchParams({ redirect_to: target }).toString()}`;
  const content = `<p>${describe(site)}</p>
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="type" value="${escapeHtml(type)}">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<button>Continue to ${escapeHtml(name)}</button>
</form>
<p class="note">The link works once. If you did not ask for it, close this page and nothing happens.</p>`;
  return pageDocument({ title, content, formTarget: url.protocol });
}

/**
 * Threat: spoofing. With an app's scheme, the scheme alone decides which app opens, and the host part may be any name.
 * The page therefore names the scheme of such a target, not its host.
 */
const siteName = (url: URL): string => (isWebProtocol(url) ? url.host : url.protocol.slice(0, -1));
