/**
 * The headers that every answer carries, whoever wrote it.
 *
 * Threat: stored script in a log, a page framed by somebody else, a token leaking in a referrer. The policy allows no
 * inline script or style at all, so even markup that slipped through the cleaning could not run.
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

/** HSTS is sent only behind https: on plain http browsers ignore it, and on localhost it would break other projects. */
const hstsHeaders = ({ publicUrl }: Pick<Config, 'publicUrl'>): Headers =>
  publicUrl.startsWith('https://') ? [['Strict-Transport-Security', 'max-age=31536000; includeSubDomains']] : [];

const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

export type SecurityHeaders = { readonly page: Headers; readonly api: Headers };

/**
 * `page` goes with everything that a browser may show. An answer of the API is JSON that a browser refuses to treat as
 * anything else, so `api` is short: each header costs a microsecond of every save.
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
