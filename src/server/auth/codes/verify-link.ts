/**
 * GET /verify and the button on its page: a link to a third-party app (docs/specification/api.md 15).
 *
 * Threat: mail clients and scanners open every link, which would use up the token with the GET of supabase/auth. Here
 * GET and HEAD show a page without a database query, so they do not reveal whether a token is valid either. The
 * button's POST consumes the token and responds as the GET of supabase/auth does: with a redirect that carries the
 * session in its fragment, or for a PKCE client an auth code in its query.
 */
import { isWebProtocol } from '#server/config/redirect-patterns.ts';
import { escapeHtml } from '#server/escape-html.ts';
import { isCrossSiteRequest } from '#server/http/host-guard.ts';
import { pageDocument } from '#server/http/page-document.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { isOwnOrigin, oauthErrorName, redirectTarget } from '../http/redirects.ts';
import { respondWithSession, sessionFragment } from '../sessions/session-response.ts';
import { isPkceLink } from './one-time-tokens.ts';
import { findTokenByLink, FIRST_LINK_ACCEPTED, redeemLinkOrCode } from './verify.ts';

export const showLink: Endpoint = (context, { config }) => {
  const { type, token } = parseLink(context.req.query('type'), context.req.query('token'));
  const target = redirectTarget(context, config);
  const { body, headers } = linkPage({ type, token, target, isOwnSite: isOwnOrigin(target, config) });
  return context.html(body, 200, headers);
};

/** The query parameters of a redirect that carry the result. */
const RESULT_FIELDS = ['code', 'message', 'error', 'error_code', 'error_description'] as const;

type Given = {
  device: Device;
  countRequest: () => Promise<void>;
  readBody: () => Promise<URLSearchParams>;
};

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
    // The form is not read, so the client may be one with PKCE.
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

/** Adds the fields to the target's query, without RESULT_FIELDS of its own, which could forge a result. */
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
 * The confirmation page between a mail's link and a third-party app: it states what the link does and waits for a
 * click. The token is not looked up: the page does not reveal whether the token is valid, and it names no account.
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
