/**
 * The patterns of AUTH_REDIRECT_URLS, matched by component against a parsed URL (docs/specification/api.md 6).
 *
 * Threat: matching a pattern against the whole text fails where a browser parses the text differently:
 * `http://localhost:3000@evil.example` begins like a local address, and `https://good.example.evil.example` like a
 * listed one. Here a host pattern is compared with the whole parsed host, and its `*` stops where a label ends.
 */
import { isIP } from 'node:net';
import { isLoopback } from './private-network.ts';

export type RedirectPattern = {
  /** With its colon, as `URL.protocol` has it. */
  readonly protocol: string;
  readonly host: RegExp;
  /** Empty: the protocol's default port. `*`: any port. */
  readonly port: string;
  /** Matches path and query. */
  readonly path: RegExp;
};

const PATTERN = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#:[\]\\@\s]*|\[[0-9a-f:]+\])(?::(\d{1,5}|\*))?(\/[^#\\\s]*)?$/i;
/** Host labels with `*` for a part of a label. `**` stands for whole labels, and may only begin the host. */
const HOST_PATTERN = /^(?:\*\*(?:\.|$))?(?:[a-z0-9*_-]+(?:\.[a-z0-9*_-]+)*)?$/i;
/** URLs with these schemes can run as script or show attacker-controlled content. */
const DANGEROUS_PROTOCOLS = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']);

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Null when the pattern is invalid. */
export function parseRedirectPattern(text: string): RedirectPattern | null {
  const [, scheme = '', host = '', port = '', path = ''] = PATTERN.exec(text) ?? [];
  const protocol = scheme.toLowerCase();
  if (protocol === '' || DANGEROUS_PROTOCOLS.has(protocol)) return null;
  const needsHost = isWebProtocol({ protocol });
  if (needsHost && host === '') return null;
  const isAddress = host.startsWith('[') || isIP(host) !== 0;
  if (isAddress && !isLoopback(host)) return null;
  if (!isAddress && (!HOST_PATTERN.test(host) || host.replace(/^\*\*/, '').includes('**'))) return null;
  return {
    protocol,
    host: hostExpression(host.toLowerCase()),
    port: port === DEFAULT_PORTS[protocol] ? '' : port,
    path: pathExpression(path === '' && needsHost ? '/' : path),
  };
}

export const matchesPattern = (url: URL, pattern: RedirectPattern): boolean =>
  matchesHost(url, pattern) && pattern.path.test(url.pathname + url.search);

export const isWebProtocol = ({ protocol }: Pick<RedirectPattern, 'protocol'>): boolean =>
  Object.hasOwn(DEFAULT_PORTS, protocol);

/** Whether scheme, host and port of the URL match the pattern. */
export const matchesHost = (url: URL, { protocol, host, port }: RedirectPattern): boolean =>
  url.protocol === protocol && host.test(url.hostname) && (port === '*' || url.port === port);

/** Matches case-insensitively. `*` stands for a part of a label, `**` for one or more labels. */
function hostExpression(pattern: string): RegExp {
  const label = '[a-z0-9_-]';
  const source = pattern
    .replace(/[^\w*-]/g, '\\$&')
    .replaceAll('**', `${label}+(?:\\.${label}+)@`)
    .replaceAll('*', `${label}*`)
    .replaceAll('@', '*');
  return new RegExp(`^${source}$`, 'i');
}

/** `*` stands for any characters except separators (`.` and `/`), `?` for one such character, `**` for anything. */
function pathExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|[*?]|[^*?]+/g, (part) => {
    if (part === '**') return '.*';
    if (part === '*') return '[^./]*';
    if (part === '?') return '[^./]';
    return part.replace(/[^\w]/g, '\\$&');
  });
  return new RegExp(`^${source}$`);
}
