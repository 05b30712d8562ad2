/** Sends auth requests, with a solved captcha where the server requires one (docs/specification/wire.md 2). */
import type { ClientConfig } from '#domain/client-config.ts';

const CAPTCHA_PATHS =
  /\/v1\/(signup|otp|recover|resend|sso|passkeys\/authentication\/options|token\?grant_type=(password|web3))/;

export function createAuthFetch({ signIn: { captcha } }: ClientConfig): typeof fetch {
  return async (input, init) => {
    if (!captcha || !CAPTCHA_PATHS.test(input as string)) return fetch(input, init);
    const { fetchWithCaptcha } = await import('#client/ui/captcha/fetch-with-captcha.tsx');
    return fetchWithCaptcha(captcha, input, init);
  };
}
