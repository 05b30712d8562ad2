/**
 * The client's network address, for rate limits, sessions and the access to `/metrics`.
 *
 * Threat: a client can forge headers. A header is trusted only if CLIENT_ADDRESS_HEADER names it, and then only its
 * last entry, which the operator's proxy appended.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';

type Trust = { readonly clientAddressHeader: string | null };

/** Returns `unknown` without a socket, and an IPv4-mapped IPv6 address as IPv4. */
export function clientAddress<E extends AppEnv>(context: Context<E>, trust: Trust): string {
  const header = trust.clientAddressHeader === null ? undefined : context.req.header(trust.clientAddressHeader);
  const fromProxy = header?.split(',').at(-1)?.trim();
  const address = fromProxy || context.env?.incoming?.socket.remoteAddress || 'unknown';
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/**
 * Returns the /64 prefix of an IPv6 address: one client holds a whole /64, so limits per address would have no effect.
 * Returns an IPv4 address unchanged.
 */
export function networkPrefix(ip: string): string {
  if (!ip.includes(':')) return ip.slice(0, 64);
  const [head = '', tail] = ip.split('%')[0]!.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':').slice(0, 64);
}
