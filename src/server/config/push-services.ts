/**
 * The push services that this server sends to.
 *
 * Threat (SSRF): a user subscribes with an endpoint of their choice, and the server sends requests into its own network. An
 * endpoint's host must be one of this list, which only the operator changes, so no address has to be resolved and
 * compared. Redirects are not followed (push/web-push.ts).
 */
import { isLoopback } from './private-network.ts';
import type { SettingsReader } from './settings-reader.ts';

/** Of Chromium and its relatives, Firefox, Safari, and Edge. */
const DEFAULT_SERVICES =
  'fcm.googleapis.com,jmt17.google.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com';

export type PushSettings = {
  /** Host names, `*.example.com` for all names below one, or origins. */
  readonly services: readonly string[];
};

const HOST = /^(?:\*\.)?(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/;

/** Null: `PUSH_SERVICES=off`. */
export function readPushSettings(settings: SettingsReader, isProduction: boolean): PushSettings | null {
  const value = settings.text('PUSH_SERVICES', DEFAULT_SERVICES);
  if (value === 'off') return null;
  const services = value.split(',').map((item) => item.trim().replace(/\/$/, ''));
  for (const service of services) {
    if (HOST.test(service) || isOrigin(service, isProduction)) continue;
    const problem = `must list host names or https origins, or be off, not "${service}"`;
    settings.problem('PUSH_SERVICES', problem, 'fcm.googleapis.com,*.push.apple.com');
    return null;
  }
  return { services };
}

/** Plain http is for a simulator on this machine. */
function isOrigin(service: string, isProduction: boolean): boolean {
  const url = URL.parse(service);
  if (url?.origin !== service) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && !isProduction && isLoopback(url.hostname));
}

export function isPushEndpoint(endpoint: string, { services }: PushSettings): boolean {
  const url = URL.parse(endpoint);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return services.some((service) => {
    if (service.includes('://')) return url.origin === service;
    if (url.protocol !== 'https:' || url.port !== '') return false;
    return service.startsWith('*.') ? url.hostname.endsWith(service.slice(1)) : url.hostname === service;
  });
}
