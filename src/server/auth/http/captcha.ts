/**
 * Requires a solved captcha where the operator has set one up (docs/specification/accounts.md 9).
 *
 * Fails closed: without an answer of the captcha service the request is refused, and the client may retry. Threat: a
 * token that was solved on a page of another site. The page's host name must be ours or one that AUTH_REDIRECT_URLS
 * lists, unless the captcha service withholds the name.
 */
import type { Context } from 'hono';
import { isLoopback } from '#server/config/private-network.ts';
import { isWebProtocol } from '#server/config/redirect-patterns.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { AccessTokenError } from '../keys/access-tokens.ts';
import type { AuthDeps } from './auth-deps.ts';
import { findBearer, isAdminToken } from './bearer.ts';
import type { Body } from './body.ts';
import { AuthError } from './errors.ts';
import { askSiteverify } from './siteverify.ts';

/** Error codes of the captcha service that mean our keys are wrong. Every request that needs a captcha then fails. */
const MISCONFIGURED = /-input-secret$|^sitekey-secret-mismatch$/;

/**
 * Call after the rate limits and before any account is looked up. No-op without captcha settings and for a service
 * token. Throws `captcha_failed`, with status 400, or with 503 if the captcha service does not answer.
 */
export async function requireCaptcha(context: Context<AppEnv>, deps: AuthDeps, body: Body): Promise<void> {
  const { captcha } = deps.config.auth;
  if (captcha === null || (await isAdmin(context, deps))) return;
  const token = body.object('gotrue_meta_security')?.['captcha_token'] ?? '';
  if (typeof token !== 'string' || token === '') throw new AuthError('captcha_failed', 'no captcha_token found');
  const verdict = await askSiteverify(captcha, token);
  if (verdict.outcome === 'unavailable') {
    deps.log.error({ captcha: captcha.provider, reason: verdict.reason }, 'the captcha service did not answer');
    // supabase/auth responds with 500; clients may retry after a 503.
    throw new AuthError(503, 'captcha_failed', 'captcha verification process failed');
  }
  if (verdict.outcome === 'refused') {
    const { codes } = verdict;
    if (codes.some((code) => MISCONFIGURED.test(code))) {
      deps.log.error({ captcha: captcha.provider, codes }, 'the captcha service rejects our keys');
    }
    throw new AuthError('captcha_failed', codes.join(', '));
  }
  if (verdict.hostname !== null && !isOurHost(verdict.hostname, deps.config)) {
    throw new AuthError('captcha_failed', 'hostname-mismatch');
  }
}

/** Whether the request carries a service token, which needs no captcha. */
async function isAdmin(context: Context<AppEnv>, { accessTokens }: AuthDeps): Promise<boolean> {
  const token = findBearer(context);
  // A client without a session sends its publishable key, which is not a JWT: a JWT has three parts.
  if (token?.split('.', 4).length !== 3) return false;
  try {
    return isAdminToken(await accessTokens.readClaims(token));
  } catch (error) {
    if (error instanceof AccessTokenError) return false;
    throw error;
  }
}

function isOurHost(hostname: string, { publicUrl, auth }: AuthDeps['config']): boolean {
  const home = new URL(publicUrl).hostname;
  if (hostname === home || (isLoopback(home) && isLoopback(hostname))) return true;
  return auth.redirectPatterns.some((pattern) => isWebProtocol(pattern) && pattern.host.test(hostname));
}
