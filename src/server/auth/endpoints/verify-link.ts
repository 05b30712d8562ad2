/**
 * GET /verify and the button on its page: a link to a third-party app (docs/specification/wire.md 15).
 *
 * Threat: mail clients and scanners open every link, which would use up the token with the GET of supabase/auth. Here GET
 * and HEAD show a page without a database query, so they do not reveal whether a token is valid either. The button's POST
 * consumes the token and responds as the GET of supabase/auth does: with a redirect that carries the session in its fragment.
 */
import { isCrossSiteRequest } from '#server/http/requests/cross-site.ts';
import type { Endpoint } from '../auth-deps.ts';
import { FIRST_LINK_ACCEPTED, redeemForSession, findTokenByLink } from './verify.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { linkPage } from '../wire/link-page.ts';
import { isOwnOrigin, redirectTarget } from '../wire/redirects.ts';

export const showLink: Endpoint = (context, { config }) => {
  const { type, token } = parseLink(context.req.query('type'), context.req.query('token'));
  const target = redirectTarget(context, config);
  const { body, headers } = linkPage({ type, token, target, isOwnSite: isOwnOrigin(target, config) });
  return context.html(body, 200, headers);
};

/** The `error` parameter of a redirect by HTTP status (docs/specification/wire.md 15). */
const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  503: 'temporarily_unavailable',
};

export const followLink: Endpoint = async (context, deps) => {
  const form = new URLSearchParams(await context.req.text());
  const { type, token } = parseLink(form.get('type'), form.get('token'));
  const target = redirectTarget(context, deps.config).replace(/#.*$/s, '');
  // Threat: login CSRF. A page of another site submits the form with a link of the attacker's account. Such a request
  // consumes nothing and is redirected to the page with the button.
  if (isCrossSiteRequest(context, deps.config)) {
    const query = new URLSearchParams({ token, type, redirect_to: target });
    return context.redirect(`/auth/v1/verify?${query.toString()}`, 303);
  }
  const redirectWith = (fields: Record<string, string>): Response => {
    const fragment = new URLSearchParams({ ...fields, sb: '' });
    fragment.sort();
    context.header('Referrer-Policy', 'no-referrer');
    return context.redirect(`${target}#${fragment.toString()}`, 303);
  };
  try {
    const device = deviceOf(context, deps);
    await deps.limits.consume('verify', device.ip);
    const session = await redeemForSession(context, deps, await findTokenByLink(deps, type, token), device);
    if (session === null) return redirectWith({ message: FIRST_LINK_ACCEPTED });
    const { access_token, refresh_token, expires_in, token_type } = session;
    return redirectWith({ access_token, refresh_token, expires_in: String(expires_in), token_type, type });
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    const name = OAUTH_ERRORS[error.status];
    return redirectWith({
      ...(name !== undefined && { error: name }),
      error_code: error.code,
      error_description: error.message,
    });
  }
};

function parseLink(type: string | null | undefined, token: string | null | undefined) {
  if (!type) throw new AuthError('verify_without_type');
  if (!token) throw new AuthError('verify_link_without_token');
  return { type, token };
}
