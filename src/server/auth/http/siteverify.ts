/** Asks hCaptcha or Turnstile whether a captcha was solved (docs/specification/providers.md 8). */
import type { CaptchaSettings } from '#server/config/auth-settings.ts';
import { parseJson, readResponseText } from '#server/parse-json.ts';

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
