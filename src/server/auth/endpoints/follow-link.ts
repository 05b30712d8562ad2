/**
 * GET /verify and the button on its page: a link that leads to somebody else's app (docs/specification/wire.md 15).
 *
 * Threat: mail programs and scanners open every link, and upstream's GET would use the token up. Here GET, and HEAD with
 * it, shows a page and asks the database nothing, so it also tells nobody whether a token is good. The button's POST uses
 * the token up and answers as upstream's GET does: with a redirect that carries the session in its fragment.
 */
import { isFromOtherSite } from '#server/http/requests/other-site.ts';
import type { Endpoint } from '../auth-deps.ts';
import { HALF_DONE, redeemed, tokenByLink } from './verify.ts';
import { deviceOf } from '../wire/device.ts';
import { AuthError } from '../wire/errors.ts';
import { rememberDevice } from '../wire/known-device.ts';
import { linkPage } from '../wire/link-page.ts';
import { leadsHome, redirectTarget } from '../wire/redirects.ts';

export const showLink: Endpoint = (context, { config }) => {
  const { type, token } = checkedLink(context.req.query('type'), context.req.query('token'));
  const target = redirectTarget(context, config);
  const { body, headers } = linkPage({ type, token, target, isHome: leadsHome(target, config) });
  return context.html(body, 200, headers);
};

/** The `error` of a redirect by an error's status (docs/specification/wire.md 15); others have none. */
const ERROR_NAMES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  503: 'temporarily_unavailable',
};

export const followLink: Endpoint = async (context, parts) => {
  const form = new URLSearchParams(await context.req.text());
  const { type, token } = checkedLink(form.get('type'), form.get('token'));
  const target = redirectTarget(context, parts.config).replace(/#.*$/s, '');
  // Threat: a page elsewhere sends the form itself, with a link of its author's account, and nobody clicks.
  if (isFromOtherSite(context, parts.config)) {
    const query = new URLSearchParams({ token, type, redirect_to: target });
    return context.redirect(`/auth/v1/verify?${query.toString()}`, 303);
  }
  const leadTo = (fields: Record<string, string>): Response => {
    const fragment = new URLSearchParams({ ...fields, sb: '' });
    fragment.sort();
    context.header('Referrer-Policy', 'no-referrer');
    return context.redirect(`${target}#${fragment.toString()}`, 303);
  };
  try {
    const device = deviceOf(context, parts);
    await parts.limits.consume('verify', device.ip);
    const answer = await redeemed(parts, await tokenByLink(parts, type, token), device);
    if (answer === null) return leadTo({ message: HALF_DONE });
    rememberDevice(context, parts, answer.user);
    const { access_token, refresh_token, expires_in, token_type } = answer;
    return leadTo({ access_token, refresh_token, expires_in: String(expires_in), token_type, type });
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    const name = ERROR_NAMES[error.status];
    return leadTo({
      ...(name !== undefined && { error: name }),
      error_code: error.code,
      error_description: error.message,
    });
  }
};

function checkedLink(type: string | null | undefined, token: string | null | undefined) {
  if (!type) throw new AuthError('verify_without_type');
  if (!token) throw new AuthError('verify_link_without_token');
  return { type, token };
}
