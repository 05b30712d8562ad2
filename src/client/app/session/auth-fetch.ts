/**
 * Sends auth requests, with a solved captcha where the server requires one (docs/specification/api.md 2). Drops
 * `expires_at` from the answers: auth-js then counts a session's `expires_in` on the clock of this device, and a wrong
 * clock signs nobody out.
 */
import type { Session } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';
import { noteProxyAnswer } from '#client/lib/api/supabase.ts';

const CAPTCHA_PATHS =
  /\/v1\/(signup|otp|recover|resend|sso|passkeys\/authentication\/options|token\?grant_type=(password|web3))/;

export function createAuthFetch({ signIn: { captcha } }: ClientConfig): typeof fetch {
  const send: typeof fetch = async (input, init) => {
    if (!captcha || !CAPTCHA_PATHS.test(input as string)) return fetch(input, init);
    const { fetchWithCaptcha } = await import('#client/ui/captcha.tsx');
    return fetchWithCaptcha(captcha, input, init);
  };
  return async (input, init) => {
    const response = await send(input, init);
    // auth-js would end the session on a proxy's answer. It keeps the session after a network error, a TypeError.
    if (noteProxyAnswer(response)) throw new TypeError('a proxy answered instead of the server');
    const read = response.json.bind(response);
    response.json = async () => {
      const body = (await read()) as Partial<Session>;
      delete body.expires_at;
      return body;
    };
    return response;
  };
}
