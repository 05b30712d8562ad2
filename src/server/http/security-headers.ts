/**
 * The security headers of every response.
 *
 * Threat: stored XSS, clickjacking, a token that leaks in a referrer. The policy allows no inline script or style, so
 * markup that slipped through sanitizing still could not run.
 */
import type { Config } from '../config/config.ts';

type Headers = readonly (readonly [name: string, value: string])[];

const PERMISSIONS = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb', 'browsing-topics'];

function contentSecurityPolicy(apiUrl: string): string {
  const connect = apiUrl === '' ? "'self'" : `'self' ${new URL(apiUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    `connect-src ${connect}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** HSTS is sent only if the public URL is https, because browsers ignore it over plain http. */
const hstsHeaders = ({ publicUrl }: Pick<Config, 'publicUrl'>): Headers =>
  publicUrl.startsWith('https://') ? [['Strict-Transport-Security', 'max-age=31536000; includeSubDomains']] : [];

const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

export type SecurityHeaders = { readonly page: Headers; readonly api: Headers };

/**
 * `page` is for everything that a browser can render. An API response is JSON with nosniff, so `api` is short: each
 * header costs a microsecond per save.
 */
export function securityHeaders(config: Pick<Config, 'apiUrl' | 'publicUrl'>): SecurityHeaders {
  return {
    page: [
      ['Content-Security-Policy', contentSecurityPolicy(config.apiUrl)],
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
