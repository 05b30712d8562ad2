/** Where a link in a mail may lead: nowhere that the operator has not allowed (wire-contract 0.6). */
import type { Context } from 'hono';
import { isLoopback } from '#server/loopback.ts';
import type { AuthDeps } from '../auth-deps.ts';

/** The first allowed one of what the request names, else our own address. A refused one is passed over in silence. */
export function redirectTarget(context: Context, config: AuthDeps['config']): string {
  const named = [context.req.header('redirect_to'), context.req.query('redirect_to'), context.req.header('referer')];
  return named.find((target) => target !== undefined && isAllowed(target, config)) ?? config.publicUrl;
}

export const leadsHome = (target: string, { publicUrl }: Pick<AuthDeps['config'], 'publicUrl'>): boolean =>
  new URL(target).origin === new URL(publicUrl).origin;

function isAllowed(target: string, { publicUrl, auth }: AuthDeps['config']): boolean {
  const url = URL.parse(target);
  // Control characters are dropped by the parser, and the target is written into a Location header as it came.
  if (url === null || /[^\x21-\x7e]/.test(target) || url.username !== '' || url.password !== '') return false;
  // Threat: a host in disguise (decimal, hexadecimal, full-width); the parser has rewritten it by now.
  if (!target.toLowerCase().startsWith(`${url.protocol}//${url.host}`)) return false;
  const home = new URL(publicUrl);
  if (url.protocol === home.protocol && url.hostname === home.hostname) {
    if (url.port === home.port || isLoopback(url.hostname)) return true;
  }
  if (/^127(\.\d+){3}$|^\[::1\]$/.test(url.hostname) && /^https?:$/.test(url.protocol)) return true;
  if (/^[\d.]+$|^\[/.test(url.hostname)) return false;
  const withoutFragment = target.replace(/#.*$/s, '');
  return auth.redirectAllowList.some((pattern) => globExpression(pattern).test(withoutFragment));
}

/** `*` stands for anything but a separator (`.` and `/`), `**` for anything, `?` for one character. */
function globExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|[*?]|[^*?]+/g, (part) => {
    if (part === '**') return '.*';
    if (part === '*') return '[^./]*';
    if (part === '?') return '[^./]';
    return part.replace(/[^\w]/g, '\\$&');
  });
  return new RegExp(`^${source}$`);
}
