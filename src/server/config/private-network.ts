/** Tells whether a host is on a private network, by its address or the form of its name. */
import { BlockList, isIP } from 'node:net';

/** The ranges of RFC 1918 (private), 6598 (carrier NAT and VPNs), 4193 (unique local), 3927 and 4291 (link-local). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);
PRIVATE.addSubnet('100.64.0.0', 10);
PRIVATE.addSubnet('169.254.0.0', 16);
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

/** Names for private networks: without a dot, or under a suffix that is used for local names only. */
const PRIVATE_NAME = /^[^.]+$|\.(?:local|localhost|internal|lan|home\.arpa)$/;

/** @param host in the format of `URL.hostname`: lower case, with an IPv6 address in brackets */
export function isPrivateNetworkHost(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  if (family === 0) return PRIVATE_NAME.test(host);
  return isLoopback(host) || PRIVATE.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether a host name or address is reachable only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Threat: the server at a provider's address decides who signs in, and somebody in the network can answer in its place
 * over plain http. So http is accepted only on loopback during development, and loopback never in production.
 */
export const isTrustworthyProviderUrl = (url: URL, production: boolean): boolean =>
  url.protocol === 'https:'
    ? !(production && isLoopback(url.hostname))
    : url.protocol === 'http:' && !production && isLoopback(url.hostname);
