/** One line for each request: the route's pattern, never the address asked for, because that may hold a token. */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from '#server/log.ts';
import type { AppEnv } from '../app-env.ts';
import type { Metrics } from '../metrics.ts';

/** Asked for every few seconds by machines; a line for each would bury the rest. */
const DEBUG_ROUTES = new Set(['/healthz', '/readyz', '/metrics', '/assets/*']);

export function requestLog({ log, metrics }: { log: Logger; metrics: Metrics }): MiddlewareHandler<AppEnv> {
  // Every field of the line is known below and none is private, so there is nothing for each request to search through.
  const lines = log.child({}, { redact: [] });
  return async (context, next) => {
    const startedAt = performance.now();
    await next();
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const route = routePath(context);
    const { method } = context.req;
    const { status } = context.res;
    metrics.observe({ method, route, status, ms });
    const level = logLevel(status, route);
    const userId = context.get('userId');
    lines[level]({ method, route, status, ms, ...(userId !== undefined && { userId }) }, 'request');
  };
}

/** An error is for a human to act on; 502 and 503 say that we are busy or a stand-in is away. */
function logLevel(status: number, route: string): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 500) return 'error';
  if (status > 500) return 'warn';
  return DEBUG_ROUTES.has(route) ? 'debug' : 'info';
}
