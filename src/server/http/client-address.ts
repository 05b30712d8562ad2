/**
 * The client's network address, such as for rate limits, fair queues, sessions and the access to `/metrics`.
 *
 * Threat: a client can forge headers. A header is trusted only if CLIENT_ADDRESS_HEADER names it, and then only its
 * last entry, which the operator's proxy appended.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { AppEnv } from './app-env.ts';

type Trust = { readonly clientAddressHeader: string | null };

/** Returns `unknown` without a socket, and an IPv4-mapped IPv6 address as IPv4. */
export const clientAddress = <E extends AppEnv>(context: Context<E>, trust: Trust): string =>
  toAddress(
    trust.clientAddressHeader === null ? undefined : context.req.header(trust.clientAddressHeader),
    context.env?.incoming?.socket.remoteAddress,
  );

/** As `clientAddress`, for a request that has not reached the app yet. */
export function addressOf({ headers, socket }: IncomingMessage, { clientAddressHeader }: Trust): string {
  const header = clientAddressHeader === null ? undefined : headers[clientAddressHeader.toLowerCase()];
  return toAddress(typeof header === 'string' ? header : undefined, socket.remoteAddress);
}

/**
 * An address in brackets or with a port, as some proxies send it (Azure, IIS). Threat: with the port, each connection
 * would be a client of its own, without a limit.
 */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d+)?$/;

function toAddress(header: string | undefined, remoteAddress: string | undefined): string {
  const sent = header?.split(',').at(-1)?.trim() || remoteAddress || 'unknown';
  const [, ipv6, ipv4] = WITH_PORT.exec(sent) ?? [];
  const address = ipv6 ?? ipv4 ?? sent;
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/**
 * Returns the /64 prefix of an IPv6 address: one client may hold a whole /64, so limits per address would have no
 * effect. Returns an IPv4 address unchanged.
 */
export function networkPrefix(ip: string): string {
  if (!ip.includes(':')) return ip.slice(0, 64);
  const [head = '', tail] = ip.split('%')[0]!.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':').slice(0, 64);
}
