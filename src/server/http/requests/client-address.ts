/**
 * Where a request comes from, for rate limits.
 *
 * Threat: a header is the caller's own word. It is believed only when the operator has named one that their proxy sets,
 * and then only its last entry, which that proxy appended itself; everything before it may be forged.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';

type Trust = { readonly clientAddressHeader: string | null };

/** The caller's address; `unknown` without a socket. An IPv4 address never shows in its IPv6 dress. */
export function clientAddress<E extends AppEnv>(context: Context<E>, trust: Trust): string {
  const named = trust.clientAddressHeader === null ? undefined : context.req.header(trust.clientAddressHeader);
  const fromProxy = named?.split(',').at(-1)?.trim();
  const address = fromProxy || context.env?.incoming?.socket.remoteAddress || 'unknown';
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/** One customer of an IPv6 network holds a whole /64, so single addresses would be no limit at all. */
export function networkPrefix(ip: string): string {
  if (!ip.includes(':')) return ip.slice(0, 64);
  const [head = '', tail] = ip.split('%')[0]!.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':').slice(0, 64);
}
