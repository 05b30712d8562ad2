/**
 * Requires a solved captcha where the operator has set one up (docs/specification/api.md 2).
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
import type { CaptchaSettings } from '#server/config/auth-settings.ts';
import { parseJson, readResponseText } from '#server/parse-json.ts';

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

// Asks hCaptcha or Turnstile whether a captcha was solved (docs/specification/providers.md 8).

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 16 * 1024;
/** Above the longest token of either provider. */
const MAX_TOKEN_LENGTH = 8_192;
const MAX_REPORTED_CODES = 5;

export type CaptchaVerdict =
  /** `hostname` is the host of the page on which the captcha was solved; null if the provider withholds it. */
  | { outcome: 'solved'; hostname: string | null }
  | { outcome: 'refused'; codes: readonly string[] }
  /** No usable answer. `reason` contains no secret. */
  | { outcome: 'unavailable'; reason: string };

/** Never rejects. */
export async function askSiteverify(
  captcha: CaptchaSettings,
  token: string,
  timeoutMs = TIMEOUT_MS,
): Promise<CaptchaVerdict> {
  if (token.length > MAX_TOKEN_LENGTH) return { outcome: 'refused', codes: ['invalid-input-response'] };
  const form = new URLSearchParams({ secret: captcha.secret.reveal(), response: token });
  // Threat: an hCaptcha secret belongs to an operator's account. Without the site key, a token that was solved on
  // another site of the account would pass. A Turnstile secret belongs to one widget.
  if (captcha.provider === 'hcaptcha') form.set('sitekey', captcha.siteKey);
  try {
    const response = await fetch(captcha.verifyUrl, {
      method: 'POST',
      body: form,
      headers: { Accept: 'application/json' },
      // Threat: a redirect takes the secret to another server.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await readResponseText(response, MAX_ANSWER_BYTES);
    if (!response.ok) return { outcome: 'unavailable', reason: `HTTP ${response.status}` };
    return parseVerdict(text, captcha.provider);
  } catch (error) {
    return { outcome: 'unavailable', reason: reasonOf(error) };
  }
}

/** `fetch` hides the cause of a failed connection, such as ECONNREFUSED, in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}

/** Parses an answer strictly: only `success: true` with a host name is a solved captcha. */
export function parseVerdict(text: string, provider: CaptchaSettings['provider']): CaptchaVerdict {
  const answer: unknown = parseJson(text);
  if (typeof answer !== 'object' || answer === null) return { outcome: 'unavailable', reason: 'malformed answer' };
  const { success, hostname, 'error-codes': codes } = answer as Record<string, unknown>;
  if (success === true) {
    if (typeof hostname !== 'string' || hostname === '') return { outcome: 'refused', codes: ['missing-hostname'] };
    // hCaptcha withholds the host name while a site has unusually many visitors.
    const isWithheld = provider === 'hcaptcha' && hostname === 'not-provided';
    return { outcome: 'solved', hostname: isWithheld ? null : hostname };
  }
  if (success !== false) return { outcome: 'unavailable', reason: 'malformed answer' };
  const words = (Array.isArray(codes) ? codes : []).filter(isErrorCode).slice(0, MAX_REPORTED_CODES);
  return { outcome: 'refused', codes: words.length === 0 ? ['unknown'] : words };
}

/** The answer's codes reach the client, so anything but a word is dropped. */
const isErrorCode = (code: unknown): code is string => typeof code === 'string' && /^[a-z][a-z0-9-]{0,63}$/.test(code);
