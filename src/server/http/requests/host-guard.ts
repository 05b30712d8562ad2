/**
 * Rejects unknown `Host` names while the sandbox is on.
 *
 * Threat: DNS rebinding. A malicious page points its own host name at 127.0.0.1 and reads the sandbox's mail as "same
 * origin"; its requests still carry its own name in `Host`.
 */
import type { MiddlewareHandler } from 'hono';
import { isLoopback } from '#server/config/loopback.ts';
import type { Config } from '#server/config/config.ts';
import type { AppEnv } from '../app-env.ts';
import { errorResponse } from '../error-response.ts';

export function hostGuard(config: Pick<Config, 'publicUrl'>): MiddlewareHandler<AppEnv> {
  const publicHost = new URL(config.publicUrl).hostname;
  return (context, next) => {
    const host = context.req.header('host') ?? '';
    const name = host.replace(/:\d+$/, '').toLowerCase();
    if (isLoopback(name) || name === publicHost) return next();
    return Promise.resolve(errorResponse(context, 'misdirected_request'));
  };
}
