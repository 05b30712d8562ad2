/** Logs one line per request with the route's pattern. Threat: URLs can contain tokens, so they are never logged. */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from '#server/log.ts';
import type { AppEnv } from '../app-env.ts';
import type { Metrics } from '../metrics.ts';

/** Probes, scrapes and the files of pages are most of the requests. Logged at debug level to keep the log readable. */
const DEBUG_ROUTES = new Set(['/healthz', '/readyz', '/metrics', '/assets/*']);

export function requestLog({ log, metrics }: { log: Logger; metrics: Metrics }): MiddlewareHandler<AppEnv> {
  // All fields are listed below and none is private, so redaction is switched off to save time per request.
  const lines = log.child({}, { redact: [] });
  return async (context, next) => {
    const startedAt = performance.now();
    await next();
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const route = context.get('route') ?? routePath(context);
    const { method } = context.req;
    const { status } = context.res;
    metrics.observe({ method, route, status, ms });
    const level = logLevel(status, route);
    const userId = context.get('userId');
    const traceId = context.get('traceId');
    lines[level](
      { method, route, status, ms, ...(userId !== undefined && { userId }), ...(traceId !== undefined && { traceId }) },
      'request',
    );
  };
}

/** Only a 500 needs a human: a 502 means an unreachable simulator, a 503 overload or another temporary failure. */
function logLevel(status: number, route: string): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 500) return 'error';
  if (status > 500) return 'warn';
  return DEBUG_ROUTES.has(route) ? 'debug' : 'info';
}
