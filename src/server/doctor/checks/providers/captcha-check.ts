/** Sends the captcha service an invalid token: its answer tells whether it accepts our keys. */
import { askSiteverify } from '#server/auth/http/siteverify.ts';
import type { Config } from '#server/config/config.ts';
import { fault, off, ok, type Check } from '../../check.ts';

/** The error codes of hCaptcha and Turnstile for a wrong secret or site key. */
const KEY_CODES: ReadonlySet<string> = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'invalid-sitekey',
  'not-using-dummy-secret',
]);

export const captchaCheck = ({ auth: { captcha } }: Config): Check => ({
  name: 'captcha',
  async run() {
    if (captcha === null) return [off('captchas are off (CAPTCHA_PROVIDER)')];
    const verdict = await askSiteverify(captcha, 'doctor');
    if (verdict.outcome === 'unavailable') {
      return [
        fault(
          `the captcha service does not answer: ${verdict.reason}`,
          'Nobody can sign in while it does not. Check CAPTCHA_VERIFY_URL and the network.',
        ),
      ];
    }
    const wrong = verdict.outcome === 'refused' ? verdict.codes.filter((code) => KEY_CODES.has(code)) : [];
    if (wrong.length > 0) {
      return [
        fault(
          `the captcha service rejects our keys (${wrong.join(', ')})`,
          'Check CAPTCHA_SITE_KEY and CAPTCHA_SECRET: both of the same site.',
        ),
      ];
    }
    return [ok('the captcha service accepts the secret')];
  },
});
