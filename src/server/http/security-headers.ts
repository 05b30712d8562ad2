/**
 * The security headers of every response.
 *
 * Threat: stored XSS, clickjacking, a token that leaks in a referrer. The policy allows no inline script or style, so
 * markup that slipped through sanitizing still could not run. The only foreign sources are API_URL, if it is set, and
 * on the app's page those of a configured captcha's widget.
 */
import { CAPTCHA_SCRIPT_URLS, type CaptchaSettings } from '../config/auth-settings.ts';
import type { Config } from '../config/config.ts';

type Headers = readonly (readonly [name: string, value: string])[];

const PERMISSIONS = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb', 'browsing-topics'];

type WidgetDirective = 'script-src' | 'frame-src' | 'style-src' | 'connect-src';

/**
 * The sources of each captcha widget, as the provider documents them. If CAPTCHA_SCRIPT_URL is set, its origin replaces
 * `hosts`.
 */
const WIDGETS: Readonly<
  Record<CaptchaSettings['provider'], { hosts: string; directives: readonly WidgetDirective[] }>
> = {
  hcaptcha: {
    hosts: 'https://hcaptcha.com https://*.hcaptcha.com',
    directives: ['script-src', 'frame-src', 'style-src', 'connect-src'],
  },
  turnstile: { hosts: 'https://challenges.cloudflare.com', directives: ['script-src', 'frame-src'] },
};

/** ` https://…` for a directive that the captcha's widget needs; empty without a captcha. */
function widgetSources(captcha: CaptchaSettings | null): (directive: WidgetDirective) => string {
  if (captcha === null) return () => '';
  const { hosts, directives } = WIDGETS[captcha.provider];
  const isProviders = captcha.scriptUrl === CAPTCHA_SCRIPT_URLS[captcha.provider];
  const sources = isProviders ? hosts : new URL(captcha.scriptUrl).origin;
  return (directive) => (directives.includes(directive) ? ` ${sources}` : '');
}

function contentSecurityPolicy(apiUrl: string, captcha: CaptchaSettings | null): string {
  const api = apiUrl === '' ? '' : ` ${new URL(apiUrl).origin}`;
  const widget = widgetSources(captcha);
  return [
    "default-src 'none'",
    `script-src 'self'${widget('script-src')}`,
    `style-src 'self'${widget('style-src')}`,
    ...(captcha === null ? [] : [`frame-src${widget('frame-src')}`]),
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    `connect-src 'self'${api}${widget('connect-src')}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * The Content-Security-Policy of the app's page. Static pages have the one of `securityHeaders`; pages that the server
 * renders set their own.
 */
export const appPagePolicy = ({ apiUrl, auth }: Pick<Config, 'apiUrl' | 'auth'>): string =>
  contentSecurityPolicy(apiUrl, auth.captcha);

/** HSTS is sent only if the public URL is https, because browsers ignore it over plain http. */
const hstsHeaders = ({ publicUrl }: Pick<Config, 'publicUrl'>): Headers =>
  publicUrl.startsWith('https://') ? [['Strict-Transport-Security', 'max-age=31536000; includeSubDomains']] : [];

const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

export type SecurityHeaders = { readonly page: Headers; readonly api: Headers };

/**
 * `page` is for everything that a browser can render. `api` is for the APIs, which answer with JSON and nosniff; their
 * few pages set a policy of their own. `api` is short, because each header costs a microsecond per save.
 */
export function securityHeaders(config: Pick<Config, 'apiUrl' | 'publicUrl'>): SecurityHeaders {
  return {
    page: [
      ['Content-Security-Policy', contentSecurityPolicy(config.apiUrl, null)],
      NO_SNIFFING,
      ['Referrer-Policy', 'same-origin'],
      ['Permissions-Policy', PERMISSIONS.map((feature) => `${feature}=()`).join(', ')],
      ['X-Frame-Options', 'DENY'],
      ['Cross-Origin-Opener-Policy', 'same-origin'],
      ['Cross-Origin-Resource-Policy', 'same-origin'],
      ...hstsHeaders(config),
    ],
    api: [NO_SNIFFING, ...hstsHeaders(config)],
  };
}
